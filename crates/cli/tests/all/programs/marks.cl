// Marks in the source: every kernel has wavebound_split() in sides whose branches must be found at every level.
#include "wavebound.h"

// Small enough to become selects without the mark.
kernel void small(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i];
    if (x > 100) {
        wavebound_split();
        x = x * 3 + 1;
    }
    out[i] = x;
}

kernel void both(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i], r = 0;
    if (x & 1) {
        wavebound_split();
        for (int k = 0; k < (x & 15); k++)
            r = r * 5 + in[(i + k) & 255];
    } else {
        for (int k = 0; k < (x & 7); k++)
            r = r * 7 ^ in[(i * k) & 255];
    }
    out[i] = r;
}

// Only the else side has the mark.
kernel void other(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i];
    if (x % 3 == 0) {
        out[i] = in[x & 255] + 1;
    } else {
        wavebound_split();
        out[i] = in[(x + 7) & 255] * in[(x + 9) & 255];
    }
}

kernel void nested(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i], r = x;
    if (x > 50) {
        wavebound_split();
        r += in[(i + 1) & 255];
        if (x & 2) {
            wavebound_split();
            r *= in[(i + 2) & 255];
        } else {
            r -= in[(i + 3) & 255];
        }
        r ^= 5;
    }
    out[i] = r;
}

// An if in the body of a loop that all lanes go round equally often.
kernel void looped(global const int *in, global int *out, int n) {
    size_t i = get_global_id(0);
    int r = 0;
    for (int k = 0; k < n; k++) {
        int x = in[(i + k) & 255];
        if (x & 4) {
            wavebound_split();
            r += in[(x + k) & 255];
        } else {
            r = r * 3 + k;
        }
    }
    out[i] = r;
}

// The loop itself diverges; the if in its body can still be marked.
kernel void divergent_loop(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int r = 0;
    for (int k = in[i] & 31; k > 0; k--) {
        if (in[(i + k) & 255] & 1) {
            wavebound_split();
            r += in[(r + k) & 255];
        }
        r ^= k;
    }
    out[i] = r;
}
