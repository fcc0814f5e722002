#!/usr/bin/env bash
# Measures cpu_gather and writes docs/Benchmarks/cpu.md: everything before its
# section "AVX-512", which comes from another machine and stays as it is.
#
# Usage: bench/measure_cpu.sh [--build DIR] [--page FILE] [--full] [--compare PYTHON]
#   --full            the layers self256 and down too (minutes)
#   --compare PYTHON  also torch-harmonics, with this Python that has it
# Set PYTHONPATH and DISCO_NUM_THREADS as needed. Wants a machine that does
# nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build page=docs/Benchmarks/cpu.md full= compare=
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build=$2; shift ;;
    --page) page=$2; shift ;;
    --full) full=1 ;;
    --compare) compare=$2; shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
threads=$(nproc)

# bench TITLE ARGUMENT...: appends a section with the table of a run.
bench() {
  local title=$1; shift
  echo "$title" >&2
  "$build"/bin/disco-bench "$@" --page "$work"/section >"$work"/log
  printf '\n## %s\n\n`disco-bench %s`, %s, the same machine.\n\n' \
    "$title" "$*" "$(date -u +%F)" >>"$work"/page
  grep '^| [a-z]' "$work"/section | sed -n '/^| problem/,$p' |
    sed '1a |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|' \
      >>"$work"/page
}

echo "layers" >&2
arguments=(deg1 self256-q down-q encoder-q
  --direction conv,contract,contract_sum --threads "$threads" --repeat 9)
"$build"/bin/disco-bench "${arguments[@]}" --page "$work"/section >"$work"/log
sed "s|by \`[^\`]*\`|by \`bench/measure_cpu.sh\` (first: \`disco-bench ${arguments[*]}\`)|" \
  "$work"/section >"$work"/page
bench "One thread" deg1 self256-q down-q --direction conv,contract,contract_sum \
  --threads 1 --repeat 7
bench "The decoder, a quarter of its size" decoder-q --direction conv \
  --threads "$threads" --repeat 3
bench "Element types and gradients" deg1 \
  --direction conv,input_grad,weight_grad,contract,contract_sum \
  --dtype f64,f32,bf16,f16 --threads "$threads" --repeat 5
bench "Points" knn-small knn-large \
  --direction conv,input_grad,weight_grad,contract,contract_sum \
  --threads "$threads" --repeat 5
[ -z "$full" ] || bench "Whole layers at full size" self256 down \
  --direction conv --threads "1,$threads" --repeat 3
if [ -n "$compare" ]; then
  echo "torch-harmonics" >&2
  "$compare" bench/compare_torch_harmonics.py --build "$build" --threads "$threads" \
    --layers deg1,self256-q,down-q,encoder-q --repeat 9 --page "$work"/page >&2
  "$compare" bench/compare_torch_harmonics.py --build "$build" --threads "$threads" \
    --layers decoder-q --operations layer --repeat 1 --page "$work"/page >&2
  [ -z "$full" ] ||
    "$compare" bench/compare_torch_harmonics.py --build "$build" --threads "$threads" \
      --layers self256,down --repeat 1 --page "$work"/page >&2
fi
if [ -f "$page" ]; then
  { echo; sed -n '/^## AVX-512/,$p' "$page"; } >>"$work"/page
fi
cp "$work"/page "$page"
