// Linear memory read through a texture object and through a texture reference; reads outside give zero.
#include "check.h"

texture<float, hipTextureType1D, hipReadModeElementType> reference;

__global__ void gather(hipTextureObject_t object, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(object, index[i]) + tex1Dfetch(reference, index[i] / 2);
}

int main() {
    const int n = 256;
    std::vector<float> data(n), wanted(n);
    std::vector<int> index(n);
    for (int i = 0; i < n; ++i) data[i] = float(i) * 0.25f;
    for (int i = 0; i < n; ++i) {
        index[i] = (i * 7) % (n + 20);
        wanted[i] = (index[i] < n ? data[index[i]] : 0.0f) + data[index[i] / 2];
    }
    float *ddata = to_device(data), *dout;
    int* dindex = to_device(index);
    CHECK(hipMalloc(&dout, n * sizeof(float)));
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = ddata;
    resource.res.linear.desc = hipCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    hipTextureDesc description = {};
    description.readMode = hipReadModeElementType;
    hipTextureObject_t object;
    CHECK(hipCreateTextureObject(&object, &resource, &description, nullptr));
    CHECK(hipBindTexture(nullptr, reference, ddata, n * sizeof(float)));
    gather<<<n / 64, 64>>>(object, dindex, dout, n);
    int code = verdict("texture", to_host(dout, n), wanted);
    CHECK(hipUnbindTexture(reference));
    CHECK(hipDestroyTextureObject(object));
    return code;
}
