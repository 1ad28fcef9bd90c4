// Heat in a chip: a tile with its surroundings in local memory goes several steps before it is written back, smaller at each
// step (a pyramid). Our own.
#pragma OPENCL FP_CONTRACT OFF
#define B 16
#define ASSUME(x) __builtin_assume(x) // the host sees to it
#define AMBIENT 80.0f

__kernel void hotspot(__global const float *power, __global const float *from, __global float *to, int columns, int rows,
                      int steps, int border, float per_cap, float rx, float ry, float rz) {
    __local float now[B][B], watt[B][B], next[B][B];
    int tx = get_local_id(0), ty = get_local_id(1);
    ASSUME(steps > 0);
    int small = B - steps * 2;
    int left = small * (int)get_group_id(0) - border, top = small * (int)get_group_id(1) - border;
    int x = left + tx, y = top + ty;
    int index = columns * y + x;
    if (y >= 0 && y < rows && x >= 0 && x < columns) {
        now[ty][tx] = from[index];
        watt[ty][tx] = power[index];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // The part of the tile that lies in the chip, and neighbours that stay in it.
    int low_x = left < 0 ? -left : 0, high_x = left + B - 1 > columns - 1 ? B - 1 - (left + B - columns) : B - 1;
    int low_y = top < 0 ? -top : 0, high_y = top + B - 1 > rows - 1 ? B - 1 - (top + B - rows) : B - 1;
    int north = max(ty - 1, low_y), south = min(ty + 1, high_y);
    int west = max(tx - 1, low_x), east = min(tx + 1, high_x);
    bool mine = false;
    for (int i = 0; i < steps; i++) {
        mine = false;
        if (tx >= i + 1 && tx <= B - 2 - i && ty >= i + 1 && ty <= B - 2 - i && tx >= low_x && tx <= high_x && // split
            ty >= low_y && ty <= high_y) {
            mine = true;
            float here = now[ty][tx];
            float vertical = (now[south][tx] + now[north][tx] - 2.0f * here) * ry;
            float horizontal = (now[ty][east] + now[ty][west] - 2.0f * here) * rx;
            next[ty][tx] = here + per_cap * (watt[ty][tx] + vertical + horizontal + (AMBIENT - here) * rz);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == steps - 1) // loop: steps
            break;
        if (mine) // split
            now[ty][tx] = next[ty][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine)
        to[index] = next[ty][tx];
}
