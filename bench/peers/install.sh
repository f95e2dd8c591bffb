# shellcheck shell=bash
# The other servers that `scripts/bench --peers` measures, each in a folder of its own under target/peers. What cannot be
# installed here is left out, and the page says so. Needs base.sh and node.sh.

# Usage: node_peer folder package@version
node_peer() {
  PATH=$target/node/node_modules/node/bin:$PATH npm_folder "peers/$1" "$2"
}

# With the first Python that has at least the minor version asked for. Usage: python_peer folder minor requirement...
python_peer() {
  local folder=$target/peers/$1 minor=$2 python
  shift 2
  [[ $(cat "$folder/packages" 2>/dev/null) == "$*" ]] && return 0
  for python in python3 python3.{12..15} "$HOME"/.pyenv/versions/3.*/bin/python3; do
    "$python" -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, $minor))" 2>/dev/null && break
    python=
  done
  [[ $python ]] || die "no Python 3.$minor or newer"
  say "unpacking $1 to ${folder#"$root/"}"
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 || die "pip could not install $*"
  echo "$*" >"$folder/packages"
}

# It wants a release of the parser pglast that PyPI does not have any more, and does not say that it needs the SDK before 2:
# so it comes without what it asks for, and then with that.
postgres_mcp() {
  [[ -e $target/peers/py-postgres-mcp/packages ]] && return 0
  python_peer py-postgres-mcp 12 --no-deps postgres-mcp==0.3.0
  rm "$target/peers/py-postgres-mcp/packages"
  "$target/peers/py-postgres-mcp/bin/pip" install --quiet --disable-pip-version-check attrs humanize 'instructor>=1.7.9' \
    'mcp[cli]>=1.5,<2' pglast==7.22 'psycopg-pool>=3.2.6' 'psycopg[binary]>=3.2.6' 2>&1 >&2 | grep -v 'postgres-mcp 0.3.0 requires' >&2
  echo postgres-mcp==0.3.0 >"$target/peers/py-postgres-mcp/packages"
}

peers() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "bench/peers needs Python 3.11 or newer"
  npm_folder node "${node_packages[@]}"
  optional node_peer npm-toolbox @toolbox-sdk/server@1.12.0
  optional node_peer npm-mcp-postgres-server mcp-postgres-server@0.3.1
  optional node_peer npm-dbhub @bytebase/dbhub@1.4.0
  optional node_peer npm-server-postgres @modelcontextprotocol/server-postgres@0.6.2
  optional node_peer npm-henkey @henkey/postgres-mcp-server@1.0.7
  optional python_peer py-awslabs 10 awslabs-postgres-mcp-server==1.2.2
  optional postgres_mcp
  optional python_peer py-kenning-pg-mcp 13 kenning-pg-mcp==0.2.0
}

# A peer that fails to install stops nothing. Usage: optional command...
optional() {
  ("$@") || say "left out: $*"
}
