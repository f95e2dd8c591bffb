# shellcheck shell=bash
# PostgreSQL's own regression tests, unpacked to target/regress/15/{sql,expected,data}. They are part of the source package of
# Debian's PostgreSQL 15, fetched from wherever this system's apt gets its packages. Without it their test says so. Needs base.sh.

regression_package=postgresql-15

regression_sources() {
  local home=$target/regress/15 fresh
  [[ -f $home/parallel_schedule ]] && return 0
  mkdir -p "$target/regress"
  fresh=$(mktemp -d "$target/regress/.fresh.XXXXXX")
  if have apt-get && fetch_source "$fresh" >"$fresh/log" 2>&1 && unpack_regression "$fresh" >>"$fresh/log" 2>&1; then
    rm -rf "$home"
    mv "$fresh/regress" "$home"
  else
    say "left out: apt-get could not bring the source of $regression_package, whose SELECTs one test judges"
    tail -n 3 "$fresh/log" >&2
  fi
  rm -rf "$fresh"
}

# Beside the system's own lists of packages, which as a rule leave sources out. Usage: fetch_source folder
fetch_source() {
  local lists=$1/apt list version
  local apt=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$lists/sources"
    -o "Dir::State::lists=$lists/state" -o "Dir::Cache=$lists/cache" -o "APT::Sandbox::User=root")
  mkdir -p "$lists/sources" "$lists/state/partial" "$lists/cache/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ -f $list ]] || continue
    sed -E 's/^deb /deb-src /; s/^(Types:.*)\bdeb\b/\1deb-src/' "$list" >"$lists/sources/${list##*/}"
  done
  # Not all of the system's sources need offer this.
  apt-get "${apt[@]}" update || true
  # Nor do they always still keep the newest that they list.
  for version in $(apt-cache "${apt[@]}" showsrc "$regression_package" | sed -n 's/^Version: //p' | sort -rV); do
    (cd "$1" && apt-get "${apt[@]}" source --download-only --tar-only "$regression_package=$version") && return 0
  done
  return 1
}

# Usage: unpack_regression folder
unpack_regression() {
  mkdir "$1/regress"
  tar -xf "$1"/*.orig.tar.* -C "$1/regress" --strip-components=4 --wildcards \
    '*/src/test/regress/sql' '*/src/test/regress/expected' '*/src/test/regress/data' \
    '*/src/test/regress/parallel_schedule'
  chmod -R a+rX "$1/regress"
}
