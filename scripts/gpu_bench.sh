#!/usr/bin/env bash
# Measures the CUDA kernels, from binaries that are there, and checks every
# answer. Usage: scripts/gpu_bench.sh FOLDER OUTPUT.jsonl [disco-bench options]
# FOLDER is what gpu_pack.sh made. Without options: the contractions of the
# named layers, csr_gather in f32 and bf16, toeplitz_wgmma in bf16 and f16, in
# c8 and nchw. scripts/gpu_page.py makes pages and tables of the output.
set -euo pipefail
folder=$(cd "$1" && pwd) output=$2
shift 2
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
bench() {
  "$folder/bin/disco-bench" "$@" --device cuda:0 --json | tee -a "$output"
}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw \
  --format=csv,noheader | sed 's/.*/{"nvidia_smi": "&"}/' | tee -a "$output"
if [ $# -gt 0 ]; then
  bench "$@"
  exit
fi
layers=(self256 self512 deg1 down encoder local828)
sums=rows=8,lon_groups=18,stages=3/rows=4,lon_groups=18,stages=3/rows=4,lon_groups=9,stages=3/rows=8,lon_groups=9,stages=3
toeplitz() { # direction, schedules, dtype, layout
  local options=(--family toeplitz_wgmma --direction "$1" --fields "$2" --dtype "$3" --layout "$4")
  bench "${layers[@]}" "${options[@]}"
  bench decoder "${options[@]}" --repeat 20 --sustained 0
}
for dtype in bf16 f16; do
  for layout in c8 nchw; do
    toeplitz contract rows=1,lon_groups=18,stages=3 $dtype $layout
    toeplitz contract_sum $sums $dtype $layout
  done
done
bench "${layers[@]}" --direction contract,contract_sum --dtype f32,bf16
