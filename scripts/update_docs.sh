#!/usr/bin/env bash
# Writes docs/generated from the definitions of the dialect and the passes.
#
# Usage: scripts/update_docs.sh [--check] [BUILD]
#   BUILD     build folder (default: build)
#   --check   compare only, with what BUILD holds already; exit 1 when
#             docs/generated is out of date
set -euo pipefail
check=0
[ "${1:-}" = --check ] && { check=1; shift; }
build="$(realpath -m "${1:-build}")"
cd "$(dirname "$0")/.."
[ $check = 1 ] || cmake --build "$build" --target disco-doc
status=0
for page in Dialect.md Passes.md; do
  if [ $check = 1 ]; then
    if ! diff -u "docs/generated/$page" "$build/docs/$page"; then
      echo "docs/generated/$page is out of date: run scripts/update_docs.sh" >&2
      status=1
    fi
  else
    cp "$build/docs/$page" "docs/generated/$page"
  fi
done
exit $status
