import os

import lit.formats

# Every binary in the folder whose name ends in Tests is a GoogleTest program.
config.name = "Disco-Unit"
config.suffixes = []
config.test_format = lit.formats.GoogleTest("", "Tests")
config.test_source_root = os.path.join(config.disco_binary_dir, "test", "Unit")
config.test_exec_root = config.test_source_root
