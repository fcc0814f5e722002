#!/usr/bin/env python3
"""Pages and tables of what gpu_bench.sh and gpu_profile.sh measured.

Usage:
  gpu_page.py MEASURED.jsonl... PAGE.md
      a page in Markdown; docs/Benchmarks/h200.md is that of bench/data/*.jsonl
  gpu_page.py --csv TABLE.csv MEASURED.jsonl...
      adds rows to a table, or replaces those of the same kernel and schedule
  gpu_page.py --profile PROFILED.csv PAGE.md
"""

import csv
import json
import pathlib
import sys

# torch-harmonics (development version of August 2026, torch 2.11, CUDA 13.0) on
# one H200, medians in ms: its CSR contraction and the transpose of it in f32,
# its K-packed contraction in bf16.
BASELINE = {
    ("self256", "contract", "f32"): 6.01,
    ("down", "contract", "f32"): 12.9,
    ("local828", "contract", "f32"): 48.0,
    ("encoder", "contract", "f32"): 23.6,
    ("decoder", "contract", "f32"): 622,
    ("deg1", "contract", "f32"): 0.47,
    ("self512", "contract", "f32"): 11.9,
    ("self256", "contract_sum", "f32"): 10.1,
    ("down", "contract_sum", "f32"): 16.7,
    ("local828", "contract_sum", "f32"): 88.9,
    ("encoder", "contract_sum", "f32"): 30.2,
    ("decoder", "contract_sum", "f32"): 1168,
    ("deg1", "contract_sum", "f32"): 0.64,
    ("self512", "contract_sum", "f32"): 20.1,
    ("self256", "contract", "bf16"): 4.08,
    ("self512", "contract", "bf16"): 8.09,
    ("down", "contract", "bf16"): 4.35,
    ("local828", "contract", "bf16"): 27.0,
    ("encoder", "contract", "bf16"): 8.18,
    ("decoder", "contract", "bf16"): 361,
    ("deg1", "contract", "bf16"): 0.25,
}
# The layers of include/disco/Planning/Layers.def, which the table is about.
LAYERS = ["self256", "self512", "down", "local828", "encoder", "decoder", "deg1"]
COLUMNS = ["layer", "family", "op", "dtype", "layout", "fields", "median_ms"]


def read(sources):
    """What nvidia-smi said, the devices, and the measurements."""
    smi, devices, rows = "", [], []
    for source in sources:
        for line in pathlib.Path(source).read_text().splitlines():
            entry = json.loads(line)
            if "nvidia_smi" in entry:
                smi = entry["nvidia_smi"]
            elif "problem" in entry:
                rows.append(entry)
            elif "copy_gbs" in entry:
                devices.append(entry)
    if not rows or not devices:
        sys.exit("gpu_page: error: expected measurements, but got none")
    return smi, devices, rows


def fields_of(row):
    return row.get("fields", "").replace(",", " ")


def write_page(sources, page):
    smi, devices, rows = read(sources)
    device = devices[0]
    text = [
        f"# {device['device']}",
        "",
        f"Measured {device['date']} on one {device['device']} ({device['arch']}, driver for CUDA "
        f"{device['driver_cuda']}; nvidia-smi: {smi}). Device copy {device['copy_gbs']} GB/s (read and written), "
        f"{device['fma_tflops']} TFLOP/s of f32 multiply-adds at {device['clock_mhz']} MHz.",
        "",
        "Each answer was checked against float64 in the same process, and two runs gave the same bits. The median is "
        "of single launches with a cold L2, sustained the mean of launches back to back (with the clock meanwhile). "
        "A layout is that of x and y; toeplitz_wgmma packs x in nchw itself, within the time. Where no schedule is "
        "named the family chose. The bound is the bytes of each tensor once by the copy rate or, without tensor cores, "
        "the useful FLOP by the multiply-add rate if that is more. torch-harmonics: medians of its CSR kernels in f32 and its K-packed kernel in bf16 (development version of August 2026, torch "
        "2.11, CUDA 13.0) on one H200.",
        "",
        "| problem | family | direction | dtype | layout | schedule | batch | order | median ms | min ms "
        "| sustained ms (MHz) | TFLOP/s | bound ms | bound / median | torch-harmonics ms | times faster "
        "| workspace MB | error | when (UTC) |",
        "|---" * 19 + "|",
    ]
    for r in rows:
        base = BASELINE.get((r["problem"], r["direction"], r["dtype"])) if r["batch"] == 1 else None
        sustained = f"{r['sustained_ms']:.3f} ({r['sustained_clock_mhz']})" if r["sustained_ms"] else "-"
        faster = f"{base / r['median_ms']:.1f}" if base else "-"
        on_tensor = r["family"].endswith("_wgmma")
        bound = r["gbytes"] * 1e3 / device["copy_gbs"] if on_tensor else r["bound_ms"]
        text.append(
            f"| {r['problem']} | {r['family']} | {r['direction']} | {r['dtype']} | {r.get('layout', 'nchw')} "
            f"| {fields_of(r) or '-'} | {r['batch']} | {r['order']} "
            f"| {r['median_ms']:.3f} | {r['min_ms']:.3f} | {sustained} "
            f"| {r['tflops']:.1f} | {bound:.3f} | {bound / r['median_ms']:.2f} "
            f"| {base if base else '-'} | {faster} "
            f"| {r['workspace_bytes'] / 1e6:.1f} | {r['error']:.1e}{'' if r['ok'] else ' (wrong)'} "
            f"| {r['date'][:16].replace('T', ' ')} |"
        )
    pathlib.Path(page).write_text("\n".join(text) + "\n")


def write_table(table, sources):
    """Measurements of batch 1 whose answers were right. The op of a conv with the weight first says so."""
    _, _, measured = read(sources)
    path = pathlib.Path(table)
    rows = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(file):
                rows[tuple(row[name] for name in COLUMNS[:-1])] = row["median_ms"]
    for r in measured:
        if r["ok"] and r["problem"] in LAYERS and r["batch"] == 1 and r["direction"] != "input_grad":
            op = r["direction"] + ("_weight_first" if r["order"] == "weight_first" else "")
            key = (r["problem"], r["family"], op, r["dtype"], r.get("layout", "nchw"), fields_of(r))
            rows[key] = f"{r['median_ms']:.4f}"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for key in sorted(rows):
            writer.writerow([*key, rows[key]])


# What the page of profiles shows: a title, ncu's name, and how it is written.
COUNTERS = [
    ("us", "gpu__time_duration.sum", "{:.1f}"),
    ("tensor %", "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", "{:.0f}"),
    ("FMA %", "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "{:.0f}"),
    ("issue %", "smsp__issue_active.avg.pct_of_peak_sustained_active", "{:.0f}"),
    ("LSU data %", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "{:.0f}"),
    ("L1 %", "L1/TEX Cache Throughput", "{:.0f}"),
    ("L2 %", "L2 Cache Throughput", "{:.0f}"),
    ("L1 hit %", "l1tex__t_sector_hit_rate.pct", "{:.0f}"),
    ("L2 hit %", "lts__t_sector_hit_rate.pct", "{:.0f}"),
    ("DRAM %", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "{:.0f}"),
    ("warps %", "sm__warps_active.avg.pct_of_peak_sustained_active", "{:.0f}"),
    ("registers", "launch__registers_per_thread", "{:.0f}"),
]
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3, "s": 1e6}


def write_profile(source, page):
    device, profiles, problem = "", [], ""
    for line in csv.reader(pathlib.Path(source).read_text().splitlines()):
        if line and line[0].startswith("# device: "):
            device = ",".join(line)[len("# device: "):]
        elif line and line[0].startswith("# "):
            problem = ",".join(line)[2:]
            profiles.append((problem, {}))
        elif line and line[0] == "ID":
            header = line
        elif line and profiles:
            row = dict(zip(header, line))
            found = profiles[-1][1]
            found["kernel"] = row["Kernel Name"].split("(")[0]
            try:
                value = float(row["Metric Value"].replace(",", ""))
            except ValueError:
                continue
            if row["Metric Name"] == "gpu__time_duration.sum":
                value *= MICROSECONDS[row["Metric Unit"]]
            found[row["Metric Name"]] = value
    profiles = [profile for profile in profiles if profile[1]]
    if not profiles:
        sys.exit("gpu_page: error: expected profiles, but got none")
    text = [
        "# Profiles on one H200",
        "",
        f"One launch each, counted by Nsight Compute with the clocks left alone; {device}. The counters are ncu's in "
        "per cent of what the unit can do. Written by `scripts/gpu_page.py --profile` of what `scripts/gpu_profile.sh` "
        "prints.",
        "",
        "| kernel | disco-bench | " + " | ".join(title for title, _, _ in COUNTERS) + " |",
        "|---|---|" + "---|" * len(COUNTERS),
    ]
    for problem, found in profiles:
        cells = [form.format(found[name]) if name in found else "-" for _, name, form in COUNTERS]
        text.append(f"| {found['kernel']} | {problem} | " + " | ".join(cells) + " |")
    pathlib.Path(page).write_text("\n".join(text) + "\n")


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "--profile":
        write_profile(*arguments[1:])
    elif len(arguments) > 2 and arguments[0] == "--csv":
        write_table(arguments[1], arguments[2:])
    elif len(arguments) > 1 and not arguments[0].startswith("--"):
        write_page(arguments[:-1], arguments[-1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
