// Sorts numbers: into buckets of about equal size by pivots, then each bucket by merging runs. Our own.
#define BUCKETS 64
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// Bucket of every number: the number of pivots that are not greater.
__kernel void hybridsort_count(__global const float *numbers, __global const float *pivots, __global int *bucket,
                               __global int *rank, __global int *counts, int n) {
    __local float pivot[BUCKETS];
    int t = get_local_id(0), size = get_local_size(0);
    for (int i = t; i < BUCKETS; i += size)
        pivot[i] = pivots[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        float x = numbers[i];
        int low = 0, high = BUCKETS - 1;
        while (low < high) { // loop: search
            int middle = (low + high) / 2;
            if (x < pivot[middle])
                high = middle;
            else
                low = middle + 1;
        }
        bucket[i] = low;
        rank[i] = atomic_inc(&counts[low]);
    }
}

// Where each bucket begins; rounded up to runs of four.
__kernel void hybridsort_prefix(__global const int *counts, __global int *starts) {
    __local int sum[2][BUCKETS];
    int t = get_local_id(0), now = 0;
    sum[0][t] = (counts[t] + 3) / 4 * 4;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < BUCKETS; d *= 2) {
        if (t >= d) // split
            sum[1 - now][t] = sum[now][t] + sum[now][t - d];
        else
            sum[1 - now][t] = sum[now][t];
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    starts[t + 1] = sum[now][t];
    if (t == 0)
        starts[0] = 0;
}

__kernel void hybridsort_place(__global const float *numbers, __global const int *bucket, __global const int *rank,
                               __global const int *starts, __global float *sorted, int n) {
    int i = get_global_id(0);
    if (i < n)
        sorted[starts[bucket[i]] + rank[i]] = numbers[i];
}

// Runs of four, each sorted by a work-item; unused places hold infinity.
__kernel void hybridsort_fours(__global float4 *sorted, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    float4 v = sorted[i];
    float4 a = (float4)(fmin(v.x, v.y), fmax(v.x, v.y), fmin(v.z, v.w), fmax(v.z, v.w));
    float least = fmin(a.x, a.z), most = fmax(a.y, a.w);
    float p = fmax(a.x, a.z), q = fmin(a.y, a.w);
    sorted[i] = (float4)(least, fmin(p, q), fmax(p, q), most);
}

// Merges neighbouring runs of `length` in each bucket: a work-item per pair. No bucket has more pairs than a group has
// work-items.
__kernel void hybridsort_merge(__global const float *from, __global float *to, __global const int *starts, int length) {
    int b = get_group_id(0);
    int begin = starts[b], end = starts[b + 1];
    ASSUME(length > 0 && length < 1 << 20);
    int at = begin + 2 * length * (int)get_local_id(0);
    if (at < end) {
        int middle = min(at + length, end), stop = min(at + 2 * length, end);
        int left = at, right = middle;
        for (int out = at; out < stop; out++) { // loop: merge
            bool take;
            if (left >= middle) // split
                take = false;
            else if (right >= stop) // split
                take = true;
            else
                take = from[left] <= from[right];
            if (take)
                to[out] = from[left++];
            else
                to[out] = from[right++];
        }
    }
}

// The numbers without the places that were not used.
__kernel void hybridsort_pack(__global const float *sorted, __global const int *starts, __global const int *counts,
                              __global const int *packed, __global float *out) {
    int b = get_group_id(0);
    for (int i = get_local_id(0); i < counts[b]; i += get_local_size(0)) // loop: pack
        out[packed[b] + i] = sorted[starts[b] + i];
}
