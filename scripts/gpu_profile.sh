#!/usr/bin/env bash
# Profiles one launch of each kernel of a problem with ncu, clocks left alone.
# Usage: scripts/gpu_profile.sh FOLDER OUTPUT.csv KERNEL_REGEX disco-bench options
set -euo pipefail
folder=$1 output=$2 kernels=$3
shift 3
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
metrics=gpu__time_duration.sum
metrics+=,smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
metrics+=,sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active
metrics+=,l1tex__t_sector_hit_rate.pct,dram__bytes.sum,lts__t_bytes.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__data_bank_conflicts_pipe_lsu.sum
metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,launch__registers_per_thread,launch__occupancy_limit_registers
metrics+=,launch__occupancy_limit_shared_mem
ncu --clock-control none --csv --kernel-name "regex:$kernels" \
  --section SpeedOfLight --section MemoryWorkloadAnalysis \
  --section ComputeWorkloadAnalysis --metrics "$metrics" \
  --launch-skip 3 --launch-count 1 \
  "$folder/bin/disco-bench" "$@" --device cuda:0 --warm-up 1 --repeat 1 \
  --sustained 0 --json >"$output"
