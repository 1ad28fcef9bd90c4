#!/usr/bin/env bash
# Rebuilds the compiled kernels of the benchmark suite, crates/workloads/src/*/kernel.co, from kernel.cl beside them. Needs
# Debian's clang-19, lld-19 and rocm-device-libs. With --check: builds elsewhere and fails if a committed object differs.
# Names of workloads as arguments: only those.
set -euo pipefail
cd "$(dirname "$0")/../crates/workloads/src"
check=
if [ "${1:-}" = --check ]; then
    check=$(mktemp -d)
    trap 'rm -rf "$check"' EXIT
    shift
fi
libs=(--rocm-path=/usr --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode)
opencl=(-target amdgcn-amd-amdhsa -mcpu=gfx803 -x cl -cl-std=CL2.0 -cl-kernel-arg-info -gline-tables-only -fdebug-compilation-dir=.)
canonical=(-mcode-object-version=4 -O2 -mllvm -tail-dup-placement=0 -mllvm -amdgpu-skip-threshold=1)
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(*/)
for name in "${names[@]}"; do
    name=${name%/}
    out=${check:+$check/$name.co}
    (cd "$name" && clang-19 "${opencl[@]}" "${libs[@]}" "${canonical[@]}" kernel.cl -o "${out:-kernel.co}" && chmod 644 "${out:-kernel.co}")
    if [ -n "$check" ]; then
        cmp "$out" "$name/kernel.co" || { echo "run scripts/build-workloads.sh"; exit 1; }
    fi
done
[ -z "$check" ] || echo "workloads match their sources"
