#!/bin/sh
# Runs a compiler with its messages in a file, and shows them when it fails.
# Usage: nvcc-logged.sh LOG COMMAND...
log=$1
shift
"$@" >"$log" 2>&1 || {
  code=$?
  cat "$log" >&2
  exit $code
}
