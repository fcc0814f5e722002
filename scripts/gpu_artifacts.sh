#!/usr/bin/env bash
# Golden layers as compiled artifacts on a GPU, in two parts: a machine with the
# compiler makes them, a machine with a GPU runs them.
#
#   scripts/gpu_artifacts.sh compile FOLDER [BUILD]   needs BUILD (default: build)
#   scripts/gpu_artifacts.sh run FOLDER               needs a GPU, nothing else
#
# FOLDER gets bin/, lib/, artifacts/ and golden/: all that the second part needs.
# It fails unless exactly those cases pass that were compiled.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | grep -v '^set'; exit 2; }
part=$1 folder=$2 build=${3:-$root/build}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Family, what is compiled, and what for.
rows="csr_gather artifact h200
csr_gather dtypes h200
csr_gather dtypes a100
csr_gather contract h200
csr_gather contract_sum h200
toeplitz_wgmma contract h200
toeplitz_wgmma contract_sum h200"

compile() {
  mkdir -p "$folder"/{bin,lib,artifacts,golden}
  cp -L "$build"/bin/disco-{golden-check,compiled-check,run} "$folder/bin"
  cp -L "$build"/lib/libdisco_runtime.so.1 "$folder/lib"
  cp -L "$build"/lib/libdisco_runtime_cuda.so "$folder/lib"
  cp -L "$build"/test/artifacts/artifact-steps.so "$folder/artifacts"
  cp -L "$build"/test/Unit/ArtifactDeviceTests "$folder/bin"
  # All reference results where they are at hand, else those kept here.
  data=$root/test/Integration/golden
  cp "$data"/*.tsv "$data"/conv_*.npy "$folder/golden"
  [ -e "$root/../shared/golden/manifest.json" ] && data=$root/../shared/golden
  cp -f "$data"/conv_*.npy "$folder/golden"
  : >"$folder/artifacts/counts"
  while read -r family kind target; do
    name=$family.$kind.$target
    "$build/bin/disco-golden-check" "$kind" --only compile --artifacts "$folder/artifacts/$name" \
      --family "$family" --target "$target" --tools "$build/bin" --work "$work" \
      --tables "$root/test/Integration/golden" --data "$data" >"$work/log" ||
      { grep '^FAIL' "$work/log"; exit 1; }
    echo "$name: $(tail -1 "$work/log")" | tee -a "$folder/artifacts/counts"
  done <<<"$rows"
  [ "$data" = "$root/test/Integration/golden" ] || touch "$folder/golden/all"
  # All operations with gradients and epilogues.
  for dtype in f64 f32 f16 bf16; do
    "$build/bin/disco-compiled-check" sphere $dtype csr_gather "$build/bin" \
      "$folder/artifacts/compiled" h200 compile >"$work/log" || { cat "$work/log"; exit 1; }
  done
}

run() {
  export LD_LIBRARY_PATH=$folder/lib DISCO_ARTIFACT_FOLDER=$folder/artifacts/
  "$folder/bin/ArtifactDeviceTests" >"$work/log" 2>&1 && ! grep -q SKIPPED "$work/log" ||
    { grep -E 'Failure|SKIPPED' -A6 "$work/log" | head -60; exit 1; }
  tail -1 "$work/log"
  # With --data the tables' folder is another one: all cases count.
  mkdir "$work/tables"
  cp "$folder"/golden/*.tsv "$work/tables"
  tables=$folder/golden
  [ -e "$folder/golden/all" ] && tables=$work/tables
  failed=0
  while read -r family kind target; do
    name=$family.$kind.$target
    "$folder/bin/disco-golden-check" "$kind" --only run --artifacts "$folder/artifacts/$name" \
      --device cuda:0 --tools "$folder/bin" --work "$work" \
      --tables "$tables" --data "$folder/golden" >"$work/log" || failed=1
    got="$name: $(tail -1 "$work/log")"
    echo "$got"
    grep '^FAIL' "$work/log" | head -20 || true
    if ! grep -qxF "$got" "$folder/artifacts/counts"; then
      echo "gpu_artifacts: expected $(grep "^$name:" "$folder/artifacts/counts")"
      failed=1
    fi
  done <<<"$rows"
  for dtype in f64 f32 f16 bf16; do
    "$folder/bin/disco-compiled-check" sphere $dtype csr_gather "$folder/bin" \
      "$folder/artifacts/compiled" h200 run >"$work/log" || failed=1
    echo "csr_gather operations $dtype: $(tail -1 "$work/log")"
    grep '^FAIL' "$work/log" | head -20 || true
    if [ "$(tail -1 "$work/log")" != "184 passed, 0 failed" ]; then
      echo "gpu_artifacts: expected 184 passed, 0 failed"
      failed=1
    fi
  done
  exit $failed
}

case $part in
  compile | run) "$part" ;;
  *) echo "gpu_artifacts: expected compile or run, but got '$part'" >&2; exit 2 ;;
esac
