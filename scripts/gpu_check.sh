#!/usr/bin/env bash
# Runs the tests of the CUDA kernels, from binaries that are there: the machine
# needs no compiler. Usage: scripts/gpu_check.sh [FOLDER [--sanitize]]
# FOLDER holds bin/ (tests and disco-bench) and lib/; default: build, where the
# tests are in test/Unit. With --sanitize also compute-sanitizer's memcheck and
# racecheck. Fails when there is no device.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build}
tests=$folder/test/Unit
[ -d "$tests" ] || tests=$folder/bin
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export DISCO_GOLDEN_FOLDER=${DISCO_GOLDEN_FOLDER:-$root/test/Integration/golden/}

failed=0
run() { # name, command
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1 && ! grep -q '^\[  SKIPPED \]' "$log"; then
    echo "gpu_check: $name: ok ($(grep -c '^\[       OK \]' "$log") tests)"
  else
    echo "gpu_check: $name: FAILED"
    grep -vE '^\[ RUN|^\[       OK' "$log" | head -60
    failed=1
  fi
  rm -f "$log"
}

for test in "$tests"/*DeviceTests "$tests"/CudaCoreTests; do
  [ -x "$test" ] && run "$(basename "$test")" "$test"
done
# Kernels as the driver compiles them from the PTX for sm_80.
CUDA_FORCE_PTX_JIT=1 run "csr_gather from PTX" "$tests/CsrGatherDeviceTests" \
  --gtest_filter='CsrGather.*:-*Narrow*'
if [ "${2:-}" = --sanitize ]; then
  # Allocations have exactly their sizes. Races: what runs in seconds.
  shifts='CsrGather.Shifts*:Call.Two*'
  run "csr_gather under memcheck" compute-sanitizer --tool memcheck --error-exitcode 9 \
    "$tests/CsrGatherDeviceTests" --gtest_filter="CsrGather.Whole*:CsrGather.Empty*:$shifts"
  run "csr_gather under racecheck" compute-sanitizer --tool racecheck --error-exitcode 9 \
    "$tests/CsrGatherDeviceTests" --gtest_filter="$shifts"
fi
exit $failed
