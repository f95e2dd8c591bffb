# shellcheck shell=bash
# moto, a Secrets Manager on this machine, for tests of the function. Needs base.sh.
#
#   target/python/bin/moto_server

python_packages=('moto[server,secretsmanager]==5.2.5')

python_tools() {
  local folder=$target/python
  [[ $(cat "$folder/packages" 2>/dev/null) == "${python_packages[*]}" ]] && return 0
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    have apt-get || die "no python3 with venv, which tests of the function need"
    debian "AWS's stand-in for tests comes from PyPI" python3 python3-venv
  fi
  say "unpacking ${python_packages[*]} to ${folder#"$root/"}"
  rm -rf "$folder"
  python3 -m venv "$folder" || die "python3 could not make $folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}" >&2 ||
    die "pip could not install ${python_packages[*]}"
  echo "${python_packages[*]}" >"$folder/packages"
}
