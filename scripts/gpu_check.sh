#!/usr/bin/env bash
# Runs the tests of the CUDA kernels, from binaries that are there: the machine
# needs no compiler. Usage: scripts/gpu_check.sh [FOLDER [--sanitize] [--json FILE]]
# FOLDER is what gpu_pack.sh made, or a build folder (default: build). With
# --sanitize also compute-sanitizer's memcheck and racecheck. FILE gets a line
# of JSON for each step. Fails when there is no device, when a test fails or is
# skipped, and when the golden cases that ran are not exactly those that there
# are.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build sanitize=0 json=/dev/null
if [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; then
  folder=$(cd "$1" && pwd)
  shift
fi
while [ $# -gt 0 ]; do
  case "$1" in
    --sanitize) sanitize=1 ;;
    --json) json=$2; shift ;;
    *) echo "gpu_check: unknown argument '$1'" >&2; exit 2 ;;
  esac
  shift
done
tests=$folder/test/Unit
[ -d "$tests" ] || tests=$folder/bin
golden=$folder/sources/test/Integration/golden/
[ -d "$golden" ] || golden=$root/test/Integration/golden/
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export DISCO_GOLDEN_FOLDER=${DISCO_GOLDEN_FOLDER:-$golden}
export DISCO_ARTIFACT_FOLDER=$folder/test/artifacts/

device=$(nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader | head -1)
printf '{"nvidia_smi": "%s", "date": "%s"}\n' "$device" "$(date -u +%FT%TZ)" >>"$json"
failed=0
log=$(mktemp) ran=$(mktemp)
trap 'rm -f "$log" "$ran"' EXIT
run() { # name, command
  local name=$1 start=$SECONDS ok=true count
  shift
  if ! "$@" >"$log" 2>&1 || grep -q '^\[  SKIPPED \]' "$log"; then
    ok=false failed=1
  fi
  count=$(grep -c '^\[       OK \]' "$log" || true)
  [ "$count" -gt 0 ] || ok=false failed=1
  if [ $ok = true ]; then
    echo "gpu_check: $name: ok ($count tests, $((SECONDS - start)) s)"
  else
    echo "gpu_check: $name: FAILED"
    grep -vE '^\[ RUN|^\[       OK' "$log" | head -60
  fi
  printf '{"check": "%s", "ok": %s, "tests": %d, "seconds": %d}\n' "$name" $ok "$count" $((SECONDS - start)) >>"$json"
}

for test in "$tests"/*DeviceTests "$tests"/CudaCoreTests; do
  [ -x "$test" ] || continue
  run "$(basename "$test")" "$test"
  grep '^golden: ' "$log" >>"$ran" || true
done
# Kernels as the driver compiles them from the PTX for sm_80.
CUDA_FORCE_PTX_JIT=1 run "csr_gather from PTX" "$tests/CsrGatherDeviceTests" \
  --gtest_filter='CsrGather.*:-*Narrow*'
CUDA_FORCE_PTX_JIT=1 run "repacks from PTX" "$tests/RepackDeviceTests" \
  --gtest_filter='*EveryPair*:*EveryConversion*'

# Tensors of layers and gradients, all or those that are kept with the sources;
# filters and their adjoints.
tensors=54
[ -e "${DISCO_GOLDEN_FOLDER}../../../../shared/golden/conv_000.x.npy" ] && tensors=95
expected=$(
  for dtype in f64 f32 f16 bf16; do echo "golden: csr_gather $dtype $tensors tensors"; done
  echo "golden: toeplitz_wgmma f16 170 bf16 170 operators"
)
if [ "$(cat "$ran")" = "$expected" ]; then
  sed 's/^/gpu_check: /' "$ran"
else
  echo "gpu_check: expected the golden cases to be"
  echo "$expected"
  echo "but got"
  cat "$ran"
  failed=1
fi

if [ $sanitize = 1 ]; then
  check() { # tool, binary, filter
    run "$2 $3 under $1" compute-sanitizer --tool "$1" --error-exitcode 9 "$tests/$2" --gtest_filter="$3"
  }
  # Allocations have exactly their sizes. Races: what runs in seconds.
  shifts='CsrGather.Shifts*:Call.Two*'
  check memcheck CsrGatherDeviceTests "CsrGather.Whole*:CsrGather.Empty*:$shifts"
  check memcheck ToeplitzWgmmaDeviceTests '*EveryLayout*:*Empty*'
  check memcheck RepackDeviceTests '*EveryPair*:*EveryConversion*:*Graph*'
  check racecheck CsrGatherDeviceTests "$shifts"
  check racecheck ToeplitzWgmmaDeviceTests '*EveryLayout*'
  check racecheck RepackDeviceTests '*EveryPair*'
fi
exit $failed
