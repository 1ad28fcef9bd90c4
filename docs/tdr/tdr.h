/* Thread-data remapping for OpenCL C (docs/tdr.md): before a branch that depends on data, work-items of a group exchange what they work on
 * through local memory, so that neighbours take the same side. Works with every compiler and every target.
 *
 * All work-items of a group must call these functions together (they have barriers), and the kernel must be one-dimensional.
 * `slots` has an element for each work-item of the group.
 */
#ifndef WAVEBOUND_TDR_H
#define WAVEBOUND_TDR_H

/* Head or tail: items whose key holds go to the first work-items, the others to the last ones. `ends` has two elements. Returns the item
 * that this work-item has now. */
uint tdr_head_or_tail(bool key, uint item, __local uint *slots, __local uint *ends) {
    uint l = get_local_id(0), n = get_local_size(0);
    if (l < 2) ends[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = key ? atomic_inc(&ends[0]) : n - 1 - atomic_inc(&ends[1]);
    slots[at] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = slots[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    return mine;
}

/* Counting sort: items are sorted by their key, 0 to `keys` - 1. `counts` has `keys` elements. */
uint tdr_by_key(uint key, uint keys, uint item, __local uint *slots, __local uint *counts) {
    uint l = get_local_id(0), n = get_local_size(0);
    for (uint k = l; k < keys; k += n) counts[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint rank = atomic_inc(&counts[key]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = rank;
    for (uint k = 0; k < key; k++) at += counts[k];
    slots[at] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = slots[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    return mine;
}

#endif
