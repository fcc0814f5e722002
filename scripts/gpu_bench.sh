#!/usr/bin/env bash
# Measures the CUDA kernels, from binaries that are there, and checks every
# answer. Usage: scripts/gpu_bench.sh FOLDER OUTPUT.jsonl [disco-bench options]
# Without options: csr_gather's contractions on the named layers in f32 and
# bf16. scripts/gpu_page.py makes docs/Benchmarks pages of the output.
set -euo pipefail
folder=$1 output=$2
shift 2
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ $# -eq 0 ]; then
  set -- self256 down local828 encoder deg1 --direction contract,contract_sum \
    --dtype f32,bf16
fi
{
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw \
    --format=csv,noheader | sed 's/.*/{"nvidia_smi": "&"}/'
  "$folder/bin/disco-bench" "$@" --device cuda:0 --json
} | tee -a "$output"
