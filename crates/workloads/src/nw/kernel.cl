// Needleman-Wunsch: scores of the best alignment of two sequences, in blocks of 16 × 16 along the diagonals of the table.
// Our own. `table` has n + 1 rows and columns, `similar` what a pair of letters is worth.
#define B 16

__attribute__((always_inline)) void block(__global int *table, __global const int *similar, int columns, int penalty,
                                          int bx, int by, __local int *cell, __local int *worth) {
    int t = get_local_id(0);
    int base = columns * B * by + B * bx;
    if (t == 0)
        cell[0] = table[base];
    for (int i = 0; i < B; i++)
        worth[i * B + t] = similar[base + columns * (i + 1) + t + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    cell[(t + 1) * (B + 1)] = table[base + columns * (t + 1)];
    cell[t + 1] = table[base + t + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int m = 0; m < B; m++) {
        if (t <= m) { // split
            int x = t + 1, y = m - t + 1;
            int diagonal = cell[(y - 1) * (B + 1) + x - 1] + worth[(y - 1) * B + x - 1];
            int left = cell[y * (B + 1) + x - 1] - penalty;
            int up = cell[(y - 1) * (B + 1) + x] - penalty;
            cell[y * (B + 1) + x] = max(diagonal, max(left, up));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll 1
    for (int m = B - 2; m >= 0; m--) {
        if (t <= m) { // split
            int x = t + B - m, y = B - t;
            int diagonal = cell[(y - 1) * (B + 1) + x - 1] + worth[(y - 1) * B + x - 1];
            int left = cell[y * (B + 1) + x - 1] - penalty;
            int up = cell[(y - 1) * (B + 1) + x] - penalty;
            cell[y * (B + 1) + x] = max(diagonal, max(left, up));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < B; i++)
        table[base + columns * (i + 1) + t + 1] = cell[(i + 1) * (B + 1) + t + 1];
}

// Diagonal number `step` of the upper left half: step + 1 blocks.
__kernel void nw_upper(__global int *table, __global const int *similar, int columns, int penalty, int step) {
    __local int cell[(B + 1) * (B + 1)], worth[B * B];
    int bx = get_group_id(0);
    block(table, similar, columns, penalty, bx, step - bx, cell, worth);
}

// Diagonals of the lower right half: `step` + 1 blocks that end at the last column.
__kernel void nw_lower(__global int *table, __global const int *similar, int columns, int penalty, int step, int blocks) {
    __local int cell[(B + 1) * (B + 1)], worth[B * B];
    int bx = get_group_id(0) + blocks - 1 - step;
    block(table, similar, columns, penalty, bx, 2 * blocks - 2 - step - bx, cell, worth);
}
