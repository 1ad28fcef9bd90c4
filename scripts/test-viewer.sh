#!/usr/bin/env bash
# Drives the viewer in a real browser (Debian's chromium, by Playwright) and leaves screenshots in a folder.
# Usage: scripts/test-viewer.sh [FOLDER]      WAVEBOUND names the command (default: the release build)
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
wavebound=${WAVEBOUND:-$target/release/wavebound}
[ -x "$wavebound" ] || cargo build --locked --release
[ -x /usr/bin/chromium ] || { echo "chromium is missing: scripts/install-test-tools.sh" >&2; exit 1; }
venv=$target/viewer-tests
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check playwright
"$venv/bin/python" crates/view/tests/browser.py "$(realpath "$wavebound")" "$(realpath -m "${1:-$target/viewer-tests/shots}")"
