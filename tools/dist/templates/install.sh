#!/bin/sh
# Installs belay: for you (into ~/.local), or with --system for all users (into /usr/local).
#
#   sh install.sh [--system] [--prefix DIR] [--version VERSION] [--from URL]
#
# The archive is checked against the release's checksums before anything is unpacked. --uninstall takes away what was installed.
set -eu

version='[[ .Version ]]'
from=''
prefix="${HOME:-}/.local"
uninstall=''

say() { printf '%s\n' "install.sh: $*" >&2; }
fail() { say "$*"; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
  --system) prefix=/usr/local ;;
  --uninstall) uninstall=yes ;;
  --prefix | --version | --from)
    [ $# -ge 2 ] || fail "$1 needs a value"
    case $1 in
    --prefix) prefix=$2 ;;
    --version) version=${2#v} ;;
    --from) from=${2%/} ;;
    esac
    shift
    ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) fail "unknown option $1; see: sh install.sh --help" ;;
  esac
  shift
done
case $prefix in /*) ;; *) fail "--prefix $prefix is not an absolute path" ;; esac

as_root=''
may_write() { # the first directory on the way to it that exists
  d=$1
  while [ ! -e "$d" ]; do d=$(dirname "$d"); done
  [ -w "$d" ]
}
if ! may_write "$prefix/bin"; then
  command -v sudo >/dev/null || fail "cannot write to $prefix; run it as root, or choose another --prefix"
  as_root=sudo
fi

completions="share/bash-completion/completions/belay share/zsh/site-functions/_belay share/fish/vendor_completions.d/belay.fish"
if [ -n "$uninstall" ]; then
  for f in bin/belay bin/belayd $completions; do $as_root rm -f "$prefix/$f"; done
  $as_root rm -f "$prefix"/share/man/man1/belay.1 "$prefix"/share/man/man1/belayd.1 "$prefix"/share/man/man1/belay-*.1
  say "removed belay from $prefix"
  exit 0
fi

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no archive for $(uname -s) that this script can install; see [[ .Homepage ]]/releases" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no archive for $(uname -m); build it with: go install github.com/belay-run/belay/cmd/...@v$version" ;;
esac
[ -n "$from" ] || from="[[ .Homepage ]]/releases/download/v$version"
name="belay_${version}_${os}_${arch}"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

fetch() { # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "needs curl or wget"
  fi || fail "cannot download $1"
}
fetch "$from/checksums.txt" "$dir/checksums.txt"
fetch "$from/$name.tar.gz" "$dir/$name.tar.gz"

want=$(awk -v f="$name.tar.gz" '$2 == f { print $1 }' "$dir/checksums.txt")
[ -n "$want" ] || fail "checksums.txt does not list $name.tar.gz"
if command -v sha256sum >/dev/null; then
  got=$(sha256sum "$dir/$name.tar.gz")
elif command -v shasum >/dev/null; then
  got=$(shasum -a 256 "$dir/$name.tar.gz")
else
  fail "needs sha256sum or shasum to check the archive"
fi
[ "${got%% *}" = "$want" ] || fail "$name.tar.gz is not what checksums.txt says; nothing was installed"

tar -xzf "$dir/$name.tar.gz" -C "$dir"
put() { # FROM TO MODE: a running belay keeps its file, because the new one is renamed into place
  $as_root mkdir -p "$(dirname "$prefix/$2")"
  $as_root cp "$dir/$name/$1" "$prefix/$2.new"
  $as_root chmod "$3" "$prefix/$2.new"
  $as_root mv -f "$prefix/$2.new" "$prefix/$2"
}
put bin/belayd bin/belayd 755
put bin/belay bin/belay 755
for page in "$dir/$name"/share/man/man1/*; do put "share/man/man1/${page##*/}" "share/man/man1/${page##*/}" 644; done
put share/completions/belay.bash share/bash-completion/completions/belay 644
put share/completions/_belay share/zsh/site-functions/_belay 644
put share/completions/belay.fish share/fish/vendor_completions.d/belay.fish 644

say "installed $("$prefix/bin/belay" --version) in $prefix/bin"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) say "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
