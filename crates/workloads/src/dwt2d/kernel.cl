// Discrete wavelet transform of an image, the reversible 5/3 of JPEG 2000: rows and columns in local memory, level by level.
// Our own.
#define MAX 256
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// Colours to luminance and two differences, each around zero.
__kernel void dwt_components(__global const uchar *pixels, __global int *y, __global int *u, __global int *v, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    int r = pixels[3 * i] - 128, g = pixels[3 * i + 1] - 128, b = pixels[3 * i + 2] - 128;
    y[i] = (r + 2 * g + b) >> 2;
    u[i] = b - g;
    v[i] = r - g;
}

// One row or column of `length` values that lie `step` apart: low frequencies to the front, high ones behind them. Each
// work-item takes a pair of values, or several.
__attribute__((always_inline)) void lift(__global const int *from, __global int *to, int length, int step, __local int *line) {
    int t = get_local_id(0), size = get_local_size(0);
    ASSUME(length > 1);
    for (int i = t; i < length; i += size) // loop: load; split
        line[i] = from[i * step];
    barrier(CLK_LOCAL_MEM_FENCE);
    int half_up = (length + 1) / 2;
    for (int k = t; k < length / 2; k += size) { // loop: high; split
        int i = 2 * k + 1;
        int right = i + 1;
        if (right >= length)
            right = i - 1;
        line[i] -= (line[i - 1] + line[right]) >> 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = t; k < half_up; k += size) { // loop: low; split
        int i = 2 * k, left = i - 1, right = i + 1;
        if (left < 0)
            left = 1;
        if (right >= length)
            right = left;
        line[i] += (line[left] + line[right] + 2) >> 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = t; i < length; i += size) { // loop: store
        int place;
        if (i & 1)
            place = half_up + (i >> 1);
        else
            place = i >> 1;
        to[place * step] = line[i];
    }
}

// A group for each of the rows; `width` is that of the image, `length` and the number of groups those of the level.
__kernel void dwt_rows(__global const int *from, __global int *to, int width, int length) {
    __local int line[MAX];
    int row = get_group_id(0) * width;
    lift(from + row, to + row, length, 1, line);
}

__kernel void dwt_columns(__global const int *from, __global int *to, int width, int length) {
    __local int line[MAX];
    int column = get_group_id(0);
    lift(from + column, to + column, length, width, line);
}
