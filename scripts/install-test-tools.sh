#!/usr/bin/env bash
# Installs what the tests need beyond cargo and a C compiler, from Debian's packages. Does nothing when it is there.
set -euo pipefail
need=()
command -v clang-19 > /dev/null || need+=(clang-19)
command -v ld.lld-19 > /dev/null || need+=(lld-19)
command -v llvm-mc-19 > /dev/null || need+=(llvm-19)
[ -d /usr/lib/x86_64-linux-gnu/amdgcn/bitcode ] || need+=(rocm-device-libs)
if [ ${#need[@]} -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${need[@]}"
fi
