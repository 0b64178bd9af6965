// The Nelder-Mead search of paper_search.py on a GPU: one thread block carries one simplex from its start to its end.
//
// Why      A simplex takes tens to thousands of moves, each a chain of tiny array operations: in lock-step the launches
//          cost a hundred times the arithmetic. Here a study's search is one launch per step.
// What     The moves, limits and tie rules of numerics/nelder_mead.py, the raw policies of acquisition/ and the moments of
//          gp/posterior.py; tests compile this file for the host and compare. Only rounding differs.
// Layout   X is scaled by 1/ell. L_inv_t is L^-T, so that thread i reads row i of L^-1 with coalesced loads.
// One move evaluates its four possible trial points in one pass over L^-1: the pass is bound by memory, not arithmetic.

#define MAX_D 16
#define TRIALS 4

enum Kernel { SE = 0, MATERN52 = 1 };
enum Policy { MN = 0, LCB = 1, PI = 2, EI = 3, SCALED_EI = 4, MES = 5 };

#define INV_SQRT_2PI 0.39894228040143267794
#define LOG_SQRT_2PI 0.91893853320467274178
#define MIN_VARIANCE 1e-15
#define INF (1.0 / 0.0)  // no headers here

__device__ double pdf(double u) { return INV_SQRT_2PI * exp(-0.5 * u * u); }

// rho_0 = Phi/phi, rho_1 = A/Phi, rho_2 = B/(2A) at u = -t, t >= 6; see numerics/normal.py
__device__ void tail_ratios(double t, double* rho_0, double* rho_1, double* rho_2) {
    double rho = 2.0 / (t + sqrt(t * t + 68.0));
    for (int n = 15; n > 2; n--) rho = 1.0 / (t + (n + 1) * rho);
    *rho_2 = 1.0 / (t + 3.0 * rho);
    *rho_1 = 1.0 / (t + 2.0 * *rho_2);
    *rho_0 = 1.0 / (t + *rho_1);
}

__device__ double scaled_ei(double u) {
    if (u < -6.0) {
        double r0, r1, r2;
        tail_ratios(-u, &r0, &r1, &r2);
        double log_A = log(r0 * r1) - 0.5 * u * u - LOG_SQRT_2PI;
        return exp(0.5 * (log_A - log(2.0 * r2 - exp(log_A))));
    }
    double t = fabs(u), phi = pdf(u), Q = normcdf(-t);
    double a = phi - t * Q, b = (t * t + 1.0) * Q - t * phi;
    return u > 0.0 ? (t + a) / sqrt(1.0 - b - 2.0 * t * a - a * a) : a / sqrt(b - a * a);
}

__device__ double ei(double u, double sd) {
    if (u < -6.0) {
        double r0, r1, r2;
        tail_ratios(-u, &r0, &r1, &r2);
        return exp(log(r0 * r1) - 0.5 * u * u - LOG_SQRT_2PI + log(sd));
    }
    return sd * (u * normcdf(u) + pdf(u));
}

__device__ double entropy_gain(double g) {  // h(gamma) of acquisition/entropy.py
    double r0, r1, r2;
    if (g > 6.0) {
        tail_ratios(g, &r0, &r1, &r2);
        return pdf(g) * (0.5 * g + r0);
    }
    if (g < -6.0) {
        tail_ratios(-g, &r0, &r1, &r2);
        return LOG_SQRT_2PI - log(r0) + 0.5 * g * r1;
    }
    double Phi = normcdf(g);
    return 0.5 * g * pdf(g) / Phi - log(Phi);
}

__device__ double correlation(double r2, int kernel) {
    if (kernel == SE) return exp(-0.5 * r2);
    double s = sqrt(5.0 * r2);
    return (1.0 + s + (5.0 / 3.0) * r2) * exp(-s);
}

struct Model {  // of this block's run
    const double *X, *inv_ell, *L_inv_t, *z;
    const double* parameters;  // of the policy: kappa (LCB), f_best (PI, EI, ScaledEI) or samples of the minimum (MES)
    double c, s2, zero;  // zero: the user's y = 0, from which the relative tolerance of MN and LCB counts
    int n, d, kernel, policy, n_parameters, walled;  // walled: outside the cube the value is infinite
};

// -policy at up to TRIALS points (in shared memory, TRIALS x MAX_D), into `value` (shared); called by the whole block.
__device__ void evaluate(const Model& m, const double* points, int n_points, double* value, double* shared) {
    const int tid = threadIdx.x, threads = blockDim.x;
    double *k = shared, *scratch = shared;  // the correlations, then the sums of the threads
    for (int j = tid; j < m.n; j += threads) {
        for (int p = 0; p < TRIALS; p++) {
            double r2 = 0.0;
            for (int i = 0; i < m.d; i++) {
                double diff = points[p * MAX_D + i] * m.inv_ell[i] - m.X[(long long)j * m.d + i];
                r2 += diff * diff;
            }
            k[p * m.n + j] = p < n_points ? correlation(r2, m.kernel) : 0.0;
        }
    }
    __syncthreads();
    double mean[TRIALS] = {0.0}, explained[TRIALS] = {0.0};
    for (int i = tid; i < m.n; i += threads) {
        double v[TRIALS] = {0.0};
        const double* column = m.L_inv_t + i;
#pragma unroll 8
        for (int j = 0; j <= i; j++) {
            double l = column[(long long)j * m.n];
            for (int p = 0; p < TRIALS; p++) v[p] += l * k[p * m.n + j];
        }
        for (int p = 0; p < TRIALS; p++) {
            mean[p] += m.z[i] * v[p];
            explained[p] += v[p] * v[p];
        }
    }
    __syncthreads();  // every thread has read k
    for (int p = 0; p < TRIALS; p++) {
        scratch[(2 * p) * threads + tid] = mean[p];
        scratch[(2 * p + 1) * threads + tid] = explained[p];
    }
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {  // a fixed tree: the same bits every time
        if (tid < half)
            for (int q = 0; q < 2 * TRIALS; q++) scratch[q * threads + tid] += scratch[q * threads + tid + half];
        __syncthreads();
    }
    double mu[TRIALS], sd[TRIALS];
    for (int p = 0; p < TRIALS; p++) {
        mu[p] = m.c + scratch[(2 * p) * threads];
        sd[p] = sqrt(m.s2 * fmax(1.0 - scratch[(2 * p + 1) * threads], MIN_VARIANCE));
    }
    __syncthreads();
    if (m.policy == MES) {
        for (int p = 0; p < TRIALS; p++) {
            double sum = 0.0;
            for (int s = tid; s < m.n_parameters; s += threads) sum += entropy_gain((mu[p] - m.parameters[s]) / sd[p]);
            scratch[p * threads + tid] = sum;
        }
        __syncthreads();
        for (int half = threads / 2; half > 0; half /= 2) {
            if (tid < half)
                for (int p = 0; p < TRIALS; p++) scratch[p * threads + tid] += scratch[p * threads + tid + half];
            __syncthreads();
        }
    }
    if (tid == 0) {
        for (int p = 0; p < n_points; p++) {
            double u = (m.parameters[0] - mu[p]) / sd[p], score;
            if (m.policy == MN) score = m.zero - mu[p];
            else if (m.policy == LCB) score = m.zero + m.parameters[0] * sd[p] - mu[p];
            else if (m.policy == PI) score = normcdf(u);
            else if (m.policy == EI) score = ei(u, sd[p]);
            else if (m.policy == SCALED_EI) score = scaled_ei(u);
            else score = scratch[p * threads] / m.n_parameters;
            bool outside = isnan(score);
            for (int i = 0; m.walled && i < m.d; i++) outside |= !(points[p * MAX_D + i] >= 0.0 && points[p * MAX_D + i] <= 1.0);
            value[p] = outside ? INF : -score;
        }
    }
    __syncthreads();
}

// Sorts the vertices by value, stably: `order` lists them best first. Thread 0 only.
__device__ void sort_vertices(const double* f, int* order, int count) {
    for (int i = 1; i < count; i++) {
        int vertex = order[i], j = i;
        for (; j > 0 && f[order[j - 1]] > f[vertex]; j--) order[j] = order[j - 1];
        order[j] = vertex;
    }
}

// One block per start; blockIdx.x = run * n_starts + start. Dynamic shared memory: TRIALS * max(n, 2 threads) doubles.
extern "C" __global__ void minimize_simplex(
    const double* X, const double* inv_ell, const double* L_inv_t, const double* z, const double* c, const double* s2,
    const double* parameters, const double* zero, const double* slack, const int* policies, const double* starts, const double* sides, double* x_out, double* f_out, int* n_moves,
    int n, int d, int n_starts, int kernel, int n_parameters, int max_moves, int walled,
    double f_tol, double x_tol) {
    extern __shared__ double dynamic[];
    __shared__ double simplex[(MAX_D + 1) * MAX_D], f[MAX_D + 1], trials[TRIALS * MAX_D], f_trial[TRIALS];
    __shared__ int order[MAX_D + 1], done, shrink;
    const int tid = threadIdx.x, run = blockIdx.x / n_starts;
    Model m = {X + (long long)run * n * d, inv_ell + run * d, L_inv_t + (long long)run * n * n, z + (long long)run * n,
               parameters + run * n_parameters, c[run], s2[run], zero[run], n, d, kernel, policies[run], n_parameters, walled};
    const double *x0 = starts + (long long)blockIdx.x * d, *side = sides + (long long)blockIdx.x * d;

    if (tid == 0) {
        for (int v = 0; v <= d; v++) {
            for (int i = 0; i < d; i++) simplex[v * MAX_D + i] = x0[i];
            if (v > 0) simplex[v * MAX_D + v - 1] += side[v - 1];
            order[v] = v;
        }
    }
    __syncthreads();
    for (int first = 0; first <= d; first += TRIALS) {
        int count = d + 1 - first < TRIALS ? d + 1 - first : TRIALS;
        for (int i = tid; i < count * MAX_D; i += blockDim.x) trials[i] = simplex[first * MAX_D + i];
        __syncthreads();
        evaluate(m, trials, count, f + first, dynamic);
    }
    int move = 0;
    for (; move < max_moves; move++) {
        if (tid == 0) {
            sort_vertices(f, order, d + 1);
            const int best = order[0], worst = order[d];
            double size = 0.0;
            for (int v = 1; v <= d; v++)
                for (int i = 0; i < d; i++)
                    size = fmax(size, fabs(simplex[order[v] * MAX_D + i] - simplex[best * MAX_D + i]));
            done = !isfinite(f[best]) || f[worst] - f[best] <= f_tol * fabs(f[best]) + slack[run] || size <= x_tol;
            const double factors[TRIALS] = {1.0, 2.0, 0.5, -0.5};  // reflect, expand, contract out, contract in
            for (int i = 0; i < d; i++) {
                double centre = 0.0;
                for (int v = 0; v < d; v++) centre += simplex[order[v] * MAX_D + i];
                centre /= d;
                for (int p = 0; p < TRIALS; p++) {
                    double at = centre + factors[p] * (centre - simplex[worst * MAX_D + i]);
                    trials[p * MAX_D + i] = walled ? at : fmin(fmax(at, 0.0), 1.0);
                }
            }
        }
        __syncthreads();
        if (done) break;
        evaluate(m, trials, TRIALS, f_trial, dynamic);
        if (tid == 0) {
            const int worst = order[d];
            const double f_r = f_trial[0], f_second = f[order[d - 1]];
            int choice = -1;
            if (f_r < f[order[0]] && f_trial[1] < f_r) choice = 1;
            else if (f_r < f_second) choice = 0;
            else if (f_r < f[worst] && f_trial[2] <= f_r) choice = 2;
            else if (f_r >= f[worst] && f_trial[3] < f[worst]) choice = 3;
            shrink = choice < 0;
            if (!shrink) {
                for (int i = 0; i < d; i++) simplex[worst * MAX_D + i] = trials[choice * MAX_D + i];
                f[worst] = f_trial[choice];
            }
        }
        __syncthreads();
        if (shrink) {
            for (int first = 1; first <= d; first += TRIALS) {
                int count = d + 1 - first < TRIALS ? d + 1 - first : TRIALS;
                if (tid == 0)
                    for (int p = 0; p < count; p++)
                        for (int i = 0; i < d; i++) {
                            double* at = simplex + order[first + p] * MAX_D + i;
                            *at = 0.5 * (*at + simplex[order[0] * MAX_D + i]);
                            trials[p * MAX_D + i] = *at;
                        }
                __syncthreads();
                evaluate(m, trials, count, f_trial, dynamic);
                if (tid == 0)
                    for (int p = 0; p < count; p++) f[order[first + p]] = f_trial[p];
                __syncthreads();
            }
        }
    }
    if (tid == 0) {
        int best = 0;
        for (int v = 1; v <= d; v++)
            if (f[v] < f[best]) best = v;
        for (int i = 0; i < d; i++) x_out[(long long)blockIdx.x * d + i] = simplex[best * MAX_D + i];
        f_out[blockIdx.x] = f[best];
        n_moves[blockIdx.x] = move;
    }
}
