#!/usr/bin/env python3
"""Checks what ptxas said of CUDA kernels when they were built.

Usage: check_ptxas.py FOLDER [--registers N] [--smem BYTES] [--spills BYTES]

Reads every *.ptxas.log below FOLDER and prints, for each kernel and
architecture, registers, spilled bytes and static shared memory. Fails when a
kernel spills, is over a budget, or when there is nothing to check.
"""

import argparse
import pathlib
import re
import sys


def parse(path):
    """Yields (kernel, arch, registers, spilled bytes, shared memory)."""
    kernel = arch = None
    spills = 0
    for line in path.read_text().splitlines():
        if match := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
            kernel, arch = match.groups()
        elif match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(match[1]) + int(match[2])
        elif (match := re.search(r"Used (\d+) registers", line)) and kernel:
            smem = re.search(r"(\d+) bytes smem", line)
            yield kernel, arch, int(match[1]), spills, int(smem[1]) if smem else 0
            kernel, spills = None, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--registers", type=int, default=168)
    parser.add_argument("--smem", type=int, default=48 << 10)
    parser.add_argument("--spills", type=int, default=0)
    options = parser.parse_args()
    checked, failures = 0, []
    for path in sorted(options.folder.rglob("*.ptxas.log")):
        kernels = list(parse(path))
        if not kernels:
            failures.append(f"expected {path.name} to name kernels, but got none")
        for kernel, arch, registers, spills, smem in kernels:
            checked += 1
            print(f"{kernel} {arch}: {registers} registers, {spills} bytes spilled, {smem} bytes of shared memory")
            for what, got, limit in (
                ("registers", registers, options.registers),
                ("bytes spilled", spills, options.spills),
                ("bytes of static shared memory", smem, options.smem),
            ):
                if got > limit:
                    failures.append(f"expected {kernel} for {arch} to have at most {limit} {what}, but got {got}")
    if checked == 0:
        failures.append(f"expected kernels below {options.folder}, but got none")
    for failure in failures:
        print(f"check_ptxas: error: {failure}", file=sys.stderr)
    print(f"check_ptxas: {checked} kernels, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
