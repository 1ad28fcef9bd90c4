// One round of training a network with one hidden layer of 16: weighted sums of the inputs, then new weights. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define B 16

// A group multiplies 16 inputs with their weights and adds up over its rows; the host adds the groups' sums.
__kernel void backprop_forward(__global const float *inputs, __global const float *weights, __global float *sums, int hidden) {
    __local float input[B], product[B][B];
    int by = get_group_id(1), tx = get_local_id(0), ty = get_local_id(1);
    int index = (hidden + 1) * B * by + (hidden + 1) * ty + tx + 1 + hidden + 1;
    if (tx == 0) // split
        input[ty] = inputs[B * by + ty + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    product[ty][tx] = weights[index] * input[ty];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int i = 2; i <= B; i *= 2) {
        if (ty % i == 0) // split
            product[ty][tx] += product[ty + i / 2][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tx == 0)
        sums[by * hidden + ty] = product[0][ty];
}

__kernel void backprop_adjust(__global const float *delta, __global const float *inputs, __global float *weights,
                              __global float *old, int hidden) {
    const float eta = 0.3f, momentum = 0.3f;
    int by = get_group_id(1), tx = get_local_id(0), ty = get_local_id(1);
    int index = (hidden + 1) * B * by + (hidden + 1) * ty + tx + 1 + hidden + 1;
    float change = eta * delta[tx + 1] * inputs[B * by + ty + 1] + momentum * old[index];
    weights[index] += change;
    old[index] = change;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (ty == 0 && by == 0) { // the bias
        change = eta * delta[tx + 1] + momentum * old[tx + 1];
        weights[tx + 1] += change;
        old[tx + 1] = change;
    }
}
