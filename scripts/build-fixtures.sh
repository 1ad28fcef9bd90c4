#!/usr/bin/env bash
# Rebuilds the compiled kernels in fixtures/gcn3 from their sources. Needs Debian's clang-19, lld-19 and rocm-device-libs
# (scripts/install-test-tools.sh). With --check: builds elsewhere and fails if a committed object differs.
set -euo pipefail
cd "$(dirname "$0")/../fixtures/gcn3"
out=.
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
flags=(-target amdgcn-amd-amdhsa -mcpu=gfx803 -x cl -cl-std=CL2.0 --rocm-path=/usr
    --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode -gline-tables-only -fdebug-compilation-dir=.)
canonical=(-mllvm -tail-dup-placement=0 -mllvm -amdgpu-skip-threshold=1)
for source in *.cl; do
    name=${source%.cl}
    clang-19 "${flags[@]}" -mcode-object-version=4 -O2 "${canonical[@]}" "$source" -o "$out/$name.O2.co"
    clang-19 "${flags[@]}" -mcode-object-version=5 -O3 "$source" -o "$out/$name.O3.co"
done
if [ "$out" != . ]; then
    for object in "$out"/*.co; do
        cmp "$object" "$(basename "$object")" || { echo "run scripts/build-fixtures.sh"; exit 1; }
    done
    echo "fixtures match their sources"
fi
