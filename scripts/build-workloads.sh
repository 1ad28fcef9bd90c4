#!/usr/bin/env bash
# Rebuilds the compiled kernels of the benchmark suite, crates/workloads/src/*/kernel.co for gfx803 and kernel.TARGET.co for later
# targets (code object 5), and kernel.riscv.elf for lane-pc machines (docs/riscv.md), from kernel.cl beside them. Needs
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
opencl=(-target amdgcn-amd-amdhsa -x cl -cl-std=CL2.0 -cl-kernel-arg-info -gline-tables-only -fdebug-compilation-dir=.)
canonical=(-O2 -mllvm -tail-dup-placement=0 -mllvm -amdgpu-skip-threshold=1)
riscv=${COMPILE_RISCV:-}
if [ -z "$riscv" ]; then
    cargo build --locked --quiet -p wb-jobs --example compile_riscv
    riscv=${CARGO_TARGET_DIR:-$PWD/../../../target}/debug/examples/compile_riscv
fi
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(*/)
for name in "${names[@]}"; do
    name=${name%/}
    for target in gfx803 gfx900 gfx90a gfx940; do
        file=kernel.$target.co version=5
        [ $target != gfx803 ] || { file=kernel.co; version=4; }
        out=${check:+$check/$name.$file}
        flags=(-mcpu=$target -mcode-object-version=$version)
        (cd "$name" && clang-19 "${opencl[@]}" "${flags[@]}" "${libs[@]}" "${canonical[@]}" kernel.cl -o "${out:-$file}" && chmod 644 "${out:-$file}")
        if [ -n "$check" ]; then
            cmp "$out" "$name/$file" || { echo "run scripts/build-workloads.sh"; exit 1; }
        fi
    done
    out=${check:+$check/$name.kernel.riscv.elf}
    (cd "$name" && "$riscv" kernel.cl "${out:-kernel.riscv.elf}" -fdebug-compilation-dir=. && chmod 644 "${out:-kernel.riscv.elf}")
    if [ -n "$check" ]; then
        cmp "$out" "$name/kernel.riscv.elf" || { echo "run scripts/build-workloads.sh"; exit 1; }
    fi
done
[ -z "$check" ] || echo "workloads match their sources"
