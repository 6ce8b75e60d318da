#!/bin/sh
# Installs what the demo and the privileged tests use from the system. Only what is missing, and only as root where
# apt-get is; otherwise one line for each missing thing. Nothing here is needed to build, so it never fails a build.
# With --demo only what the demo uses.
set -eu

demo=${1:-}

# The reference plugins are where their package manager put them, on no PATH.
has_reference_plugins() { [ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ]; }

# What runs programs for arm64 on x64; the other way round Debian has no libraries.
has_emulator() { [ "$(uname -m)" != x86_64 ] || command -v qemu-aarch64-static >/dev/null 2>&1; }
# A compiler that does not know the file says its name alone.
links_static() { case $("$1" -print-file-name=libc.a 2>/dev/null) in /*) ;; *) return 1 ;; esac; }
crosses() { [ "$(uname -m)" != x86_64 ] || "$@"; }

# It fetches the sources of the static plugin's engine, of edition 2024 (scripts/fetch-engine.ts).
least_cargo=1.85
is_new_enough() { [ "$(printf '%s\n%s\n' "$least_cargo" "$1" | sort -V | head -1)" = "$least_cargo" ]; }
has_cargo() {
  for cargo in "$(command -v cargo)" "${HOME:-/root}/.cargo/bin/cargo"; do
    [ -x "$cargo" ] && is_new_enough "$("$cargo" --version | cut -d' ' -f2)" && return
  done
  return 1
}
# Debian 12 has one that is too old; installed, it would be of no use.
offers_cargo() {
  offered=$(apt-cache policy cargo 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][0-9.]*\).*/\1/p')
  # Of its packages the older ones have the version of cargo (0.66), the newer ones that of Rust.
  [ -n "$offered" ] && is_new_enough "$offered"
}
# A library of rsyslogd, in a folder of the architecture.
has_rsyslog_tls() { for library in /usr/lib/*/rsyslog/lmnsd_ossl.so; do [ -e "$library" ] && return; done; return 1; }
has_arm64_libraries() { [ "$(uname -m)" != x86_64 ] || [ -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ]; }

# Tools of /usr/sbin are not on every user's PATH.
PATH="$PATH:/usr/sbin:/sbin"

# thing to look for : Debian package : what goes without it
wanted='
containerd:containerd:the containerd story (demo and test)
runc:runc:the containerd story (demo and test)
reference-plugins:containernetworking-plugins:the demo, and every test under the reference bridge
ip:iproute2:every test and demo in network namespaces
nft:nftables:the demo, and tests of masquerading
arping:iputils-arping:tests of duplicate addresses
ping:iputils-ping:tests of gateways that are asked
etcd:etcd-server:tests with a Kubernetes API server, or with etcd alone
etcdctl:etcd-client:the soak (make soak, and a test): etcd restored from a snapshot
faketime:faketime:tests of a clock that is set, and the soak (make soak)
mkfs.ext4:e2fsprogs:the soak (make soak, and a test): small disks that are filled and frozen
openssl:openssl:tests with a Kubernetes API server
rsyslogd:rsyslog:tests of the export of the history
rsyslog-tls:rsyslog-openssl:tests of the export of the history by TLS
strace:strace:tests of what the plugin does between two of its steps
script:bsdutils:tests of what is drawn on a terminal
zsh:zsh:tests of completion in zsh
fish:fish:tests of completion in fish
mandoc:mandoc:tests of the manual pages
systemd-analyze:systemd:tests of the pages on installing, and of the unit
chromium:chromium:tests and pictures of the page
emulator:qemu-user-static:tests of the release for arm64
arm64-libraries:libstdc++6-arm64-cross:tests of the release for arm64
cc:gcc:the static plugin (make static), and the benchmark (make bench)
static-libc:libc6-dev:the static plugin (make static)
cargo:cargo:the static plugin (make static); 1.85 or newer, which Debian 13 has, else rustup
arm64-compiler:gcc-aarch64-linux-gnu:the static plugin in the release for arm64
arm64-libc:libc6-dev-arm64-cross:the static plugin in the release for arm64
buildah:buildah:tests of the image and of the DaemonSet
debootstrap:debootstrap:tests of the image and of the DaemonSet
'

is_there() {
  case $1 in
    reference-plugins) has_reference_plugins ;;
    emulator) has_emulator ;;
    rsyslog-tls) has_rsyslog_tls ;;
    static-libc) links_static cc ;;
    cargo) has_cargo ;;
    arm64-compiler) crosses command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 ;;
    arm64-libc) crosses links_static aarch64-linux-gnu-gcc ;;
    arm64-libraries) has_arm64_libraries ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# As lines of the table.
missing_things() {
  echo "$wanted" | while IFS=: read -r thing package use; do
    [ -n "$thing" ] || continue
    case $demo:$use in --demo:*demo* | :*) ;; *) continue ;; esac
    is_there "$thing" || echo "$thing:$package:$use"
  done
}

# promtool, which checks the alert rules, is in Debian's package of Prometheus. Installed, that would add 96 MB, a user and
# a service that begins with the next boot; of 19 MB fetched the one program is kept, where nobody else looks.
promtool=.cache/promtool/promtool

fetch_promtool() {
  { command -v promtool >/dev/null 2>&1 || [ -x "$promtool" ]; } && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 0
  work=$(mktemp -d)
  # apt-get fetches as a user of its own, who has to be able to write there.
  chmod 777 "$work"
  echo 'setup: apt-get download prometheus (for promtool)'
  (cd "$work" && { apt-get download -qq prometheus || { apt-get update -qq && apt-get download -qq prometheus; }; }) \
    >"$work/log" 2>&1 || cat "$work/log" >&2
  for package in "$work"/*.deb; do
    [ -e "$package" ] || continue
    mkdir -p "${promtool%/*}"
    if dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/bin/promtool >"$promtool.new"; then
      chmod 755 "$promtool.new"
      mv -f "$promtool.new" "$promtool"
    fi
  done
  rm -rf "$work"
}

[ "$demo" = --demo ] || fetch_promtool || true
if [ "$demo" != --demo ] && ! command -v promtool >/dev/null 2>&1 && [ ! -x "$promtool" ]; then
  echo 'setup: MISSING promtool (Debian package prometheus): without it go the tests of the alert rules' >&2
fi

tell_missing() {
  missing_things | while IFS=: read -r thing package use; do
    echo "setup: MISSING $thing (Debian package $package, as root): without it goes $use" >&2
  done
}

missing=$(missing_things | cut -d: -f2 | sort -u | tr '\n' ' ')
case " $missing " in *' cargo '*) offers_cargo || missing=$(echo " $missing" | sed 's/ cargo / /; s/^ *//') ;; esac
if [ -z "$missing" ]; then
  tell_missing
  exit 0
fi

if [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "setup: apt-get install $missing"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  ours=$log
  trap 'rm -f $ours' EXIT
  trap 'exit 130' HUP INT TERM
  # Tests start what they need themselves; a service of the machine would only hold its ports.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    ours="$log /usr/sbin/policy-rc.d"
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
  fi
  # shellcheck disable=SC2086 # a list of package names
  if ! { apt-get install -qq -y --no-install-recommends $missing || {
    apt-get update -qq && apt-get install -qq -y --no-install-recommends $missing
  }; } >"$log" 2>&1; then
    cat "$log" >&2
  fi
  # With what it needed besides.
  installed=$(sed -n 's/^Setting up \([^ ]*\) .*/\1/p' "$log" | tr '\n' ' ' | sed 's/ $//')
  [ -z "$installed" ] || echo "setup: installed $installed; to remove them: apt-get purge $installed"
  # Not started now, and not with the next boot either: the ports of one may be those of a cluster's own etcd, and the other would
  # write the log of a machine where nothing did so before. The helper does nothing outside a package's scripts.
  not_at_boot() {
    case " $missing " in
      *" $1 "*) DPKG_MAINTSCRIPT_PACKAGE=$1 deb-systemd-helper disable "$2" >/dev/null 2>&1 || true ;;
    esac
  }
  not_at_boot etcd-server etcd.service
  not_at_boot rsyslog rsyslog.service
fi

tell_missing
