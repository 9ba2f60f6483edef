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

mkdir "$root/a folder"
tar -xzf "$archive" -C "$root/a folder"
prefix="$root/a folder/zernel-$version"
clean "$prefix/lib/make-aot"
clean ZERNEL_JAVA_OPTS=-XX:AOTMode=on "$prefix/bin/zernel-analyze" --version > /dev/null || fail "the tar.gz cannot use its AOT cache"
clean sh "$here/smoke.sh" "$prefix/bin" "$version"

command -v dpkg > /dev/null || { echo "install test: no dpkg here, the Debian package is not tried"; exit 0; }
system=$root/system
mkdir -p "$system/var/lib/dpkg/info" "$system/var/lib/dpkg/updates"
# A root that holds nothing else: what the package depends on is only said to be there, and there is no shell to chroot into.
for library in $(dpkg-deb --field "$package" Depends | tr -d ,); do
    printf '%s\n' "Package: $library" 'Status: install ok installed' "Architecture: $(dpkg --print-architecture)" 'Version: 1' \
        'Maintainer: nobody <nobody@localhost>' 'Description: none' ''
    : > "$system/var/lib/dpkg/info/$library.list"
done > "$system/var/lib/dpkg/status"
dpkg_in() {
    clean dpkg --root="$system" --force-not-root --force-script-chrootless --log=/dev/null "$@" > "$root/dpkg.log" 2>&1 \
        || { cat "$root/dpkg.log" >&2; fail "dpkg $* ended with status $?"; }
}
dpkg_in --install "$package"
ls "$system"/usr/lib/zernel/lib/*.aot > /dev/null || fail "the installation made no AOT cache"
for command in zernel-record zernel-analyze; do
    clean ZERNEL_JAVA_OPTS=-XX:AOTMode=on "$system/usr/bin/$command" --version > /dev/null || fail "$command cannot use its AOT cache"
done
# The cache has all that help needs: one class that is missing makes the JVM open the jars.
clean ZERNEL_JAVA_OPTS="-Xlog:class+load:file=$root/classes" "$system/usr/bin/zernel-analyze" --help > /dev/null
grep -q 'picocli.CommandLine source: shared objects file' "$root/classes" || fail "picocli is not in the AOT cache"
! grep 'source: .*\.jar' "$root/classes" >&2 || fail "these classes are not in the AOT cache"
clean sh "$here/smoke.sh" "$system/usr/bin" "$version" short

# A Java that comes later: apt-get installs the recommended one after this package.
mkdir -p "$root/java/DEBIAN" "$root/java/usr/lib/jvm/java"
printf '%s\n' 'Package: a-java' 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@localhost>' 'Description: none' \
    > "$root/java/DEBIAN/control"
: > "$root/java/usr/lib/jvm/java/release"
dpkg-deb --build "$root/java" "$root/java.deb" > /dev/null
rm "$system"/usr/lib/zernel/lib/*.aot
dpkg_in --install "$root/java.deb"
ls "$system"/usr/lib/zernel/lib/*.aot > /dev/null || fail "no AOT cache is made for a Java that is installed later"
dpkg_in --purge a-java
for page in zernel zernel-record zernel-analyze-report; do
    [ -s "$system/usr/share/man/man1/$page.1.gz" ] || fail "no manual page $page"
done

units=$system/usr/lib/systemd/system
if command -v systemd-analyze > /dev/null; then
    mkdir "$root/units"
    for unit in zernel-record zernel-serve; do
        sed "s|/usr/bin/|$system/usr/bin/|" "$units/$unit.service" > "$root/units/$unit.service"
        said=$(systemd-analyze verify --man=no "$root/units/$unit.service" 2>&1) && [ -z "$said" ] || fail "$unit.service: $said"
    done
fi

# The recorder's service without systemd: its command with its rights and no others, as a user who is not root, keeps what
# this shell and its children do.
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] && command -v setpriv > /dev/null; then
    rights=$(sed -n 's/^AmbientCapabilities=//p' "$units/zernel-record.service" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
    mkdir "$root/recordings"
    mkdir -p "$root/run/zernel"
    chown 65534:65534 "$root/recordings" "$root/run/zernel"
    chmod 755 "$root"
    sed -n 's/^ExecStart=//p' "$units/zernel-record.service" \
        | sed "s|/usr/bin/|$system/usr/bin/|; s|/var/lib/zernel|$root/recordings|; s|^|exec |; s|$| --pid $$|" > "$root/start.sh"
    environment=$(sed -n "s|^Environment=||; T; s|%t|$root/run|; p" "$units/zernel-record.service")
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$root/home" ZERNEL_JAVA_HOME="$java_home" "$environment" setpriv --reuid 65534 --regid 65534 \
        --clear-groups --no-new-privs --inh-caps "-all,$rights" --ambient-caps "-all,$rights" \
        --bounding-set "-all,$rights" sh "$root/start.sh" 2> "$root/service.err" &
    recorder=$!
    tries=0
    until grep -q ': recording ' "$root/service.err" || ! kill -0 $recorder || [ $tries = 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    # Allowed to fail where the kernel does not allow probes, which the recorder's own tests tell.
    if grep -q ': recording ' "$root/service.err"; then
        for file in 1 2 3 4 5 6 7 8 9; do cat "$archive" > /dev/null; done
        clean ZERNEL_JAVA_OPTS=-Dzernel.run="$root/run/zernel" "$system/usr/bin/zernel-record" mark 'by root' > /dev/null || fail "root cannot mark the service's recording"
        kill $recorder
        wait $recorder || fail "the recorder of the service ended with status $?: $(cat "$root/service.err")"
        recorded=$(clean "$system/usr/bin/zernel-analyze" sql --csv "$root"/recordings/run-*.parquet \
            "SELECT count(*) > 0 FROM events WHERE comm = 'cat'")
        case $recorded in *true*) ;; *) cat "$root/service.err" >&2; fail "the service recorded nothing of cat: $recorded" ;; esac
        echo "install test: the recorder's service records with $rights and no others"
    elif [ -n "${ZERNEL_REQUIRE_BPF:-}" ]; then
        fail "the service does not record: $(cat "$root/service.err")"
    fi
fi
dpkg_in --purge zernel
left=$(find "$system" -path "$system/var/lib/dpkg" -prune -o -type f -print -o -type l -print)
[ -z "$left" ] || fail "purging the package leaves $left"
