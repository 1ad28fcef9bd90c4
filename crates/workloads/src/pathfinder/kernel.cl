// Cheapest way down a grid of costs: a strip of columns goes several rows in local memory, narrower at each row. Our own.
#define B 256
#define ASSUME(x) __builtin_assume(x) // the host sees to it

__kernel void pathfinder(__global const int *costs, __global const int *from, __global int *to, int columns, int row,
                         int steps, int border) {
    __local int before[B], after[B];
    int t = get_local_id(0);
    ASSUME(steps > 0);
    int small = B - steps * 2;
    int left = small * (int)get_group_id(0) - border;
    int x = left + t;
    int low = left < 0 ? -left : 0, high = left + B - 1 > columns - 1 ? B - 1 - (left + B - columns) : B - 1;
    int west = max(t - 1, low), east = min(t + 1, high);
    bool valid = t >= low && t <= high;
    if (x >= 0 && x < columns)
        before[t] = from[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    bool mine = false;
    for (int i = 0; i < steps; i++) {
        mine = false;
        if (t >= i + 1 && t <= B - 2 - i && valid) { // split
            mine = true;
            int best = min(before[t], min(before[west], before[east]));
            after[t] = best + costs[columns * (row + i) + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == steps - 1) // loop: steps
            break;
        if (mine) // split
            before[t] = after[t];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine)
        to[x] = after[t];
}
