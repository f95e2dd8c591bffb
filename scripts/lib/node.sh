# shellcheck shell=bash
# Node 22, the tools of the MCP project for tests of the protocol, and an OpenID provider for tests of callers' tokens. Needs base.sh.
#
#   target/node/node_modules/node/bin/node
#   target/mcp-tools/node_modules/@modelcontextprotocol/{conformance,inspector}
#   target/openid/node_modules/oidc-provider

node_packages=(node@22)
openid_packages=(oidc-provider@9.13.3)
mcp_packages=(@modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0)

# Usage: npm_folder folder package@version...
npm_folder() {
  local folder=$target/$1
  shift
  [[ $(cat "$folder/packages" 2>/dev/null) == "$*" ]] && return 0
  tools "tools of the protocol come from npm" "nodejs npm" npm node
  say "unpacking $* to ${folder#"$root/"}"
  rm -rf "$folder"
  mkdir -p "$folder"
  # A manifest of its own, so that npm does not look for one further up.
  echo '{"private": true}' >"$folder/package.json"
  npm install --prefix "$folder" --no-audit --no-fund --loglevel error "$@" >&2 || die "npm could not install $*"
  echo "$*" >"$folder/packages"
}

mcp_tools() {
  local bin=$target/node/node_modules/node/bin
  npm_folder node "${node_packages[@]}"
  [[ -x $bin/node ]] || die "npm did not unpack node 22: it must be allowed to run the package's install script"
  # The tools want this node, and so do the install scripts of what they need.
  PATH=$bin:$PATH npm_folder mcp-tools "${mcp_packages[@]}"
  PATH=$bin:$PATH npm_folder openid "${openid_packages[@]}"
}
