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
both=(--direction "contract,contract_sum")
layers=(self256 self512 deg1 down encoder local828)
schedules=contract:rows=1,lon_groups=18,stages=3
for schedule in rows=8,lon_groups=18 rows=4,lon_groups=18 rows=4,lon_groups=9 rows=8,lon_groups=9; do
  schedules+=/contract_sum:$schedule,stages=3
done
toeplitz=(--family toeplitz_wgmma "${both[@]}" --fields "$schedules" --dtype "bf16,f16" --layout "c8,nchw")
bench "${layers[@]}" "${toeplitz[@]}"
bench decoder "${toeplitz[@]}" --repeat 20 --sustained 0
bench "${layers[@]}" "${both[@]}" --dtype f32,bf16
