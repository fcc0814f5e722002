#!/usr/bin/env python3
"""Makes test/Integration/golden, the part of the golden data that is kept here.

Reads the full set of reference results (grids, filter tensors and layers of
torch-harmonics in float64; by default ../shared/golden, with its manifest.json)
and writes three tables and the arrays of a subset:

  grids.tsv  id, grid
  psi.tsv    id, tol, gated, largest, rows, filter
  conv.tsv   id, tol, gated, kept, groups, bias, filter

The tables list every case, with grids and filters spelled in the grammar of
include/disco/Filter/SphereFilter.h, so that they serve the full set too. `rows`
names the output rows of psi that are kept (`all`, or numbers with commas
between); `largest` is the largest |psi| of the whole tensor, which errors are
relative to. `kept` says whether a layer's arrays are kept. Arrays keep the
layout they have in the full set. Needs nothing but Python.

usage: scripts/make_golden_data.py [SOURCE [DESTINATION]]
"""

import array
import ast
import json
import pathlib
import shutil
import struct
import sys

MAGIC = b"\x93NUMPY\x01\x00"
# A tensor of psi with at most this many entries is kept whole; of a larger one
# rows are kept until there are this many.
PSI_ENTRIES = 600
# Layers are kept, smallest first and one for each new property before others,
# up to this many bytes.
CONV_BYTES = 1_000_000
CONV_ARRAYS = ("x", "w", "b", "y", "gy", "gx", "gw", "gb")


def read_npy(path):
    data = path.read_bytes()
    if data[:8] != MAGIC:
        sys.exit(f"{path}: expected a .npy file of version 1.0")
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    if header["descr"] != "<f8" or header["fortran_order"]:
        sys.exit(f"{path}: expected float64 in C order, but got {header}")
    values = array.array("d")
    values.frombytes(data[10 + length :])
    if sys.byteorder == "big":
        values.byteswap()
    return header["shape"], values


def write_npy(path, shape, values):
    text = str({"descr": "<f8", "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(MAGIC) + 2 + len(text) + 1) % 64) + "\n"
    if sys.byteorder == "big":
        values = array.array("d", values)
        values.byteswap()
    path.write_bytes(
        MAGIC + struct.pack("<H", len(text)) + text.encode() + values.tobytes()
    )


def spell_grid(kind, shape):
    return f"#disco.grid<{kind.replace('-', '_')}, {shape[0]}x{shape[1]}>"


def spell_filter(case):
    """The filter of a case in our grammar.

    The reference names the grids of a transposed layer after the forward one:
    its `in` is the fine grid, which is our `out`.
    """
    grid_in = spell_grid(case["grid_in"], case["in_shape"])
    grid_out = spell_grid(case["grid_out"], case["out_shape"])
    if case["transpose"]:
        grid_in, grid_out = grid_out, grid_in
    basis = case["basis"].replace(" ", "_").replace("-", "_")
    parts = [basis, str(case["kernel_shape"])]
    if case["theta_cutoff"] is not None:
        parts.append(f"cutoff = {case['theta_cutoff']!r}")
    parts += [f"norm = {case['norm']}", f"in = {grid_in}", f"out = {grid_out}"]
    if case["transpose"]:
        parts.append("transpose")
    return f"#disco.sphere_filter<{', '.join(parts)}>"


def yes_no(value):
    return "yes" if value else "no"


def write_table(path, columns, rows):
    lines = ["\t".join(columns)] + ["\t".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def make_grids(cases, source, destination):
    rows = []
    for case in cases:
        rows.append((case["id"], spell_grid(case["grid"], (case["nlat"], 1))))
        shutil.copyfile(source / f"{case['id']}.npy", destination / f"{case['id']}.npy")
    write_table(destination / "grids.tsv", ("id", "grid"), rows)


def choose_rows(row_of_entry):
    """The first row, the middle one, then others, within PSI_ENTRIES."""
    if len(row_of_entry) <= PSI_ENTRIES:
        return None
    counts = {}
    for row in row_of_entry:
        counts[row] = counts.get(row, 0) + 1
    present = sorted(counts)
    order = [present[len(present) // 2], present[0], present[-1]]
    order += [row for row in present if row not in order]
    chosen, total = [], 0
    for row in order:
        if not chosen or total + counts[row] <= PSI_ENTRIES:
            chosen.append(row)
            total += counts[row]
    return sorted(chosen)


def make_psi(cases, source, destination):
    rows = []
    for case in cases:
        shape, values = read_npy(source / f"{case['id']}.npy")
        n = shape[1]
        chosen = choose_rows(values[n : 2 * n])
        kept = range(n)
        if chosen is not None:
            kept = [e for e in range(n) if values[n + e] in set(chosen)]
        part = array.array("d", (values[f * n + e] for f in range(4) for e in kept))
        write_npy(destination / f"{case['id']}.npy", (4, len(kept)), part)
        largest = max(abs(value) for value in values[3 * n :])
        names = "all" if chosen is None else ",".join(str(int(row)) for row in chosen)
        rows.append(
            (case["id"], case["tol"], yes_no(case["gated"]), repr(largest), names)
            + (spell_filter(case),)
        )
    columns = ("id", "tol", "gated", "largest", "rows", "filter")
    write_table(destination / "psi.tsv", columns, rows)


def properties(case):
    """What a kept layer should be the first to show."""
    names = ("basis", "norm", "groups", "batch", "bias", "transpose")
    shown = {(name, case[name]) for name in names}
    shown.add(("grids", case["grid_in"], case["grid_out"]))
    ratio = case["in_shape"][1] // case["out_shape"][1]
    shown.add(("ratio", case["transpose"], ratio))
    return shown


def choose_layers(cases, sizes):
    chosen, total, shown = set(), 0, set()
    remaining = sorted(
        (case for case in cases if case["gated"]), key=lambda c: sizes[c["id"]]
    )
    while remaining:
        # Most new properties first, then the smallest.
        case = max(
            remaining,
            key=lambda c: (len(properties(c) - shown), -sizes[c["id"]]),
        )
        remaining.remove(case)
        if total + sizes[case["id"]] > CONV_BYTES:
            continue
        chosen.add(case["id"])
        total += sizes[case["id"]]
        shown |= properties(case)
    return chosen


def make_conv(cases, source, destination):
    def files(case):
        names = [f"{case['id']}.{name}.npy" for name in CONV_ARRAYS]
        return [source / name for name in names if (source / name).exists()]

    sizes = {case["id"]: sum(f.stat().st_size for f in files(case)) for case in cases}
    chosen = choose_layers(cases, sizes)
    rows = []
    for case in cases:
        kept = case["id"] in chosen
        if kept:
            for file in files(case):
                shutil.copyfile(file, destination / file.name)
        rows.append(
            (case["id"], case["tol"], yes_no(case["gated"]), yes_no(kept))
            + (case["groups"], yes_no(case["bias"]), spell_filter(case))
        )
    columns = ("id", "tol", "gated", "kept", "groups", "bias", "filter")
    write_table(destination / "conv.tsv", columns, rows)


def main():
    if len(sys.argv) > 3 or any(word.startswith("-") for word in sys.argv[1:]):
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent
    source = root.parent / "shared" / "golden"
    destination = root / "test" / "Integration" / "golden"
    if len(sys.argv) > 1:
        source = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        destination = pathlib.Path(sys.argv[2])
    manifest = json.loads((source / "manifest.json").read_text())
    destination.mkdir(parents=True, exist_ok=True)
    for old in list(destination.glob("*.npy")) + list(destination.glob("*.tsv")):
        old.unlink()
    make_grids(manifest["grids"], source, destination)
    make_psi(manifest["psi"], source, destination)
    make_conv(manifest["conv"], source, destination)
    size = sum(file.stat().st_size for file in destination.iterdir())
    print(f"{destination}: {size} bytes")


if __name__ == "__main__":
    main()
