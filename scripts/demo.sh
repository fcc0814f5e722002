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
# brief: leaves out the lines about single tensors.
brief() { grep -v '^input\|^output'; }
trap 'echo "demo: FAILED" >&2' ERR

if [ -z "$build" ]; then
  say "building (the first time takes some minutes)"
  "$repo/scripts/build.sh" release
  build=$repo/build
fi
build=$(cd "$build" && pwd)
PATH=$build/bin:$PATH
out=${out:-$build/demo}
mkdir -p "$out/data" "$out/gradient" "$out/pictures"
cd "$out"
out=$PWD

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
disco-run network.so "${inputs[@]}" --output y.npy --repeat 5 | brief
network-reference network.mlir data y.npy

say "every operation against its float64 reference, with times"
disco-run network.mlir "${inputs[@]}" --verify --profile | brief

say "the gradient of the height by a filter, and the analytic one (181x360)"
gradient=$repo/examples/gradient-filter/gradient.mlir
make-demo-inputs gradient 181x360
disco-compile "$gradient" -o gradient.so
disco-run gradient.so --input gradient/height.npy --input gradient/slope_weight.npy \
  --output gradient/computed.npy --output gradient/steepness-computed.npy | brief
gradient-check gradient/slope.npy gradient/computed.npy gradient/steepness-analytic.npy

say "drawing"
draw() { # projections of one channel: FILE CHANNEL NAME TITLE
  local projection
  for projection in equirectangular orthographic; do
    disco-inspect field "$1" --channel "$2" --title "$4" --projection $projection \
      --plot "pictures/$3-$projection.png"
  done
}
fields=("eastward wind" "northward wind" "height" "vorticity")
units=("m/s" "m/s" "m" "1e-5/s")
panels=()
for c in 0 1 2 3; do
  draw data/field.npy $c "input-$c" "${fields[c]} (${units[c]})"
  draw y.npy $c "output-$c" "output of the network, channel $c"
  panels+=(map data/field.npy $c auto "input: ${fields[c]} (${units[c]})"
    map y.npy $c auto "output: channel $c (random weights)")
done
picture-grid pictures/network.png 2 "${panels[@]}"
for layer in encoder block1; do
  quiet disco-inspect filter "$(filter_of network.mlir $layer)" --plot "pictures/filter-$layer.png"
done
quiet disco-inspect filter "$(filter_of "$gradient" slope)" --plot pictures/filter-slope.png
draw gradient/computed.npy 0 gradient-east "derivative of the height towards the east (m/km)"
draw gradient/computed.npy 1 gradient-north "derivative of the height towards the north (m/km)"
draw gradient/steepness-computed.npy 0 gradient-steepness "steepness of the height, computed by the filter (m/km)"
picture-grid pictures/gradient.png 2 \
  map gradient/field.npy 2 auto "height (m)" \
  globe gradient/steepness-computed.npy 0 0,1.4 "steepness, computed (m/km)" \
  map gradient/steepness-computed.npy 0 0,1.4 "steepness, computed by the filter (m/km)" \
  map gradient/steepness-analytic.npy 0 0,1.4 "steepness, analytic (m/km)"

say "done; pictures in $out/pictures:"
cat <<END
network.png                  the four input fields and the four outputs
gradient.png                 height, steepness by the filter, steepness by the formula
filter-{encoder,block1,slope}.png
                             the filters at three latitudes and on the world map
{input,output,gradient}-*-{equirectangular,orthographic}.png
                             every field by itself, as a map and as a globe
END
