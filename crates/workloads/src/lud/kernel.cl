// LU decomposition in blocks of 16: the block on the diagonal, the blocks in its row and column, the rest. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define B 16

__kernel void lud_diagonal(__global float *m, int n, int offset) {
    __local float block[B][B];
    int t = get_local_id(0);
    int base = offset * n + offset;
    for (int i = 0; i < B; i++)
        block[i][t] = m[base + i * n + t];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int i = 0; i < B - 1; i++) {
        if (t > i) { // split
#pragma unroll 1
            for (int j = 0; j < i; j++) // loop: column
                block[t][i] -= block[t][j] * block[j][i];
            block[t][i] /= block[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t > i) { // split
#pragma unroll 1
            for (int j = 0; j < i + 1; j++)
                block[i + 1][t] -= block[i + 1][j] * block[j][t]; // loop: row
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 1; i < B; i++)
        m[base + i * n + t] = block[i][t];
}

// Half of the 32 work-items take a block right of the diagonal, the others one below it.
__kernel void lud_perimeter(__global float *m, int n, int offset) {
    __local float diagonal[B][B], row[B][B], column[B][B];
    int t = get_local_id(0), t16 = t % B;
    int base = offset * n + offset;
    int right = base + (get_group_id(0) + 1) * B, below = base + (get_group_id(0) + 1) * B * n;
    if (t < B) { // split
        for (int i = 0; i < B / 2; i++)
            diagonal[i][t16] = m[base + i * n + t16];
        for (int i = 0; i < B; i++)
            row[i][t16] = m[right + i * n + t16];
    } else {
        for (int i = B / 2; i < B; i++)
            diagonal[i][t16] = m[base + i * n + t16];
        for (int i = 0; i < B; i++)
            column[i][t16] = m[below + i * n + t16];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < B) { // split
#pragma unroll 1
        for (int i = 1; i < B; i++)
#pragma unroll 1
            for (int j = 0; j < i; j++) // loop: right
                row[i][t16] -= diagonal[i][j] * row[j][t16];
    } else {
#pragma unroll 1
        for (int i = 0; i < B; i++) {
#pragma unroll 1
            for (int j = 0; j < i; j++)
                column[t16][i] -= column[t16][j] * diagonal[j][i];
            column[t16][i] /= diagonal[i][i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < B) { // split
        for (int i = 1; i < B; i++)
            m[right + i * n + t16] = row[i][t16];
    } else {
        for (int i = 0; i < B; i++)
            m[below + i * n + t16] = column[i][t16];
    }
}

__kernel void lud_internal(__global float *m, int n, int offset) {
    __local float row[B][B], column[B][B];
    int tx = get_local_id(0), ty = get_local_id(1);
    int y = offset + (get_group_id(1) + 1) * B, x = offset + (get_group_id(0) + 1) * B;
    row[ty][tx] = m[(offset + ty) * n + x + tx];
    column[ty][tx] = m[(y + ty) * n + offset + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int i = 0; i < B; i++)
        sum += column[ty][i] * row[i][tx];
    m[(y + ty) * n + x + tx] -= sum;
}
