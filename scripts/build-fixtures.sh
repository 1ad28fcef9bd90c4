#!/usr/bin/env bash
# Rebuilds the compiled kernels in fixtures/gcn3 from their sources. Needs Debian's clang-19, lld-19, clang-15 and
# rocm-device-libs (scripts/install-test-tools.sh). With --check: builds elsewhere and fails if a committed object differs.
# A first line `// flags: …` of a source adds compiler flags.
set -euo pipefail
cd "$(dirname "$0")/../fixtures/gcn3"
out=.
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    mkdir "$out/abi" "$out/gfx9"
    trap 'rm -rf "$out"' EXIT
fi
libs=(--rocm-path=/usr --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode)
common=(-gline-tables-only -fdebug-compilation-dir=.)
language=(-target amdgcn-amd-amdhsa -x cl -cl-std=CL2.0 "${common[@]}")
opencl=("${language[@]}" -mcpu=gfx803)
canonical=(-mllvm -tail-dup-placement=0 -mllvm -amdgpu-skip-threshold=1)
for source in *.cl; do
    name=${source%.cl}
    read -ra extra <<< "$(sed -n '1s|^// flags: ||p' "$source")"
    clang-19 "${opencl[@]}" "${libs[@]}" "${extra[@]}" -mcode-object-version=4 -O2 "${canonical[@]}" "$source" -o "$out/$name.O2.co"
    clang-19 "${opencl[@]}" "${libs[@]}" "${extra[@]}" -mcode-object-version=5 -O3 "$source" -o "$out/$name.O3.co"
    # Later targets; stop.cl has images, benches check themselves.
    [ "$name" != stop ] && [ "$name" != bench ] || continue
    for target in gfx900 gfx90a gfx940; do
        clang-19 "${language[@]}" -mcpu=$target "${libs[@]}" "${extra[@]}" -mcode-object-version=5 -O2 "${canonical[@]}" "$source" \
            -o "$out/gfx9/$name.$target.co"
    done
done

# HIP, bare and as an offload bundle.
hip=(-x hip -fuse-cuid=none --cuda-device-only --offload-arch=gfx803 -nogpuinc "${libs[@]}" "${common[@]}" -O2)
clang-19 "${hip[@]}" --no-gpu-bundle-output abi/axpy.hip -o "$out/abi/axpy.co"
clang-19 "${hip[@]}" abi/axpy.hip -o "$out/abi/axpy.bundle"
clang-19 "${hip[@]}" --no-gpu-bundle-output abi/variables.hip -o "$out/abi/variables.co"

# Arguments in registers: all that fit, and two of them.
for count in 2 16; do
    clang-19 "${language[@]}" -mcpu=gfx940 "${libs[@]}" -mcode-object-version=5 -O2 -mllvm -amdgpu-kernarg-preload-count=$count \
        abi/preload.cl -o "$out/abi/preload.$count.co"
done

# Code object versions 2 and 3: the last clang that writes them is 16. lld keeps the version it is given.
for version in 2 3; do
    clang-15 "${opencl[@]}" -nogpulib -mcode-object-version=$version -O2 -c abi/old.cl -o "$out/abi/old.o"
    ld.lld-19 -shared "$out/abi/old.o" -o "$out/abi/old.v$version.co"
    rm "$out/abi/old.o"
done

chmod 644 "$out"/*.co "$out"/abi/* "$out"/gfx9/*

if [ "$out" != . ]; then
    (cd "$out" && find . -type f | sort) | while read -r object; do
        cmp "$out/$object" "$object" || { echo "run scripts/build-fixtures.sh"; exit 1; }
    done
    echo "fixtures match their sources"
fi
