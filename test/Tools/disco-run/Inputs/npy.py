"""Writes and prints small .npy files, with nothing but the standard library.

npy.py make PATH DTYPE SHAPE [SCALE]   element i is SCALE * i (SHAPE as 2x3)
npy.py show PATH                       dtype, shape and up to 16 elements
npy.py cut PATH BYTES                  truncates the file
"""

import ast
import math
import struct
import sys

FORMATS = {"<f8": "d", "<f4": "f", "<f2": "e", "<i4": "i", "<i8": "q", "|V2": "H"}
NAMES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i32": "<i4", "i64": "<i8"}


def make(path, dtype, shape, scale="1"):
    dims = tuple(int(dim) for dim in shape.split("x") if dim)
    descr = NAMES[dtype]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, dims)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    number = float if descr[1] == "f" else int
    elements = [number(i * float(scale)) for i in range(math.prod(dims))]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack("<%d%s" % (len(elements), FORMATS[descr]), *elements))


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    code = FORMATS[header["descr"]]
    elements = [value for (value,) in struct.iter_unpack("<" + code, data[10 + length :])]
    print(header["descr"], header["shape"], *["%g" % value for value in elements[:16]])


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(int(size))


if __name__ == "__main__":
    {"make": make, "show": show, "cut": cut}[sys.argv[1]](*sys.argv[2:])
