#!/usr/bin/env bash
# Installs the Debian packages that the build and the tests need. Says what it
# installs; does nothing when all is there. Needs root only when it installs.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git python3
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22
  clang-22 libclang-rt-22-dev clang-format-22 clang-tidy-22
  libgtest-dev libpng-dev
  # LLVM's CMake package names these libraries.
  zlib1g-dev libzstd-dev libedit-dev libxml2-dev
)

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_deps: expected to be root or to have sudo, to install: ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
echo "install_deps: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${sudo[@]}" apt-get update &&
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "install_deps: apt-get failed; LLVM 22 comes with Debian 12 (security updates) and later" >&2
  exit 1
fi
