#!/bin/sh
# The tar.gz and the Debian package as a user installs them: into an empty folder each, used with an empty environment.
set -eu
archive=$1
package=$2
version=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() { echo "install test: $*" >&2; exit 1; }

. "$here/../main/dist/lib/java.sh"
find_java

# clean COMMAND...: runs it as a new user would.
mkdir "$root/home"
clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$root/home" ZERNEL_JAVA_HOME="$java_home" "$@"; }

tar -xzf "$archive" -C "$root"
prefix=$root/zernel-$version
clean sh "$here/smoke.sh" "$prefix/bin" "$version"

command -v dpkg > /dev/null || { echo "install test: no dpkg here, the Debian package is not tried"; exit 0; }
system=$root/system
mkdir -p "$system/var/lib/dpkg/info" "$system/var/lib/dpkg/updates"
: > "$system/var/lib/dpkg/status"
# A root that holds nothing else: no libraries to depend on, and no shell to chroot into.
dpkg_in() {
    clean dpkg --root="$system" --force-depends --force-not-root --force-script-chrootless --log=/dev/null "$@" > "$root/dpkg.log" 2>&1 \
        || { cat "$root/dpkg.log" >&2; fail "dpkg $* ended with status $?"; }
}
dpkg_in --install "$package"
ls "$system"/usr/lib/zernel/lib/*.aot > /dev/null || fail "the installation made no AOT cache"
for command in zernel-record zernel-analyze; do
    clean ZERNEL_JAVA_OPTS=-XX:AOTMode=on "$system/usr/bin/$command" --version > /dev/null || fail "$command cannot use its AOT cache"
done
clean sh "$here/smoke.sh" "$system/usr/bin" "$version" short
dpkg_in --purge zernel
left=$(find "$system" -path "$system/var/lib/dpkg" -prune -o -type f -print -o -type l -print)
[ -z "$left" ] || fail "purging the package leaves $left"
