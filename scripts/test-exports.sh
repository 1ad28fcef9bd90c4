#!/usr/bin/env bash
# Exports a few traces in every format and reads them with readers that are not ours: Perfetto's protobuf classes, pyarrow, a JSON
# schema, a strict reader of Kanata logs. FST is read by a test of crates/export. Uses the command that WAVEBOUND names
# (default: the release build). A tool that cannot be installed is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export WAVEBOUND=${WAVEBOUND:-$target/release/wavebound}
[ -x "$WAVEBOUND" ] || cargo build --locked --release
venv=$target/export-tests
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check perfetto pyarrow jsonschema
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
check() {
    local name=$1
    shift
    echo "== $name"
    "$WAVEBOUND" run "$@" --trace "$out/$name.wbt" --json > "$out/$name.run"
    for format in perfetto konata fst parquet chrome; do
        "$WAVEBOUND" export "$out/$name.wbt" --to $format > /dev/null
    done
    "$venv/bin/python" scripts/exports/check.py "$out/$name.run" "$out/$name.pftrace" "$out/$name.kanata" \
        "$out/$name.parquet" "$out/$name.json"
}
check nested filetests/harp/mechanism/harptool-nested-in-loop.harp
check barrier filetests/gcn3/flow/barrier.s --grid 128 --group 128
check collatz fixtures/gcn3/basic.O2.co --kernel collatz --grid 192 --group 64 --arg buf:u32:192:iota --arg buf:u32:192 --arg u32:500
check split --mechanism pws --s 1 --split-all fixtures/gcn3/basic.O2.co --kernel collatz --grid 192 --group 64 \
    --arg buf:u32:192:iota --arg buf:u32:192 --arg u32:500
check untimed fixtures/gcn3/basic.O2.co --untimed --kernel collatz --grid 192 --group 64 --arg buf:u32:192:iota \
    --arg buf:u32:192 --arg u32:500
echo '== JSON against its schemas'
"$venv/bin/python" scripts/exports/schemas.py "$WAVEBOUND"
