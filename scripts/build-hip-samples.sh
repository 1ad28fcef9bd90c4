#!/usr/bin/env bash
# Builds the HIP samples with Debian's hipcc (scripts/install-test-tools.sh) into the folder given, or target/hip-samples.
set -euo pipefail
cd "$(dirname "$0")/../samples/hip"
out=${1:-../../target/hip-samples}
mkdir -p "$out"
flags=(-O2 -g1 -std=c++17 -Wall -Wno-unused-result -Wno-deprecated-declarations -Wno-unused-command-line-argument --offload-arch=gfx803)
build() { hipcc "${flags[@]}" "$1" -o "$out/$(basename "$1" .cpp)" -pthread; }
for source in *.cpp; do
    target=$out/$(basename "$source" .cpp)
    if [ "$source" -nt "$target" ] || [ check.h -nt "$target" ]; then
        build "$source"
    fi
done
# The same program for several later GPUs.
for source in matmul.cpp bfs.cpp; do
    target=$out/$(basename "$source" .cpp)_gfx9
    if [ "$source" -nt "$target" ] || [ check.h -nt "$target" ]; then
        hipcc "${flags[@]/--offload-arch=gfx803/--offload-arch=gfx900}" --offload-arch=gfx906 --offload-arch=gfx908 \
            --offload-arch=gfx90a "$source" -o "$target" -pthread
    fi
done
for source in *.c; do
    target=$out/$(basename "$source" .c)
    if [ "$source" -nt "$target" ]; then
        cc -O2 -Wall "$source" -o "$target" -ldl
    fi
done
if [ module_kernel.hip -nt "$out/module_kernel.co" ]; then
    hipcc "${flags[@]}" --genco module_kernel.hip -o "$out/module_kernel.co"
fi
