# shellcheck shell=bash
# A PgBouncer that is newer than the system's, built from the source of the next Debian: target/pgbouncer/pgbouncer. From 1.21 on
# it keeps named statements, which changes what passes through it. Without it the tests say so. Needs base.sh and source.sh.

newer_debian=trixie

newer_pgbouncer() {
  local home=$target/pgbouncer fresh
  [[ -x $home/pgbouncer ]] && return 0
  debian "building a newer PgBouncer" build-essential pkgconf libevent-dev libssl-dev
  fresh=$(mktemp -d "$target/.pgbouncer.XXXXXX")
  if { debian_source "$fresh" pgbouncer "$newer_debian" && build_pgbouncer "$fresh"; } >"$fresh/log" 2>&1; then
    rm -rf "$home"
    mkdir -p "$home"
    mv "$fresh/source/pgbouncer" "$home/pgbouncer"
    chmod a+rx "$home" "$home/pgbouncer"
  else
    say "left out: a newer PgBouncer could not be built; tests use the system's alone"
    tail -n 3 "$fresh/log" >&2
  fi
  rm -rf "$fresh"
}

# Usage: build_pgbouncer folder
build_pgbouncer() {
  mkdir "$1/source"
  tar -xf "$1"/pgbouncer_*.orig.tar.* -C "$1/source" --strip-components=1
  (cd "$1/source" && ./configure --without-cares --without-pam --without-systemd && make -j2 pgbouncer)
}
