#!/usr/bin/env bash
# What the HIP library costs: host instructions of the same launches through `wavebound hip` and through `wavebound run` of a
# launch file, untimed. Needs hipcc, valgrind and a release build (or the path of the command as first argument).
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(realpath "${1:-target/release/wavebound}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > work.h <<'EOF'
extern "C" __global__ void work(float *x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int r = 0; r < rounds; r++) v = v * 0.999f + (float)(r & 7);
    x[i] = v;
}
EOF
printf '#include <hip/hip_runtime.h>\n#include "work.h"\n' > work.hip
cat > program.cpp <<'EOF'
#include <hip/hip_runtime.h>
#include "work.h"
int main() {
    float *x;
    if (hipMalloc(&x, 8192 * sizeof(float)) != hipSuccess) return 1;
    for (int i = 0; i < 20; i++) work<<<128, 64>>>(x, 100);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
EOF
cat > launches.toml <<'EOF'
object = "work.co"
[buffers.x]
type = "f32"
length = 8192
[[launch]]
kernel = "work"
grid = 8192
group = 64
args = ["x", "i32:100"]
repeat = 20
EOF
hipcc -O2 --offload-arch=gfx803 program.cpp -o program
hipcc -O2 --offload-arch=gfx803 --genco work.hip -o work.co
count() { # Instructions of a command and its children.
    valgrind --tool=callgrind --trace-children=yes --callgrind-out-file=out.%p "$@" 2>&1 >/dev/null |
        awk '/Collected/ { sum += $NF } END { print sum }'
}
hip=$(count "$command" hip --no-stats --untimed -- ./program)
run=$(count "$command" run launches.toml --no-stats --untimed)
awk -v hip="$hip" -v run="$run" 'BEGIN { printf "hip %d, run %d: %+.1f %%\n", hip, run, 100 * (hip / run - 1) }'
