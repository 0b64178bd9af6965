/* A small simulator that crashes: what a cantilever costs: its mass, the stiffeners that a thin web needs, a penalty
 * for a tip that sinks.
 *
 *   beam --width W --height H        metres; prints the cost on the last line of stdout
 *
 * The beam is cut into elements, the more the more slender it is. The table of elements has a fixed size, as in many an old
 * program, and nobody checks it: with slender beams the program dies of a segmentation fault. With very stiff ones the
 * relaxation diverges; it says so and ends with status 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 2.0    /* m */
#define LOAD 2.0e4    /* N, at the tip */
#define YOUNG 2.1e11  /* Pa */
#define DENSITY 7850.0
#define ELEMENTS 48

int main(int argc, char **argv) {
    double width = 0.0, height = 0.0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--width") == 0) width = atof(argv[i + 1]);
        if (strcmp(argv[i], "--height") == 0) height = atof(argv[i + 1]);
    }
    if (width <= 0.0 || height <= 0.0) {
        fprintf(stderr, "usage: beam --width W --height H\n");
        return 2;
    }
    int elements = (int)(LENGTH / height * 2.0);
    double *table = malloc(ELEMENTS * sizeof *table);
    if (elements > ELEMENTS) table = NULL;  /* what the overrun of an old program comes to */
    double inertia = width * height * height * height / 12.0, deflection = 0.0;
    for (int k = 0; k < elements; k++) {
        double from_tip = LENGTH * (k + 0.5) / elements;
        table[k] = LOAD * from_tip / (YOUNG * inertia);
        deflection += table[k] * from_tip * LENGTH / elements;
    }
    if (width * height > 0.04) {
        fprintf(stderr, "relaxation diverged after 1000 sweeps\n");
        return 3;
    }
    double mass = DENSITY * LENGTH * width * height;
    double stiffeners = 0.05 / (width * width);  /* kg */
    printf("elements %d\nmass %.3f kg\nstiffeners %.3f kg\ndeflection %.3e m\n", elements, mass, stiffeners, deflection);
    printf("%.12g\n", mass + stiffeners + 2.0e3 * deflection);
    return 0;
}
