# shellcheck shell=bash
# Sources of Debian packages, from wherever this system's apt gets its packages. Needs base.sh.

# The newest original archive of a package that is still kept, beside the system's own lists of packages, which as a rule leave
# sources out; of another release of Debian where one is named. Usage: debian_source folder package [release]
debian_source() {
  local lists=$1/apt package=$2 release=${3:-} list version
  local apt=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$lists/sources"
    -o "Dir::State::lists=$lists/state" -o "Dir::Cache=$lists/cache" -o "APT::Sandbox::User=root")
  have apt-get || return 1
  mkdir -p "$lists/sources" "$lists/state/partial" "$lists/cache/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ -f $list ]] || continue
    sed -E 's/^deb /deb-src /; s/^(Types:.*)\bdeb\b/\1deb-src/' "$list" >"$lists/sources/${list##*/}"
  done
  if [[ -n $release ]]; then
    # shellcheck source=/dev/null
    sed -i "s/\b$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")\b/$release/g" "$lists"/sources/*
  fi
  # Not all of the system's sources need offer this.
  apt-get "${apt[@]}" update || true
  for version in $(apt-cache "${apt[@]}" showsrc "$package" | sed -n 's/^Version: //p' | sort -rV); do
    (cd "$1" && apt-get "${apt[@]}" source --download-only --tar-only "$package=$version") && return 0
  done
  return 1
}
