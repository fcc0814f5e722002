#!/usr/bin/env bash
# Compiles and runs two examples on a CPU and draws what went in and came out:
# a small spherical network (examples/spherical-network) and a gradient filter
# (examples/gradient-filter). Does its own set-up on a fresh machine. Fails when
# a result differs from its reference.
#
# Usage: scripts/demo.sh [--small] [--build DIR] [OUTDIR]
#   OUTDIR        where everything is written (default: build/demo)
#   --small       the network on a quarter of the resolution
#   --build DIR   take the tools from this build and build nothing

set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
fine=181x360 coarse=90x180 build='' out=''
while [ $# -gt 0 ]; do
  case "$1" in
    --small) fine=46x90 coarse=23x45 ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    -h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "demo: unknown option '$1' (see --help)" >&2; exit 2 ;;
    *) [ -z "$out" ] || { echo "demo: expected one folder, but got '$out' and '$1'" >&2; exit 2; }
      out=$1 ;;
  esac
  shift
done

say() { printf '\n== %3d s  %s\n' "$SECONDS" "$*"; }
# quiet COMMAND...: shows what it wrote only when it fails.
quiet() {
  local text
  text=$("$@" 2>&1) || { printf '%s\n' "demo: failed: $*" "$text" >&2; exit 1; }
}
trap 'echo "demo: FAILED" >&2' ERR

if [ -z "$build" ]; then
  say "building (the first time takes some minutes)"
  "$repo/scripts/build.sh" release
  build=$repo/build
fi
build=$(cd "$build" && pwd)
PATH=$build/bin:$PATH
out=${out:-$build/demo}
mkdir -p "$out/data" "$out/pictures"
cd "$out"

say "making the fields (a Rossby-Haurwitz wave with a jet, $fine) and the weights"
make-demo-inputs data "$fine"
sed "s/181x360/$fine/g; s/90x180/$coarse/g" \
  "$repo/examples/spherical-network/network.mlir" >network.mlir
[ "$fine" = 181x360 ] || sed -i 's/cutoff = 7e-2/cutoff = 2.8e-1/' network.mlir
filter_of() { sed -n "s/^#$2 = //p" "$1"; }

say "the filters of the network"
for layer in encoder block1 block2 decoder; do
  printf '%-8s ' "$layer"
  disco-inspect filter "$(filter_of network.mlir $layer)" |
    sed -n 's/^taps  *\([0-9]*\), /\1 taps, /p'
done

say "compiling network.mlir into network.so"
disco-compile network.mlir -o network.so
inputs=(--input data/x.npy)
for layer in encoder block1 block2 decoder; do
  inputs+=(--input data/${layer}_weight.npy --input data/${layer}_bias.npy)
done

say "running it, and the same network in float64 without the compiler"
disco-run network.so "${inputs[@]}" --output y.npy --repeat 5
network-reference network.mlir data y.npy

say "every operation against its float64 reference, with times"
disco-run network.mlir "${inputs[@]}" --verify --profile

say "the gradient of the height"
gradient=$repo/examples/gradient-filter/gradient.mlir
disco-compile "$gradient" -o gradient.so
make-demo-inputs data 181x360
