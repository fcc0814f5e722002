#!/usr/bin/env bash
# Puts what gpu_check.sh, gpu_bench.sh and gpu_profile.sh need into a folder to
# take to a machine with a GPU: stripped tests, disco-bench, libraries, golden
# data (all of it where ../shared has it) and the scripts.
# Usage: scripts/gpu_pack.sh FOLDER [BUILD]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
build=${2:-$root/build}
mkdir -p "$folder/bin" "$folder/lib" "$folder/scripts"
for file in "$build"/test/Unit/*DeviceTests "$build/test/Unit/CudaCoreTests" "$build/bin/disco-bench"; do
  strip -o "$folder/bin/$(basename "$file")" "$file"
done
for file in libdisco_runtime.so.1 libdisco_runtime_cuda.so; do
  strip -o "$folder/lib/$file" "$build/lib/$file"
done
cp "$root"/scripts/gpu_* "$folder/scripts/"
# As deep as in the sources, so that the tests find shared/golden.
golden=$folder/sources/test/Integration/golden
mkdir -p "$golden"
cp "$root"/test/Integration/golden/* "$golden/"
if [ -d "$root/../shared/golden" ]; then
  mkdir -p "$folder/shared/golden"
  cp "$root"/../shared/golden/conv_*.npy "$folder/shared/golden/"
fi
du -sh "$folder"
