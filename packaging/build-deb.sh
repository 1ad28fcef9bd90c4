#!/usr/bin/env bash
# Builds the Debian package: the command, the HIP library, the header for marks. Needs cargo-deb (`cargo install cargo-deb`).
# Usage: packaging/build-deb.sh [FOLDER]      writes FOLDER/wavebound_VERSION_ARCH.deb (default: out)
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-out}")
mkdir -p "$out"
cargo build --locked --release -p wavebound-hip -p wavebound-cli
cargo deb --no-build --package wavebound-cli --output "$out"
