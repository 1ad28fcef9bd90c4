// Matrix multiplication with tiles in local memory, in two dimensions.
#include "check.h"

const int TILE = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 48;
    std::vector<float> a(n * n), b(n * n), wanted(n * n);
    for (int i = 0; i < n * n; ++i) {
        a[i] = float(i % 7) - 3;
        b[i] = float(i % 5) - 2;
    }
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c)
            for (int k = 0; k < n; ++k) wanted[r * n + c] += a[r * n + k] * b[k * n + c];
    float *da = to_device(a), *db = to_device(b), *dc;
    CHECK(hipMalloc(&dc, n * n * sizeof(float)));
    multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, dc, n);
    return verdict("matmul", to_host(dc, n * n), wanted, 1e-6);
}
