#!/usr/bin/env bash
# Builds the OpenCL samples with the C compiler and Debian's loader (scripts/install-test-tools.sh) into the folder given, or
# target/opencl-samples.
set -euo pipefail
cd "$(dirname "$0")/../samples/opencl"
out=${1:-../../target/opencl-samples}
mkdir -p "$out"
for source in *.c; do
    target=$out/$(basename "$source" .c)
    if [ "$source" -nt "$target" ] || [ check.h -nt "$target" ]; then
        cc -O2 -g -Wall -Wextra -Werror "$source" -o "$target" -lOpenCL -pthread
    fi
done
