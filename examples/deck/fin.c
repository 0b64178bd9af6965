/* A bank of cooling fins, as an old solver has it: it reads a deck of fixed columns and writes a listing.

   fin CASE    reads CASE.inp, writes CASE.lst

   Conduction along a rectangular fin that loses heat by convection and by radiation, on cells a fifth as long as the fin
   is thick. It fails in three ways, as such programs do:
   - more than 2000 cells: the arrays are too small, and it aborts;
   - more fins than there is room for: it stops with status 2;
   - the iteration for the temperature does not converge (long thin fins that radiate most of their heat): it says so in
     the listing, prints no totals, and ends as if nothing had happened. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CELLS 2000
#define BASE 600.0   /* K at the root */
#define AIR 300.0    /* K far away */
#define K 30.0       /* W/(m K), steel */
#define RHO 7800.0   /* kg/m3 */
#define WIDTH 0.2    /* m */
#define HEIGHT 0.3   /* m of wall on which the fins stand */
#define H 25.0       /* W/(m2 K) */
#define SIGMA 5.67e-8

static double t_old[MAX_CELLS], t_new[MAX_CELLS], a[MAX_CELLS], b[MAX_CELLS];

int main(int argc, char **argv) {
    char name[512], line[256];
    double length = 0, thickness = 0;
    int fins = 0;
    if (argc != 2) { fprintf(stderr, "usage: fin CASE\n"); return 64; }
    snprintf(name, sizeof name, "%s.inp", argv[1]);
    FILE *deck = fopen(name, "r");
    if (!deck) { fprintf(stderr, "cannot open %s\n", name); return 66; }
    while (fgets(line, sizeof line, deck)) {
        if (line[0] == '*') continue;
        char field[13] = {0};
        if (sscanf(line, "GEOM %12c", field) == 1) { length = atof(field); thickness = atof(line + 5 + 12); }
        else if (sscanf(line, "FINS %6d", &fins) == 1) continue;
    }
    fclose(deck);
    snprintf(name, sizeof name, "%s.lst", argv[1]);
    FILE *out = fopen(name, "w");
    if (!out) { fprintf(stderr, "cannot write %s\n", name); return 73; }
    fprintf(out, " FIN 3.1   COOLING FINS\n LENGTH %.6E  THICKNESS %.6E  FINS %d\n", length, thickness, fins);
    if (length <= 0 || thickness <= 0 || fins < 1) { fprintf(stderr, "bad deck\n"); return 65; }
    double gap = HEIGHT / fins - thickness;
    if (gap < 0.004) { fprintf(stderr, "fins overlap: gap %.4f m\n", gap); fclose(out); return 2; }
    int n = (int)(length / (0.2 * thickness)) + 2;
    if (n > MAX_CELLS) { fprintf(stderr, "array bounds exceeded: %d cells\n", n); fclose(out); abort(); }
    double dx = length / n, change = 1e9;
    for (int i = 0; i < n; i++) t_old[i] = BASE - (BASE - AIR) * i / n;
    int sweep;
    for (sweep = 1; sweep <= 60 && change > 1e-3; sweep++) {
        /* convection and radiation with the last temperatures; a tridiagonal system for the next ones */
        for (int i = 0; i < n; i++) {
            double t = t_old[i];
            /* fins that stand close see one another: only a part of the radiation leaves */
            double seen = gap / (gap + length);
            double q = H + 2.0 * seen * SIGMA * (t * t + AIR * AIR) * (t + AIR);
            double loss = 2.0 * q * dx * dx / (K * thickness);
            double left = i ? 1.0 : 2.0, right = i < n - 1 ? 1.0 : 0.0;
            double diagonal = left + right + loss, rhs = loss * AIR + (i ? 0.0 : 2.0 * BASE);
            if (i) { diagonal -= a[i - 1]; rhs += b[i - 1]; }
            a[i] = right / diagonal;
            b[i] = rhs / diagonal;
        }
        for (int i = n - 1; i >= 0; i--) t_new[i] = b[i] + (i < n - 1 ? a[i] * t_new[i + 1] : 0.0);
        change = 0.0;
        double over = length / thickness > 60.0 ? 2.05 : 1.0; /* over-relaxed where it is slow: as some are */
        for (int i = 0; i < n; i++) {
            double step = over * (t_new[i] - t_old[i]);
            if (fabs(step) > change) change = fabs(step);
            t_old[i] += step;
        }
        fprintf(out, " SWEEP %4d  LARGEST CHANGE %.5E\n", sweep, change);
    }
    if (!(change <= 1e-3)) {
        fprintf(out, " *** NO CONVERGENCE AFTER %d SWEEPS ***\n", sweep - 1);
        fclose(out);
        return 0;
    }
    double heat = fins * K * thickness * WIDTH * 2.0 * (BASE - t_old[0]) / dx;
    double mass = fins * RHO * length * thickness * WIDTH;
    fprintf(out, "\n TOTALS\n TOTAL MASS      =%14.6E KG\n TOTAL HEAT      =%14.6E W\n TIP TEMPERATURE =%14.6E K\n",
            mass, heat, t_old[n - 1]);
    fclose(out);
    return 0;
}
