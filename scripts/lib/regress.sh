# shellcheck shell=bash
# PostgreSQL's own regression tests, unpacked to target/regress/15/{sql,expected,data}. They are part of the source package of
# Debian's PostgreSQL 15. Without it their test says so. Needs base.sh and source.sh.

regression_package=postgresql-15

regression_sources() {
  local home=$target/regress/15 fresh
  [[ -f $home/parallel_schedule ]] && return 0
  mkdir -p "$target/regress"
  fresh=$(mktemp -d "$target/regress/.fresh.XXXXXX")
  if debian_source "$fresh" "$regression_package" >"$fresh/log" 2>&1 && unpack_regression "$fresh" >>"$fresh/log" 2>&1; then
    rm -rf "$home"
    mv "$fresh/regress" "$home"
  else
    say "left out: apt-get could not bring the source of $regression_package, whose SELECTs one test judges"
    tail -n 3 "$fresh/log" >&2
  fi
  rm -rf "$fresh"
}

# Usage: unpack_regression folder
unpack_regression() {
  mkdir "$1/regress"
  tar -xf "$1"/*.orig.tar.* -C "$1/regress" --strip-components=4 --wildcards \
    '*/src/test/regress/sql' '*/src/test/regress/expected' '*/src/test/regress/data' \
    '*/src/test/regress/parallel_schedule'
  chmod -R a+rX "$1/regress"
}
