// A heart muscle cell: currents through its membrane and calcium-binding proteins in three compartments, solved by
// Runge-Kutta-Fehlberg with a step that adapts; a work-item for each cell. Our own, with fewer equations than the original.
#pragma OPENCL FP_CONTRACT OFF
#define ASSUME(x) __builtin_assume(x) // the host sees to it
#define MEMBRANE 6
#define BINDING 4
#define STATES (MEMBRANE + 3 * BINDING)

__attribute__((always_inline)) float rate(float v, float scale, float middle, float width) {
    return scale / (1.0f + exp((middle - v) / width));
}

// The membrane: voltage, four gates, calcium.
__attribute__((always_inline)) void membrane(const float *y, float *d, float stimulus) {
    float v = y[0];
    float alpha_h, beta_h;
    if (v >= -40.0f) { // split
        alpha_h = 0.0f;
        beta_h = 1.0f / (0.13f * (1.0f + exp((v + 10.66f) / -11.1f)));
    } else {
        alpha_h = 0.135f * exp((80.0f + v) / -6.8f);
        beta_h = 3.56f * exp(0.079f * v) + 3.1f * exp(0.035f * v);
    }
    float alpha_m = rate(v, 3.2f, -45.0f, 6.0f), beta_m = 0.08f * exp(-v / 22.0f);
    float alpha_n = rate(v, 0.05f, -20.0f, 15.0f), beta_n = rate(-v, 0.04f, 20.0f, 15.0f);
    float sodium = 4.0f * y[1] * y[1] * y[1] * y[2] * (v - 50.0f);
    float calcium = 0.3f * y[4] * (v - 60.0f);
    float potassium = 0.5f * y[3] * (v + 85.0f);
    float leak = 0.05f * (v + 80.0f);
    d[0] = stimulus - sodium - calcium - potassium - leak;
    d[1] = alpha_m * (1.0f - y[1]) - beta_m * y[1];
    d[2] = alpha_h * (1.0f - y[2]) - beta_h * y[2];
    d[3] = alpha_n * (1.0f - y[3]) - beta_n * y[3];
    d[4] = rate(v, 0.06f, -15.0f, 7.0f) * (1.0f - y[4]) - 0.05f * y[4];
    d[5] = -0.002f * calcium - 0.1f * (y[5] - 0.1f);
}

// Calmodulin, calcineurin and their complexes in one compartment.
__attribute__((always_inline)) void binding(const float *y, float *d, float calcium, float speed) {
    float two = speed * calcium * calcium * y[0] - 0.6f * y[1];
    float four = 0.5f * speed * calcium * calcium * y[1] - 0.2f * y[2];
    float bound = 0.3f * y[2] * (1.0f - y[3]) - 0.05f * y[3];
    d[0] = -two;
    d[1] = two - four;
    d[2] = four - 0.1f * bound;
    d[3] = bound;
}

__attribute__((always_inline)) void derivatives(float time, const float *y, float *d, float strength) {
    float stimulus = 0.0f;
    if (time < 1.0f)
        stimulus = strength;
    membrane(y, d, stimulus);
    binding(y + MEMBRANE, d + MEMBRANE, y[5], 1.0f);
    binding(y + MEMBRANE + BINDING, d + MEMBRANE + BINDING, 0.5f * y[5], 0.7f);
    binding(y + MEMBRANE + 2 * BINDING, d + MEMBRANE + 2 * BINDING, 0.2f * y[5], 0.4f);
}

// Fehlberg's coefficients: where each stage stands, how it mixes the slopes before it, the result and its error.
__constant float WHEN[6] = {0.0f, 0.25f, 0.375f, 0.9230769f, 1.0f, 0.5f};
__constant float MIX[36] = {
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.09375f, 0.28125f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.87938097f, -3.2771962f, 3.3208921f, 0.0f, 0.0f, 0.0f,
    2.0324074f, -8.0f, 7.1734892f, -0.20589669f, 0.0f, 0.0f,
    -0.2962963f, 2.0f, -1.3816764f, 0.45297271f, -0.275f, 0.0f,
};
__constant float RESULT[6] = {0.11574074f, 0.0f, 0.54892788f, 0.5353314f, -0.2f, 0.0f};
__constant float ERROR[6] = {0.0027777778f, 0.0f, -0.029941521f, -0.029199894f, 0.02f, 0.036363636f};

// Each cell from time 0 to `end`; a step that errs too much is tried again with half of it. Slope s of state i of a cell is at
// slopes[(s * STATES + i) * cells + cell].
__kernel void myocyte(__global const float *start, __global const float *strengths, __global float *slopes,
                      __global float *result, int cells, float end, float tolerance, int most) {
    int cell = get_global_id(0);
    if (cell >= cells)
        return;
    float y[STATES], at[STATES], d[STATES];
    float strength = strengths[cell];
#pragma unroll
    for (int i = 0; i < STATES; i++)
        y[i] = start[cell * STATES + i];
    ASSUME(end > 0.0f && most > 0);
    float time = 0.0f, h = 0.02f;
    int tried = 0;
#pragma unroll 1
    while (time < end && tried < most) { // loop: steps
        // No step goes past the end of the stimulus or of the time.
        float stop = time < 1.0f ? fmin(1.0f, end) : end;
        if (time + h > stop)
            h = stop - time;
#pragma unroll 1
        for (int s = 0; s < 6; s++) {
#pragma unroll
            for (int i = 0; i < STATES; i++)
                at[i] = 0.0f;
#pragma unroll 1
            for (int j = 0; j < s; j++) {
#pragma unroll
                for (int i = 0; i < STATES; i++)
                    at[i] += MIX[s * 6 + j] * slopes[(j * STATES + i) * cells + cell];
            }
#pragma unroll
            for (int i = 0; i < STATES; i++)
                at[i] = y[i] + h * at[i];
            derivatives(time + WHEN[s] * h, at, d, strength);
#pragma unroll
            for (int i = 0; i < STATES; i++)
                slopes[(s * STATES + i) * cells + cell] = d[i];
        }
#pragma unroll
        for (int i = 0; i < STATES; i++) {
            at[i] = 0.0f;
            d[i] = 0.0f;
        }
#pragma unroll 1
        for (int j = 0; j < 6; j++) {
#pragma unroll
            for (int i = 0; i < STATES; i++) {
                float slope = slopes[(j * STATES + i) * cells + cell];
                at[i] += RESULT[j] * slope;
                d[i] += ERROR[j] * slope;
            }
        }
        float error = 0.0f;
#pragma unroll
        for (int i = 0; i < STATES; i++)
            error = fmax(error, h * fabs(d[i]) / (fabs(y[i]) + 1.0f));
        tried++;
        if (error > tolerance && h > 0.001f) { // split
            h = 0.5f * h;
        } else {
            time = time + h >= stop ? stop : time + h;
#pragma unroll
            for (int i = 0; i < STATES; i++)
                y[i] += h * at[i];
            if (error < 0.1f * tolerance)
                h = fmin(1.5f * h, 0.2f);
        }
    }
#pragma unroll
    for (int i = 0; i < STATES; i++)
        result[cell * STATES + i] = y[i];
}
