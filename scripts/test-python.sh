#!/usr/bin/env bash
# Builds the Python package into an environment of its own and tests it, notebooks included. Certificates and sweeps are compared with
# the command that WAVEBOUND names (default: the release build).
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export WAVEBOUND=${WAVEBOUND:-$target/release/wavebound}
[ -x "$WAVEBOUND" ] || cargo build --locked --release
venv=$target/python-tests
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check maturin mypy
"$venv/bin/pip" install --quiet --disable-pip-version-check './python[test]'
# Not from the folder of the sources: what is tested is what was installed.
(cd "$venv" && bin/pytest -q -p no:cacheprovider "$OLDPWD/python/tests")
# The package, as its users' type checkers see it.
(cd "$venv" && bin/mypy --strict --cache-dir /dev/null --config-file "$OLDPWD/python/pyproject.toml" -p wavebound)
