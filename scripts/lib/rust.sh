# shellcheck shell=bash
# What building needs. Needs base.sh.

# One target folder, wherever the caller stands: programs and tests look for PostgreSQL beside their own binaries.
export CARGO_TARGET_DIR=$target

rust_ready() {
  [[ -d $HOME/.cargo/bin ]] && PATH=$PATH:$HOME/.cargo/bin
  have cargo || die "no cargo on PATH; type: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
  if have apt-get; then
    debian "the parser is PostgreSQL's own C code" build-essential pkg-config libclang-dev
  else
    have cc || die "no C compiler on PATH, which PostgreSQL's parser needs; install one, and libclang"
  fi
}

# Cargo in the checkout, so that its toolchain file counts.
in_checkout() { (cd "$root" && "$@"); }
