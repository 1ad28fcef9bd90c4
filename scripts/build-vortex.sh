#!/usr/bin/env bash
# Rebuilds the kernels in fixtures/vortex from their sources. Needs Debian's clang-19 and lld-19. With --check: builds
# elsewhere and fails if a committed executable differs.
set -euo pipefail
cd "$(dirname "$0")/../fixtures/vortex"
out=.
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
# Loops as they are written and no fusing of operations: instruction counts and results stay what the source says. Convergent
# asm: split, join and pred are not duplicated and stay under the conditions they have.
flags=(--target=riscv32-unknown-elf -march=rv32imaf -mabi=ilp32f -O2 -nostdlib -ffreestanding -fno-builtin
    -fno-unroll-loops -fno-vectorize -fno-slp-vectorize -ffp-contract=off -fno-math-errno -fno-jump-tables -mno-relax
    -fconvergent-functions -fno-ident -gline-tables-only -fdebug-compilation-dir=. -Wall -Werror)
for source in *.c; do
    name=${source%.c}
    clang-19 "${flags[@]}" -fuse-ld=lld-19 -Wl,-z,norelro,-z,max-page-size=4096 -Wl,-T,link.ld start.S "$source" -o "$out/$name.elf"
    chmod 644 "$out/$name.elf"
done
if [ "$out" != . ]; then
    for built in "$out"/*.elf; do
        cmp "$built" "$(basename "$built")" || { echo "run scripts/build-vortex.sh"; exit 1; }
    done
    echo "Vortex kernels match their sources"
fi
