"""Random .npy inputs and the comparison of outputs, with nothing but the
standard library.

compare_npy.py random PATH DTYPE SHAPE SEED   uniform in [-1, 1]; f64, f32, f16, bf16
compare_npy.py compare A B TOLERANCE          relative L2 distance of B from A
"""

import ast
import math
import random
import struct
import sys

DESCR = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "|V2"}
CODE = {"<f8": "d", "<f4": "f", "<f2": "e", "|V2": "H", "<V2": "H", "<u2": "H"}


def make_random(path, dtype, shape, seed):
    dims = tuple(int(dim) for dim in shape.split("x"))
    generator = random.Random(int(seed))
    values = [generator.uniform(-1, 1) for _ in range(math.prod(dims))]
    if dtype == "bf16":
        # The upper half of a float32.
        values = [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in values]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (DESCR[dtype], dims)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack("<%d%s" % (len(values), CODE[DESCR[dtype]]), *values))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    code = CODE[header["descr"]]
    values = [value for (value,) in struct.iter_unpack("<" + code, data[10 + length :])]
    if code == "H":
        values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    return header["shape"], values


def compare(a, b, tolerance):
    (shape, wanted), (other, got) = read(a), read(b)
    if shape != other or not wanted:
        sys.exit("expected shape %r with elements, but got %r" % (shape, other))
    norm = math.sqrt(sum(v * v for v in wanted))
    distance = math.sqrt(sum((v - w) ** 2 for v, w in zip(got, wanted)))
    if not norm > 0 or not distance <= float(tolerance) * norm:
        sys.exit("expected relative distance <= %s, but got %g of norm %g" % (tolerance, distance / norm if norm else math.nan, norm))
    print("relative distance %.1e of %d elements" % (distance / norm, len(wanted)))


if __name__ == "__main__":
    {"random": make_random, "compare": compare}[sys.argv[1]](*sys.argv[2:])
