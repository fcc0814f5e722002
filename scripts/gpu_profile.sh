#!/usr/bin/env bash
# Profiles one launch of a kernel with ncu, clocks left alone.
# Usage: scripts/gpu_profile.sh FOLDER OUTPUT.csv [KERNEL_REGEX PROBLEM disco-bench options]
# FOLDER is what gpu_pack.sh made. Appends to OUTPUT; without a kernel: those
# that docs/Profiling shows. scripts/gpu_page.py --profile makes the page.
set -euo pipefail
folder=$(cd "$1" && pwd) output=$2
shift 2
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
metrics=gpu__time_duration.sum
metrics+=,smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
metrics+=,sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active
metrics+=,sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active
metrics+=,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes.sum,lts__t_bytes.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,lts__t_sectors.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__m_xbar2l1tex_read_bytes.sum.pct_of_peak_sustained_elapsed
metrics+=,l1tex__m_l1tex2xbar_write_bytes.sum.pct_of_peak_sustained_elapsed
metrics+=,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__data_bank_conflicts_pipe_lsu.sum
metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,launch__registers_per_thread,launch__occupancy_limit_registers
metrics+=,launch__occupancy_limit_shared_mem
profile() { # kernel, problem and options
  local kernel=$1
  shift
  echo "# $*" >>"$output"
  # The first launches are those of prepare's check and of the warm-up.
  ncu --clock-control none --csv --kernel-name "regex:$kernel" \
    --section SpeedOfLight --section MemoryWorkloadAnalysis \
    --section ComputeWorkloadAnalysis --metrics "$metrics" \
    --launch-skip 3 --launch-count 1 \
    "$folder/bin/disco-bench" "$@" --device cuda:0 --warm-up 1 --repeat 1 \
    --sustained 0 --json | grep '^"' >>"$output"
}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader |
  sed "s/.*/# device: &, $(date -u +%FT%TZ)/" >>"$output"
if [ $# -gt 0 ]; then
  profile "$@"
  exit
fi
toeplitz=(--family toeplitz_wgmma --dtype bf16)
profile toeplitz self256 "${toeplitz[@]}" --direction contract --layout c8
profile toeplitz self256 "${toeplitz[@]}" --direction contract_sum --layout c8
profile toeplitz self256 "${toeplitz[@]}" --direction contract --layout nchw
profile toeplitz encoder "${toeplitz[@]}" --direction contract --layout c8
profile nchw_to_c8 self256 "${toeplitz[@]}" --direction contract --layout nchw
profile csr_contract self256 --family csr_gather --dtype f32 --direction contract
profile csr_contract_sum self256 --family csr_gather --dtype f32 --direction contract_sum
