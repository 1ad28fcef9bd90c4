#!/usr/bin/env bash
# Installs what the tests need beyond cargo and a C compiler, from Debian's packages. Does nothing when it is there.
set -euo pipefail
need=()
command -v clang-19 > /dev/null || need+=(clang-19)
command -v ld.lld-19 > /dev/null || need+=(lld-19)
command -v llvm-mc-19 > /dev/null || need+=(llvm-19)
# clang calls the bundler of its own version to join code objects; hipcc's is of another one.
[ -x /usr/lib/llvm-19/bin/clang-offload-bundler ] || need+=(clang-tools-19)
[ -d /usr/lib/x86_64-linux-gnu/amdgcn/bitcode ] || need+=(rocm-device-libs)
# PoCL runs the fixture kernels on the CPU; clang-15, which it brings, writes the old code object versions.
ls /etc/OpenCL/vendors/pocl.icd > /dev/null 2>&1 || need+=(pocl-opencl-icd)
ls /usr/lib/*/libOpenCL.so.1 > /dev/null 2>&1 || need+=(ocl-icd-libopencl1)
[ -f /usr/include/CL/cl.h ] || need+=(opencl-c-headers)
# The OpenCL samples link the loader; clinfo asks for everything that a device can tell.
ls /usr/lib/*/libOpenCL.so > /dev/null 2>&1 || need+=(ocl-icd-opencl-dev)
command -v clinfo > /dev/null || need+=(clinfo)
# Oclgrind finds errors of kernels, too: ours is measured beside it.
command -v oclgrind-kernel > /dev/null || need+=(oclgrind)
command -v clang-15 > /dev/null || need+=(clang-15)
command -v cc > /dev/null || need+=(gcc libc6-dev)
# hipcc builds the HIP samples; it brings the stock libamdhip64, whose names ours are compared with.
command -v hipcc > /dev/null || need+=(hipcc)
[ -f /usr/lib/x86_64-linux-gnu/libamdhip64.so.5 ] || need+=(libamdhip64-5)
# Slurm runs the parts of a sweep; scripts/slurm-one-node.sh makes a cluster of this computer.
command -v sbatch > /dev/null || need+=(slurm-wlm)
[ -x /usr/sbin/munged ] || need+=(munge)
# Instructions of the hot loops are counted by callgrind.
command -v valgrind > /dev/null || need+=(valgrind)
# The viewer is tested in a browser.
[ -x /usr/bin/chromium ] || need+=(chromium)
# The Python package is tested in an environment of its own.
python3 -c 'import ensurepip, venv' > /dev/null 2>&1 || need+=(python3 python3-venv)
if [ ${#need[@]} -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${need[@]}"
fi
