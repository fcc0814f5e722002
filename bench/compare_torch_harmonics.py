#!/usr/bin/env python3
"""Compares cpu_gather with torch-harmonics on the same layers, in one process.

Needs PyTorch and torch-harmonics 0.9 with its CPU kernels; takes the runtime
from a build folder and calls it through its C interface. Both get the same
filter tensor (that of torch-harmonics), input and weight. Every comparison
prints the relative L2 difference of the two results, and fails if it is larger
than 1e-4.

    compare_torch_harmonics.py --build build [--layers deg1,self256-q,...]
        [--operations contract,contract_sum,layer] [--threads N] [--repeat N]
        [--clock wall|cpu] [--json FILE]
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import time

# name: (grid in, shape in, grid out, shape out, cutoff, in, out channels, groups)
LG, EQ = "legendre-gauss", "equiangular"
LAYERS = {
    "self256": (LG, (360, 720), LG, (360, 720), 0.017, 256, 256, 1),
    "self512": (LG, (360, 720), LG, (360, 720), 0.017, 512, 512, 1),
    "down": (EQ, (721, 1440), LG, (360, 720), 0.017, 80, 512, 1),
    "local828": (LG, (360, 720), LG, (360, 720), 0.02771993517873347, 828, 828, 1),
    "encoder": (EQ, (721, 1440), LG, (360, 720), 0.02772, 65, 780, 65),
    "deg1": (LG, (180, 360), LG, (180, 360), 0.03, 64, 64, 1),
    "decoder": (EQ, (721, 1440), EQ, (721, 1440), 0.02772, 780, 65, 65),
    "self256-q": (LG, (90, 180), LG, (90, 180), 0.068, 256, 256, 1),
    "self512-q": (LG, (90, 180), LG, (90, 180), 0.068, 512, 512, 1),
    "down-q": (EQ, (181, 360), LG, (90, 180), 0.068, 80, 512, 1),
    "local828-q": (LG, (90, 180), LG, (90, 180), 0.11088, 828, 828, 1),
    "encoder-q": (EQ, (181, 360), LG, (90, 180), 0.11088, 65, 780, 65),
    "decoder-q": (EQ, (181, 360), EQ, (181, 360), 0.11088, 780, 65, 65),
}


class Psi(ctypes.Structure):
    _fields_ = (
        [(n, ctypes.c_int32) for n in ("form", "adjoint", "index_dtype", "value_dtype")]
        + [
            (n, ctypes.c_int64)
            for n in ("num_basis", "nlat_in", "nlon_in", "nlat_out", "nlon_out")
        ]
        + [(n, ctypes.c_int64) for n in ("num_arcs", "num_taps", "degree")]
        + [(n, ctypes.c_void_p) for n in ("offsets", "indices", "values")]
    )


class Schedule(ctypes.Structure):
    """disco_schedule of disco/ABI/Schedule.h: no fields, the family chooses."""

    _fields_ = [
        (n, ctypes.c_int32)
        for n in (
            "order",
            "provider",
            "in_layout",
            "out_layout",
            "num_fields",
            "reserved",
        )
    ] + [("fields", ctypes.c_int64 * 32)]


class Call(ctypes.Structure):
    """disco_kernel_call of disco/ABI/Kernel.h."""

    _fields_ = (
        [("struct_size", ctypes.c_uint64)]
        + [
            (n, ctypes.c_int32)
            for n in (
                "op",
                "dtype",
                "weight_dtype",
                "activation",
                "transpose_weight",
                "has_bias",
                "has_residual",
                "num_threads",
            )
        ]
        + [(n, ctypes.c_int64) for n in ("batch", "channels", "out_channels", "groups")]
        + [("psi", Psi), ("schedule", Schedule)]
        + [
            (n, ctypes.c_void_p)
            for n in ("x", "gy", "weight", "bias", "residual", "y", "grad_bias")
        ]
    )


CONTRACT, CONTRACT_SUM, CONV = 0, 1, 2
ARCS, I32, F32 = 0, 4, 1
FILTER_FIRST, WEIGHT_FIRST = 0, 1
RUNTIME = 1


class Runtime:
    def __init__(self, build):
        path = os.path.join(build, "lib", "libdisco_runtime.so")
        self.library = ctypes.CDLL(path)
        self.library.disco_last_error.restype = ctypes.c_char_p
        self.library.disco_cpu_gather_isa.restype = ctypes.c_char_p
        pointer = ctypes.POINTER(Call)
        self.library.disco_cpu_gather_workspace_bytes.argtypes = [
            pointer,
            ctypes.POINTER(ctypes.c_uint64),
        ]
        self.library.disco_cpu_gather_run.argtypes = [
            pointer,
            ctypes.c_void_p,
            ctypes.c_uint64,
        ]

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.disco_last_error().decode())

    def prepare(self, call):
        """A workspace, and a function that runs the call in it."""
        size = ctypes.c_uint64()
        self.check(
            self.library.disco_cpu_gather_workspace_bytes(
                ctypes.byref(call), ctypes.byref(size)
            )
        )
        import torch

        memory = torch.empty(size.value + 64, dtype=torch.uint8)
        start = (memory.data_ptr() + 63) // 64 * 64

        def run():
            self.check(
                self.library.disco_cpu_gather_run(
                    ctypes.byref(call), start, size.value
                )
            )
            return memory

        return size.value, run


def arcs_from_rows(rows, nlon, np):
    """Arcs of taps: rows[r] is {(lat, lon): values[K]}; see SphereOperator.h."""
    offsets, arcs, values = [0], [], []
    for row in rows:
        by_lat = {}
        for lat, lon in row:
            by_lat.setdefault(lat, []).append(lon)
        for lat in sorted(by_lat):
            lons = sorted(by_lat[lat])
            runs = []
            for lon in lons:
                if runs and runs[-1][-1] + 1 == lon:
                    runs[-1].append(lon)
                else:
                    runs.append([lon])
            if len(runs) > 1 and runs[0][0] == 0 and runs[-1][-1] == nlon - 1:
                runs[-1] += runs.pop(0)
            for run in runs:
                arcs.append((lat, run[0], len(run), len(values)))
                values += [row[lat, lon] for lon in run]
        offsets.append(len(arcs))
    return (
        np.array(offsets, np.int32),
        np.array(arcs, np.int32).reshape(-1, 4),
        np.ascontiguousarray(np.array(values, np.float32)),
    )


def rows_of_psi(layer, nlon_in, np):
    """psi of a torch-harmonics layer by output latitude."""
    numbers = [
        t.cpu().numpy() for t in (layer.psi_ker_idx, layer.psi_row_idx, layer.psi_col_idx)
    ]
    values = layer.psi_vals.cpu().numpy().astype(np.float64)
    rows = [{} for _ in range(layer.nlat_out)]
    size = layer.kernel_size
    for k, row, col, value in zip(*(n.tolist() for n in numbers), values.tolist()):
        key = (col // nlon_in, col % nlon_in)
        if key not in rows[row]:
            rows[row][key] = np.zeros(size)
        rows[row][key][k] = value
    return rows


def adjoint_rows(rows, nlat_in, stride, nlon_out):
    """The same taps by input latitude and phase of the longitude."""
    result = [{} for _ in range(nlat_in * stride)]
    for lat_out, row in enumerate(rows):
        for (lat, lon), value in row.items():
            phase, back = lon % stride, lon // stride
            result[lat * stride + phase][lat_out, -back % nlon_out] = value
    return result


class Layer:
    """One layer in both libraries."""

    def __init__(self, name, torch, np, harmonics):
        grid_in, shape_in, grid_out, shape_out, cutoff, c, o, groups = LAYERS[name]
        self.c, self.o, self.groups = c, o, groups
        self.shape_in, self.shape_out = shape_in, shape_out
        self.layer = harmonics.DiscreteContinuousConvS2(
            c,
            o,
            shape_in,
            shape_out,
            (3, 3),
            basis_type="harmonic",
            groups=groups,
            grid_in=grid_in,
            grid_out=grid_out,
            bias=False,
            theta_cutoff=cutoff,
        )
        self.k = self.layer.kernel_size
        rows = rows_of_psi(self.layer, shape_in[1], np)
        self.tables = arcs_from_rows(rows, shape_in[1], np)
        stride = shape_in[1] // shape_out[1]
        self.adjoint_tables = arcs_from_rows(
            adjoint_rows(rows, shape_in[0], stride, shape_out[1]), shape_out[1], np
        )
        self.filter_flop = 2.0 * self.k * len(self.tables[2]) * shape_out[1]

    def call(self, op, adjoint):
        call = Call()
        call.struct_size = ctypes.sizeof(Call)
        call.op, call.dtype, call.weight_dtype = op, F32, F32
        call.batch, call.channels, call.groups = 1, self.c, 1
        call.schedule.provider = RUNTIME
        call.schedule.order = WEIGHT_FIRST if op == CONTRACT_SUM else FILTER_FIRST
        psi = call.psi
        psi.form, psi.index_dtype, psi.value_dtype = ARCS, I32, F32
        psi.num_basis = self.k
        ends = (self.shape_in, self.shape_out)
        (psi.nlat_in, psi.nlon_in), (psi.nlat_out, psi.nlon_out) = (
            ends[::-1] if adjoint else ends
        )
        offsets, arcs, values = self.adjoint_tables if adjoint else self.tables
        psi.num_arcs, psi.num_taps = len(arcs), len(values)
        psi.offsets = offsets.ctypes.data
        psi.indices = arcs.ctypes.data
        psi.values = values.ctypes.data
        return call


def measure(run, repeat, clock):
    now = time.perf_counter if clock == "wall" else time.process_time
    run()
    times = []
    for _ in range(repeat):
        start = now()
        result = run()
        times.append(now() - start)
    return statistics.median(times), min(times), result


def operations(layer, torch):
    """name -> (their function, a call of ours, our result); tensors are kept."""
    from torch_harmonics.disco import optimized_kernels_is_available
    from torch_harmonics.disco import convolution

    assert optimized_kernels_is_available(), "torch-harmonics has no CPU kernels"
    th = layer.layer
    contraction = getattr(convolution, "_disco_s2_contraction_optimized")
    transpose = getattr(convolution, "_disco_s2_transpose_contraction_optimized")
    tables = (
        th.psi_roff_idx,
        th.psi_ker_idx,
        th.psi_row_idx,
        th.psi_col_idx,
        th.psi_vals,
        th.kernel_size,
    )

    def contract(keep):
        x = torch.randn(1, layer.c, *layer.shape_in)
        y = torch.full((1, layer.c, layer.k, *layer.shape_out), float("nan"))
        call = layer.call(CONTRACT, adjoint=False)
        call.x, call.y = x.data_ptr(), y.data_ptr()
        keep += [x]
        return lambda: contraction(x, *tables, *layer.shape_out), call, y

    def contract_sum(keep):
        z = torch.randn(1, layer.c, layer.k, *layer.shape_out)
        y = torch.full((1, layer.c, *layer.shape_in), float("nan"))
        call = layer.call(CONTRACT_SUM, adjoint=True)
        call.x, call.y = z.data_ptr(), y.data_ptr()
        keep += [z]
        return lambda: transpose(z, *tables, *layer.shape_in), call, y

    def whole(keep):
        x = torch.randn(1, layer.c, *layer.shape_in)
        y = torch.full((1, layer.o, *layer.shape_out), float("nan"))
        weight = th.weight.detach().reshape(layer.o, layer.c // layer.groups, layer.k)
        weight = weight.contiguous()
        call = layer.call(CONV, adjoint=False)
        call.out_channels, call.groups = layer.o, layer.groups
        # Filter the side with fewer channels.
        few = layer.o < layer.c
        call.schedule.order = WEIGHT_FIRST if few else FILTER_FIRST
        call.x, call.y, call.weight = x.data_ptr(), y.data_ptr(), weight.data_ptr()
        keep += [x, weight]
        return lambda: th(x), call, y

    return {"contract": contract, "contract_sum": contract_sum, "layer": whole}


def compare(name, args, runtime, torch, np, harmonics, out):
    layer = Layer(name, torch, np, harmonics)
    for operation, make in operations(layer, torch).items():
        if operation not in args.operations.split(","):
            continue
        keep = []
        theirs, call, y = make(keep)
        call.num_threads = args.threads
        workspace, ours = runtime.prepare(call)
        with torch.no_grad():
            their_time, their_best, expected = measure(
                theirs, args.repeat, args.clock
            )
        our_time, our_best, _ = measure(ours, args.repeat, args.clock)
        expected = expected.reshape(y.shape)
        difference = float((y - expected).norm() / expected.norm())
        record = {
            "layer": name,
            "operation": operation,
            "threads": args.threads,
            "clock": args.clock,
            "torch_harmonics_ms": their_time * 1e3,
            "disco_ms": our_time * 1e3,
            "ratio": their_time / our_time,
            "torch_harmonics_best_ms": their_best * 1e3,
            "disco_best_ms": our_best * 1e3,
            "ratio_of_best": their_best / our_best,
            "workspace_mb": workspace / 1e6,
            "difference": difference,
        }
        out.append(record)
        print(
            f"{name:11} {operation:13} torch-harmonics {their_time*1e3:10.1f} ms  "
            f"disco {our_time*1e3:9.1f} ms  {record['ratio']:6.1f} x  "
            f"(best {their_best*1e3:.1f} and {our_best*1e3:.1f}, "
            f"{record['ratio_of_best']:.1f} x)  "
            f"workspace {workspace/1e6:6.1f} MB  difference {difference:.1e}",
            flush=True,
        )
        if not difference < 1e-4:
            raise RuntimeError(f"{name} {operation}: the results differ")


def write_page(args, heading, out):
    """Appends the comparison as a section."""
    with open(args.page, "a") as file:
        file.write(
            f"\n## Compared with torch-harmonics, {args.threads} threads\n\n"
            f"`bench/compare_torch_harmonics.py --layers {args.layers} "
            f"--operations {args.operations} --threads {args.threads} "
            f"--repeat {args.repeat}` on {time.strftime('%Y-%m-%d', time.gmtime())}: "
            f"{heading}. Both run in one process; results agree to the difference "
            "given (relative L2).\n\n"
            "| layer | operation | torch-harmonics median (best) ms | disco median "
            "(best) ms | ratio (of the best) | workspace MB | difference |\n"
            "|---|---|---|---|---|---|---|\n"
        )
        for r in out:
            file.write(
                f"| {r['layer']} | {r['operation']} "
                f"| {r['torch_harmonics_ms']:.1f} ({r['torch_harmonics_best_ms']:.1f}) "
                f"| {r['disco_ms']:.1f} ({r['disco_best_ms']:.1f}) "
                f"| {r['ratio']:.1f} ({r['ratio_of_best']:.1f}) "
                f"| {r['workspace_mb']:.1f} | {r['difference']:.1e} |\n"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--layers", default="deg1,self256-q,down-q,encoder-q,decoder-q")
    parser.add_argument("--operations", default="contract,contract_sum,layer")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--json")
    parser.add_argument("--page", help="append a table in Markdown to this file")
    args = parser.parse_args()
    unknown = [n for n in args.layers.split(",") if n not in LAYERS]
    if unknown:
        parser.error(f"unknown layers: {', '.join(unknown)}")

    import numpy as np
    import torch
    import torch_harmonics as harmonics

    torch.set_num_threads(args.threads)
    runtime = Runtime(args.build)
    heading = (
        f"torch {torch.__version__}, torch-harmonics {harmonics.__version__}, "
        f"{args.threads} threads, disco {runtime.library.disco_cpu_gather_isa().decode()}, "
        f"{args.clock} time"
    )
    print(heading)
    out = []
    for name in args.layers.split(","):
        compare(name, args, runtime, torch, np, harmonics, out)
    if args.page:
        write_page(args, heading, out)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(out, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
