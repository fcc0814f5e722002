#!/usr/bin/env bash
# Everything that has to hold before a change lands: formatting, a build without
# warnings, all tests, the LLVM-free libraries under sanitizers, short fuzzer
# runs, clang-tidy on changed files. Does its own set-up on a fresh machine.
# The last line is "N passed, M failed, K skipped".
#
# Usage: scripts/check.sh [--no-tidy]
#   CHECK_BASE=REV   clang-tidy reads the files changed since REV
#                    (default: the parent of HEAD)

set -uo pipefail
cd "$(dirname "$0")/.."
tidy=1
for arg in "$@"; do
  case "$arg" in
    --no-tidy) tidy=0 ;;
    -h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "check: unknown argument '$arg' (see --help)" >&2; exit 2 ;;
  esac
done

passed=0 failed=0 skipped=0
say() { printf '== %4d s  %s\n' "$SECONDS" "$*"; }
pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  echo "check: FAILED: $*"
}
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}
# step NAME COMMAND...: one check that passes or fails as a whole.
step() {
  local name=$1
  shift
  say "$name"
  if "$@"; then pass; else fail "$name"; fi
}

# run_lit BUILD: runs its lit and unit tests and adds their counts.
run_lit() {
  local lit counts p f s
  lit=$(sed -n 's/^DISCO_LIT:FILEPATH=//p' "$1/CMakeCache.txt")
  rm -f "$1/lit.json"
  "$lit" -sv -o "$1/lit.json" "$1/test" "$1/test/Unit"
  counts=$(python3 - "$1/lit.json" <<'PY'
import json, sys
codes = [test["code"] for test in json.load(open(sys.argv[1]))["tests"]]
passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
print(passed, len(codes) - passed - skipped, skipped)
PY
  ) || { fail "no test report of $1"; return; }
  read -r p f s <<<"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$p" -gt 0 ] || fail "no test of $1 ran"
}

check_format() {
  local output
  output=$(git ls-files '*.cpp' '*.h' '*.c' | xargs -r clang-format-22 --dry-run --Werror 2>&1) && return
  echo "$output" | grep error | head -20
  echo "run clang-format-22 -i on these files"
  return 1
}
check_sizes() {
  local long
  long=$(git ls-files '*.cpp' '*.h' '*.td' '*.c' '*.py' '*.sh' | xargs -r wc -l | awk '$1 > 800 && $2 != "total"')
  [ -z "$long" ] || { echo "expected a file to have at most 800 lines, but got:"; echo "$long"; return 1; }
}
check_tidy() {
  local base files
  base=${CHECK_BASE:-$(git rev-parse -q --verify HEAD~1 || git hash-object -t tree /dev/null)}
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'lib/*.cpp' 'tools/*.cpp')
  [ ${#files[@]} -gt 0 ] || { echo "no C++ source changed since $base"; return 0; }
  run-clang-tidy-22 -quiet -p build -j "$(nproc)" -clang-tidy-binary clang-tidy-22 \
    -extra-arg=-Wno-error "${files[@]}" >build/tidy.log 2>&1 ||
    { grep -E '(error|warning):' build/tidy.log | sort -u | head -40; return 1; }
}
check_fuzz() { # NAME: a short run from its seeds
  local corpus=build-asan/corpus/$1 log=build-asan/$1.log
  mkdir -p "$corpus"
  build-asan/bin/"$1" -max_total_time=20 -max_len=4096 -rss_limit_mb=2048 -verbosity=1 \
    -artifact_prefix=build-asan/"$1"- "$corpus" "test/Fuzz/seeds/$1" >"$log" 2>&1 ||
    { tail -40 "$log"; return 1; }
  grep '^Done' "$log"
}

say "dependencies"
scripts/install_deps.sh || { fail "dependencies"; finish; }
step "clang-format" check_format
step "file sizes" check_sizes
step "build" scripts/build.sh release all disco-test-depends
[ "$failed" -eq 0 ] || finish
say "tests"
run_lit build
say "build with sanitizers"
if scripts/build.sh asan all disco-test-depends; then
  pass
  say "tests with sanitizers"
  run_lit build-asan
  for fuzzer in build-asan/bin/*-fuzzer; do
    step "$(basename "$fuzzer")" check_fuzz "$(basename "$fuzzer")"
  done
else
  fail "build with sanitizers"
fi
[ "$tidy" -eq 0 ] || step "clang-tidy on changed files" check_tidy
say "done"
finish
