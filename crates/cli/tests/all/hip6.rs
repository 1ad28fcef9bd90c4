//! A program for HIP 6: it links `libamdhip64.so.6`, whose functions have other versions, properties another layout, and kinds of memory
//! other numbers. The headers at hand are those of HIP 5, so the program declares what differs as HIP 6's header has it.

use super::hip::{library, root, samples, text};
use std::process::Command;

const PROGRAM: &str = r#"
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <vector>

struct Six {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3];
    int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
    int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported;
    int memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
    int reserved[63], hipReserved[32];
    char gcnArchName[256];
    size_t maxSharedMemoryPerMultiProcessor;
    int clockInstructionRate;
    hipDeviceArch_t arch;
    unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
    int cooperativeMultiDeviceUnmatched[4], isLargeBar, asicRevision;
};

extern "C" hipError_t hipGetDevicePropertiesR0600(Six *, int);
extern "C" hipError_t hipLaunchHostFunc(hipStream_t, void (*)(void *), void *);

__global__ void twice(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    Six p;
    memset(&p, 0x55, sizeof p);
    if (hipGetDevicePropertiesR0600(&p, 0) != hipSuccess) return 1;
    printf("%s | %s | %d lanes | %d cores | %zu local | large bar %d | revision %d\n", p.name, p.gcnArchName, p.warpSize,
           p.multiProcessorCount, p.sharedMemPerBlockOptin, p.isLargeBar, p.asicRevision);
    std::vector<int> x(1000);
    for (int i = 0; i < 1000; i++) x[i] = i;
    int *d, *host, stack = 0;
    if (hipMalloc(&d, 4000) || hipHostMalloc(&host, 64, 0)) return 2;
    hipMemcpy(d, x.data(), 4000, hipMemcpyHostToDevice);
    twice<<<4, 256>>>(d, 1000);
    hipMemcpy(x.data(), d, 4000, hipMemcpyDeviceToHost);
    for (int i = 0; i < 1000; i++) if (x[i] != 2 * i) return 3;
    hipPointerAttribute_t a;
    int kinds[3];
    void *all[3] = {d, host, &stack};
    for (int k = 0; k < 3; k++) {
        if (hipPointerGetAttributes(&a, all[k]) != hipSuccess) return 4;
        memcpy(&kinds[k], &a, sizeof(int));
    }
    int called = 0;
    if (hipLaunchHostFunc(0, [](void *to) { *(int *)to = 7; }, &called) || called != 7) return 5;
    printf("device %d, host %d, none %d\n", kinds[0], kinds[1], kinds[2]);
}
"#;

#[test]
fn programs_for_hip_6_run() {
    if samples().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("six.cpp"), PROGRAM).expect("written");
    std::fs::write(at("libamdhip64.so"), wb_hip::SHIMS[1].1).expect("written");
    let ok = |command: &mut Command| {
        let done = command.output().expect("starts");
        assert!(done.status.success(), "{}", text(&done).1);
    };
    ok(Command::new("hipcc")
        .args(["--offload-arch=gfx803", "-O2", "-c"])
        .arg(at("six.cpp"))
        .arg("-o")
        .arg(at("six.o")));
    let mut link = Command::new("c++");
    link.arg(at("six.o")).arg("-L").arg(folder.path()).args(["-lamdhip64", "-Wl,--allow-shlib-undefined"]);
    ok(link.arg("-o").arg(at("six")));
    let run = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .current_dir(root())
        .arg("hip")
        .arg("--library")
        .arg(library())
        .arg("--")
        .arg(at("six"))
        .output()
        .expect("starts");
    let (out, err) = text(&run);
    assert!(run.status.success(), "{out}\n{err}");
    let said =
        "Wavebound gcn3 (simulated) | gfx803 | 64 lanes | 4 cores | 65536 local | large bar 1 | revision 0";
    assert!(out.contains(said), "{out}");
    assert!(out.contains("device 2, host 1, none 0"), "{out}");
    assert!(out.contains("1 launch") && out.contains("twice"), "{out}\n{err}");
}
