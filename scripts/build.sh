#!/usr/bin/env bash
# Configures and builds a preset (default: release) with all that it needs.
# Usage: scripts/build.sh [PRESET [TARGET...]]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true

scripts/install_deps.sh
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
args=()
for target in "$@"; do args+=(--target "$target"); done
# Progress for people; in a pipe or a log only what goes wrong.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" -DCMAKE_C_COMPILER_LAUNCHER=ccache \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
if [ -t 1 ]; then
  cmake --build --preset "$preset" "${args[@]}"
else
  cmake --build --preset "$preset" "${args[@]}" >"$log" 2>&1 || { cat "$log"; exit 1; }
fi
