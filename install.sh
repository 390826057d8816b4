#!/bin/sh
{ # The shell reads up to the last line before it runs anything: a script that was cut off does nothing, and fails.
set -eu

usage() {
  cat <<'END'
Installs belay: for you (into ~/.local), or with --system for all users (into /usr/local).

  sh install.sh [--system] [--prefix DIR] [--version VERSION] [--from URL|DIR] [--verify | --no-verify] [--commit SHA] [--trusted-root FILE]

In an unpacked archive it installs what is beside it; in a clone of the repository it builds that, which takes Go and make. Elsewhere, and with
--version, --from or --verify, it installs the archive of a release: from GitHub, from another URL, or from a directory with the release's files.

The archive is checked against the release's checksums before anything is unpacked. Where gh is installed, it also verifies that
the release's workflow has built the archive of the release's tag; --verify fails where that cannot be verified, --no-verify leaves it out, and
--commit names the commit that it has to be built from. Without a network gh needs the file that gh attestation trusted-root prints: --trusted-root.
--uninstall takes away what was installed.
END
}

version='' # make dist fills it in
repository=belay-run/belay
homepage=https://github.com/$repository
from=''
prefix=${HOME:+$HOME/.local}
uninstall=''
verify=if-possible
commit=''
trusted=''
tree='' # the unpacked archive, or the clone, that this script lies in; none where it comes through a pipe
case $0 in
install.sh | */install.sh) tree=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) ;;
esac
[ -z "$tree" ] || [ -z "$(find "$tree" -prune -perm -0002)" ] || tree='' # what is beside it in /tmp may be of anyone

say() { printf '%s\n' "install.sh: $*" >&2; }
fail() { say "$*"; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
  --system) prefix=/usr/local ;;
  --uninstall) uninstall=yes ;;
  --verify) verify=yes tree='' ;;
  --no-verify) verify='' ;;
  --prefix | --version | --from | --commit | --trusted-root)
    [ $# -ge 2 ] || fail "$1 needs a value"
    case $1 in
    --prefix) prefix=$2 ;;
    --version) version=${2#v} tree='' ;;
    --from) from=${2%/} tree='' ;;
    --commit) commit=$2 tree='' ;;
    --trusted-root) trusted=$2 tree='' ;;
    esac
    shift
    ;;
  -h | --help) usage; exit 0 ;;
  *) fail "unknown option $1; see: sh install.sh --help" ;;
  esac
  shift
done
check_version() { # nothing that could lead to another repository
  case $version$commit in *[!0-9A-Za-z.+-]*) fail "--version and --commit have only letters, digits and . + -" ;; esac
  case $version in [0-9]*) ;; *) fail "--version needs a release, such as 0.1.0" ;; esac
}
[ -n "$prefix" ] || fail "HOME is not set; say where to install it with --prefix DIR or --system"
case $prefix in /*) ;; *) fail "--prefix $prefix is not an absolute path" ;; esac
[ -z "$version$commit" ] || check_version
[ -d "$from" ] || case $from in *[!!-~]*) fail "--from is neither a URL nor a directory" ;; esac

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
  $as_root rm -rf "$prefix/share/doc/belay"
  say "removed belay from $prefix"
  exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

get() { # URL-OR-FILE TO
  if [ -d "$from" ]; then
    [ -f "$1" ] && cp "$1" "$2"
  elif command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "needs curl or wget"
  fi
}
fetch() { get "$@" || fail "cannot get $1"; }

# release gets the archive of a release, checks it, and unpacks it into $tree.
release() {
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no archive for $(uname -s) that this script can install; see $homepage/releases" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no archive for $(uname -m); build it with: go install github.com/belay-run/belay/cmd/...@${version:+v}${version:-latest}" ;;
  esac
  if [ -z "$from" ]; then
    from="$homepage/releases/latest/download"
    [ -z "$version" ] || from="$homepage/releases/download/v$version"
  fi
  fetch "$from/checksums.txt" "$dir/checksums.txt"
  if [ -z "$version" ]; then
    version=$(awk -v end="_${os}_$arch.tar.gz" '{ n = length($2) - length(end) } substr($2, 1, 6) == "belay_" && substr($2, n + 1) == end { print substr($2, 7, n - 6); exit }' "$dir/checksums.txt")
    check_version
  fi
  name="belay_${version}_${os}_${arch}"
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
  verify_origin
  tar -xzf "$dir/$name.tar.gz" -C "$dir"
  tree=$dir/$name
}

# Checksums that come from the same place as the archive tell that it is whole. Where it comes from is in a statement that GitHub signed for
# the workflow that built it, of which repository, tag and commit; gh needs no account to verify it.
verify_origin() {
  unverified=''
  if [ -z "$verify" ]; then
    :
  elif ! gh attestation verify --help 2>/dev/null | grep -q -e --source-digest; then
    unverified="gh is not installed, or is older than its command attestation"
  elif ! get "$from/belay_$version.sigstore.json" "$dir/bundle.json"; then
    unverified="there is no $from/belay_$version.sigstore.json"
  else
    gh attestation verify "$dir/$name.tar.gz" --bundle "$dir/bundle.json" --repo "$repository" \
      --signer-workflow "$repository/.github/workflows/release.yml" --source-ref "refs/tags/v$version" \
      ${commit:+--source-digest "$commit"} ${trusted:+--custom-trusted-root "$trusted"} --deny-self-hosted-runners >"$dir/said" 2>&1 || {
      cat "$dir/said" >&2
      fail "gh does not verify that $name.tar.gz is of $repository v$version${commit:+ at $commit}; nothing was installed. To leave this out: --no-verify"
    }
  fi
  case $unverified,$verify in
  ,*) ;;
  *,yes) fail "$unverified, so it is not verified where $name.tar.gz comes from; nothing was installed. To leave this out: --no-verify" ;;
  *) say "$unverified, so it is not verified where $name.tar.gz comes from, only that it is what checksums.txt says" ;;
  esac
}

man=share/man/man1 shells=share/completions # as in an archive
if [ -f "$tree/go.mod" ] && [ -d "$tree/cmd/belay" ]; then
  for tool in go make; do
    command -v "$tool" >/dev/null || fail "to build this clone takes Go and make. To install the latest release: curl -fsSL $homepage/releases/latest/download/install.sh | sh"
  done
  make -C "$tree" build man completions >&2
  man=dist/man shells=dist/completions
elif ! [ -f "$tree/bin/belay" ]; then
  release
fi

put() { # FROM TO MODE: a running belay keeps its file, because the new one is renamed into place
  $as_root mkdir -p "$(dirname "$prefix/$2")"
  $as_root cp "$tree/$1" "$prefix/$2.new"
  $as_root chmod "$3" "$prefix/$2.new"
  $as_root mv -f "$prefix/$2.new" "$prefix/$2"
}
put bin/belayd bin/belayd 755
put bin/belay bin/belay 755
for page in "$tree/$man"/*.1; do put "$man/${page##*/}" "share/man/man1/${page##*/}" 644; done
put $shells/belay.bash share/bash-completion/completions/belay 644
put $shells/_belay share/zsh/site-functions/_belay 644
put $shells/belay.fish share/fish/vendor_completions.d/belay.fish 644
doc=$prefix/share/doc/belay
$as_root rm -rf "$doc"
$as_root mkdir -p "$doc"
for top in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE THIRD-PARTY-NOTICES.txt docs examples; do
  [ ! -e "$tree/$top" ] || $as_root cp -R "$tree/$top" "$doc"
done
$as_root chmod -R a+rX "$doc"

say "installed $("$prefix/bin/belay" --version) in $prefix/bin"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) say "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
exit
}
