# shellcheck shell=bash
# What every script here needs: where the checkout is, how to speak, how to install a Debian package.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=$root/target

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Installs the named Debian packages that are missing. Usage: debian "why they are needed" package...
debian() {
  local why=$1 package missing=()
  shift
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ! have apt-get; then
    die "missing: ${missing[*]} ($why); install what your system calls them and try again"
  elif ((EUID != 0)); then
    die "missing: $why; type: sudo apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}: $why"
  local log
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install ${missing[*]}"
  fi
  rm -f "$log"
}

# On a system without dpkg the tools themselves are looked for. Usage: tools "why" "debian packages" tool...
tools() {
  local why=$1 packages=$2 tool missing=()
  shift 2
  for tool in "$@"; do have "$tool" || missing+=("$tool"); done
  ((${#missing[@]})) || return 0
  # shellcheck disable=SC2086 # a list of words
  debian "$why (${missing[*]})" $packages
}
