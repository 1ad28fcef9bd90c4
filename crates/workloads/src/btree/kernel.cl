// Searches in a B+ tree: a group for each query, a work-item for each key of a node. Our own.
// Node i has its keys at keys[i * ORDER] in order, filled up with INT_MAX, and what they lead to at children[i * ORDER].
#define ORDER 64
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// The record of a key, or -1.
__kernel void btree_find(__global const int *keys, __global const int *children, __global const int *queries,
                         __global int *answers, int height) {
    __local int node;
    int t = get_local_id(0), q = get_group_id(0);
    int key = queries[q];
    ASSUME(height > 0);
    if (t == 0)
        node = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = 0; level < height; level++) {
        int at = node * ORDER + t;
        int next = t + 1 < ORDER ? keys[at + 1] : INT_MAX;
        int mine = keys[at];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (mine <= key && key < next) // split
            node = children[at];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (keys[node * ORDER + t] == key)
        answers[q] = children[node * ORDER + t];
}

// The leaf and place of the first key of a range, and the number of leaves it spans. Leaves follow each other.
__kernel void btree_range(__global const int *keys, __global const int *children, __global const int *low,
                          __global const int *high, __global int *first, __global int *length, int height) {
    __local int from, to, begin, end;
    int t = get_local_id(0), q = get_group_id(0);
    int start = low[q], stop = high[q];
    ASSUME(height > 0);
    if (t == 0) {
        from = 0;
        to = 0;
        begin = 0;
        end = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = 0; level < height; level++) {
        int a = from * ORDER + t, b = to * ORDER + t;
        int key_a = keys[a], next_a = t + 1 < ORDER ? keys[a + 1] : INT_MAX;
        int key_b = keys[b], next_b = t + 1 < ORDER ? keys[b + 1] : INT_MAX;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (key_a <= start && start < next_a) // split
            from = children[a];
        if (key_b <= stop && stop < next_b) // split
            to = children[b];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (keys[from * ORDER + t] == start) // split
        begin = children[from * ORDER + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (keys[to * ORDER + t] == stop) // split
        end = children[to * ORDER + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 0) {
        first[q] = begin;
        length[q] = end - begin + 1;
    }
}
