import os
import sys

import lit.formats

config.name = "Disco"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "Unit", "Fuzz", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.disco_binary_dir, "test")

# What a test may need: the compiler (absent from runtime-only builds).
if config.has_compiler:
    config.available_features.add("compiler")
# The CUDA kernels were built; running them needs a device too.
if config.has_cuda:
    config.available_features.add("cuda")
# Benchmarks take minutes under sanitizers; the unit tests run their kernels.
if config.sanitize:
    config.available_features.add("sanitized")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.disco_binary_dir, "bin"),
        config.llvm_tools_dir,
        config.environment.get("PATH", os.environ["PATH"]),
    ]
)
config.substitutions.append(("%source", config.disco_source_dir))
config.substitutions.append(("%build", config.disco_binary_dir))
config.substitutions.append(("%cc", config.c_compiler))
config.substitutions.append(("%python", sys.executable))
