// Flow of a gas around a body: Euler's equations on a mesh of elements with four faces each. Our own.
// Five variables per element: density, three of momentum, energy; variable v of element i is at v * n + i.
#pragma OPENCL FP_CONTRACT OFF
#define GAMMA 1.4f
#define FACES 4

__kernel void cfd_initialise(__global float *variables, __global const float *far, int n) {
    int i = get_global_id(0);
    if (i < n)
        for (int v = 0; v < 5; v++)
            variables[v * n + i] = far[v];
}

// How far an element may go in this step.
__kernel void cfd_step_factor(__global const float *variables, __global const float *areas, __global float *factors, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    float density = variables[i];
    float3 velocity = (float3)(variables[n + i], variables[2 * n + i], variables[3 * n + i]) / density;
    float speed2 = velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z;
    float pressure = (GAMMA - 1.0f) * (variables[4 * n + i] - 0.5f * density * speed2);
    float sound = sqrt(GAMMA * pressure / density);
    factors[i] = 0.5f / (sqrt(areas[i]) * (sqrt(speed2) + sound));
}

struct State {
    float density, energy, pressure, speed;
    float3 momentum, velocity;
};

__attribute__((always_inline)) struct State state(__global const float *variables, int n, int i) {
    struct State s;
    s.density = variables[i];
    s.momentum = (float3)(variables[n + i], variables[2 * n + i], variables[3 * n + i]);
    s.energy = variables[4 * n + i];
    s.velocity = s.momentum / s.density;
    float speed2 = s.velocity.x * s.velocity.x + s.velocity.y * s.velocity.y + s.velocity.z * s.velocity.z;
    s.speed = sqrt(speed2);
    s.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * speed2);
    return s;
}

// What flows through the four faces: to another element, into the body (-1), or far away (-2).
__kernel void cfd_flux(__global const int *neighbours, __global const float *normals, __global const float *variables,
                       __global const float *far, __global float *fluxes, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    struct State here = state(variables, n, i);
    float flux[5] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float sound = sqrt(GAMMA * here.pressure / here.density);
#pragma unroll 1
    for (int f = 0; f < FACES; f++) {
        int to = neighbours[f * n + i];
        float3 normal = (float3)(normals[(f * 3) * n + i], normals[(f * 3 + 1) * n + i], normals[(f * 3 + 2) * n + i]);
        float area = sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
        if (to >= 0) { // split
            struct State there = state(variables, n, to);
            float their_sound = sqrt(GAMMA * there.pressure / there.density);
            // Artificial viscosity keeps the solution smooth.
            float factor = -area * 0.2f * 0.5f * (here.speed + sqrt(there.speed * there.speed) + sound + their_sound);
            flux[0] += factor * (here.density - there.density);
            flux[1] += factor * (here.momentum.x - there.momentum.x);
            flux[2] += factor * (here.momentum.y - there.momentum.y);
            flux[3] += factor * (here.momentum.z - there.momentum.z);
            flux[4] += factor * (here.energy - there.energy);
            float3 m = here.momentum + there.momentum;
            float out = 0.5f * (normal.x * m.x + normal.y * m.y + normal.z * m.z);
            float p = 0.5f * (here.pressure + there.pressure);
            float3 u = 0.5f * (here.velocity + there.velocity);
            float e = 0.5f * (here.energy + there.energy + here.pressure + there.pressure);
            float through = normal.x * u.x + normal.y * u.y + normal.z * u.z;
            flux[0] += out;
            flux[1] += out * u.x + p * normal.x;
            flux[2] += out * u.y + p * normal.y;
            flux[3] += out * u.z + p * normal.z;
            flux[4] += e * through;
        } else if (to == -1) {
            flux[1] += normal.x * here.pressure;
            flux[2] += normal.y * here.pressure;
            flux[3] += normal.z * here.pressure;
        } else if (to == -2) {
            float3 m = here.momentum + (float3)(far[1], far[2], far[3]);
            float out = 0.5f * (normal.x * m.x + normal.y * m.y + normal.z * m.z);
            float p = 0.5f * (here.pressure + far[5]);
            flux[0] += out;
            flux[1] += out * here.velocity.x + p * normal.x;
            flux[2] += out * here.velocity.y + p * normal.y;
            flux[3] += out * here.velocity.z + p * normal.z;
            flux[4] += out * (here.energy + here.pressure) / here.density;
        }
    }
    for (int v = 0; v < 5; v++)
        fluxes[v * n + i] = flux[v];
}

// One stage of a Runge-Kutta step.
__kernel void cfd_time_step(__global const float *old, __global float *variables, __global const float *factors,
                            __global const float *fluxes, int stage, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    float factor = factors[i] / (float)(4 - stage);
    for (int v = 0; v < 5; v++)
        variables[v * n + i] = old[v * n + i] - factor * fluxes[v * n + i];
}

__kernel void cfd_copy(__global const float *from, __global float *to, int count) {
    int i = get_global_id(0);
    if (i < count)
        to[i] = from[i];
}
