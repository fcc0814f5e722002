#!/bin/sh
# Stands in for disco-compile: prints its arguments, then copies FAKE_ARTIFACT
# to the output (argument 4), or fails with FAKE_CODE.
echo "fake-compile: $*" >&2
if [ -n "$FAKE_CODE" ]; then
  echo "$1:1:1: error: fake" >&2
  exit "$FAKE_CODE"
fi
cp "$FAKE_ARTIFACT" "$4"
