#!/usr/bin/env bash
# Counts the host's instructions of a few runs with callgrind and compares them with benches/instructions.txt. Times are noisy,
# counts are not: the same binary gives the same count. Needs valgrind and a release build.
#   scripts/count-instructions.sh            compare; a run that needs LIMIT (default: 2) per cent more than before is a failure,
#                                            10 if the baseline was made by another version of rustc. The C library copies
#                                            memory by other loops on another computer: there a larger LIMIT is right
#   scripts/count-instructions.sh --bless    write the counts as the new baseline
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${WAVEBOUND_BINARY:-target/release/wavebound}
baseline=benches/instructions.txt
compiler=$(rustc --version)
limit=${LIMIT:-2}
grep -qxF "# $compiler" "$baseline" 2> /dev/null || limit=10

# Start-up, then what runs are made of: long enough that start-up does not hide the loop.
runs=(
    'start|--version'
    'bfs-timed|run --workload bfs --size small --no-stats'
    'hotspot-timed|run --workload hotspot --size small --no-stats'
    'bfs-untimed|run --workload bfs --size small --untimed --threads 1 --no-stats'
    'hotspot-untimed|run --workload hotspot --size small --untimed --threads 1 --no-stats'
    'bfs-stats|run --workload bfs --size tiny'
    'bfs-pws|run --workload bfs --size tiny --mechanism pws --s 3 --no-stats'
    'harp-timed|run crates/lab/programs/pdom-2.harp --no-stats'
    'vortex-timed|run fixtures/vortex/psort.elf --arg u32:256 --arg buf:f32:256:random --arg buf:f32:256 --no-stats'
    'bound-nn|wcet --workload nn --size tiny --unmeasured exclude'
)

command -v valgrind > /dev/null || { echo 'valgrind is not installed' >&2; exit 1; }
[ -x "$binary" ] || { echo "$binary does not exist: cargo build --release" >&2; exit 1; }

count() {
    # The environment is part of what a program reads: an empty one gives the same count everywhere.
    # shellcheck disable=SC2086
    env -i HOME=/ PATH=/usr/bin:/bin valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" $1 2>&1 > /dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
for run in "${runs[@]}"; do
    name=${run%%|*}
    now=$(count "${run#*|}")
    [ -n "$now" ] || { echo "$name: the run failed" >&2; exit 1; }
    echo "$name $now" >> "$out"
    before=$(sed -n "s/^$name \([0-9]*\)$/\1/p" "$baseline" 2> /dev/null || true)
    if [ -z "$before" ]; then
        printf '%-16s %14d   (new)\n' "$name" "$now"
        continue
    fi
    change=$(awk -v a="$before" -v b="$now" 'BEGIN { printf "%+.2f", 100 * (b - a) / a }')
    printf '%-16s %14d   %14d   %s %%\n' "$name" "$before" "$now" "$change"
    awk -v c="$change" -v l="$limit" 'BEGIN { exit !(c > l) }' && failed=1
done
if [ "${1:-}" = --bless ]; then
    { echo '# Instructions of the host, by scripts/count-instructions.sh --bless.'; echo "# $compiler"; cat "$out"; } > "$baseline"
elif [ "$failed" = 1 ]; then
    echo "some runs need more than $limit % more instructions" >&2
    exit 1
fi
