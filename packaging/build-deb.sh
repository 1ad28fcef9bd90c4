#!/usr/bin/env bash
# Builds the Debian package: the command, the libraries for HIP and OpenCL programs, the header for marks, manual pages, completions. Needs cargo-deb (`cargo install cargo-deb`).
# Usage: packaging/build-deb.sh [FOLDER]      writes FOLDER/wavebound_VERSION_ARCH.deb (default: out)
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-out}")
mkdir -p "$out"
cargo build --locked --release -p wavebound-hip -p wavebound-cl -p wavebound-cli
# Manual pages and completions, where cargo-deb looks for what was built.
built=$(realpath -m "${CARGO_TARGET_DIR:-target}/release")
"$built/wavebound" man -o "$built/man" > /dev/null
gzip -9nf "$built"/man/*.1
mkdir -p "$built/completions"
"$built/wavebound" completions bash > "$built/completions/wavebound"
"$built/wavebound" completions zsh > "$built/completions/_wavebound"
"$built/wavebound" completions fish > "$built/completions/wavebound.fish"
cargo deb --no-build --package wavebound-cli --output "$out"
