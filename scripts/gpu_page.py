#!/usr/bin/env python3
"""Writes a page in Markdown of what gpu_bench.sh measured.

Usage: gpu_page.py MEASURED.jsonl PAGE.md
"""

import json
import pathlib
import sys

# torch-harmonics (development version of August 2026, torch 2.11, CUDA 13.0) on
# one H200, medians in ms: its CSR contraction and the transpose of it, in f32.
BASELINE = {
    ("self256", "contract", "f32"): 6.01,
    ("down", "contract", "f32"): 12.9,
    ("local828", "contract", "f32"): 48.0,
    ("encoder", "contract", "f32"): 23.6,
    ("deg1", "contract", "f32"): 0.47,
    ("self512", "contract", "f32"): 11.9,
    ("self256", "contract_sum", "f32"): 10.1,
    ("down", "contract_sum", "f32"): 16.7,
    ("local828", "contract_sum", "f32"): 88.9,
    ("encoder", "contract_sum", "f32"): 30.2,
    ("deg1", "contract_sum", "f32"): 0.64,
    ("self512", "contract_sum", "f32"): 20.1,
}


def faster(base, row):
    return f"{base / row['median_ms']:.1f}" if base else "-"


def sustained(row):
    return f"{row['sustained_ms']:.3f} ({row['sustained_clock_mhz']})" if row["sustained_ms"] else "-"


def main():
    source, page = sys.argv[1:3]
    device, rows = None, []
    for line in pathlib.Path(source).read_text().splitlines():
        entry = json.loads(line)
        if "nvidia_smi" in entry:
            smi = entry["nvidia_smi"]
        elif "problem" in entry:
            rows.append(entry)
        else:
            device = entry
    if not rows:
        sys.exit("gpu_page: error: expected measurements, but got none")
    text = [
        f"# {device['device']}",
        "",
        f"Measured {device['date']} on one {device['device']} ({device['arch']}, driver for CUDA "
        f"{device['driver_cuda']}; nvidia-smi: {smi}). Device copy {device['copy_gbs']} GB/s (read and written), "
        f"{device['fma_tflops']} TFLOP/s of f32 multiply-adds at {device['clock_mhz']} MHz.",
        "",
        "Each answer was checked against float64 in the same process, and two runs gave the same bits. The median is "
        "of single launches with a cold L2, sustained the mean of launches back to back (with the clock meanwhile). "
        "The bound is the larger of bytes by the copy rate (each tensor once) and useful FLOP by the multiply-add "
        "rate. torch-harmonics: medians of its CSR kernels in f32 (development version of August 2026, torch 2.11, CUDA "
        "13.0) on one H200.",
        "",
        "| problem | family | direction | dtype | batch | order | median ms | min ms | sustained ms (MHz) | TFLOP/s "
        "| bound ms | bound / median | torch-harmonics ms | times faster | workspace MB | error | when (UTC) |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        base = BASELINE.get((r["problem"], r["direction"], r["dtype"])) if r["batch"] == 1 else None
        text.append(
            f"| {r['problem']} | {r['family']} | {r['direction']} | {r['dtype']} | {r['batch']} | {r['order']} "
            f"| {r['median_ms']:.3f} | {r['min_ms']:.3f} | {sustained(r)} "
            f"| {r['tflops']:.1f} | {r['bound_ms']:.3f} | {r['bound_ms'] / r['median_ms']:.2f} "
            f"| {base if base else '-'} | {faster(base, r)} "
            f"| {r['workspace_bytes'] / 1e6:.1f} | {r['error']:.1e}{'' if r['ok'] else ' (wrong)'} "
            f"| {r['date'][:16].replace('T', ' ')} |"
        )
    pathlib.Path(page).write_text("\n".join(text) + "\n")



if __name__ == "__main__":
    main()
