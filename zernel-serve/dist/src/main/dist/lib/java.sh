# Finds a JDK and runs a program of this distribution; read by the scripts in bin/ and by ./zernel in the checkout.
# A JDK's `release` file is read instead of starting it, so the whole search takes milliseconds.

ZERNEL_JAVA_MIN=${ZERNEL_JAVA_MIN:-25}

# try_java DIR [TOOL]: succeeds, and sets java_home and java_version, when DIR is a new enough JDK that has bin/TOOL.
try_java() {
    [ -x "$1/bin/${2:-java}" ] && [ -r "$1/release" ] || return 1
    java_version=
    while IFS='="' read -r key _ value _; do
        [ "$key" != JAVA_VERSION ] || java_version=$value
    done < "$1/release"
    case ${java_version%%[.+-]*} in
        '' | *[!0-9]*) return 1 ;;
    esac
    [ "${java_version%%[.+-]*}" -ge "$ZERNEL_JAVA_MIN" ] || return 1
    java_home=$1
}

# home_of USER: the home folder of USER.
home_of() {
    if command -v getent > /dev/null; then getent passwd "$1"; else grep "^$1:" /etc/passwd; fi | cut -d: -f6
}

# find_java [TOOL]: sets java_home, or says how to get a JDK and exits 1.
find_java() {
    if [ -n "${ZERNEL_JAVA_HOME:-}" ]; then
        try_java "$ZERNEL_JAVA_HOME" "${1:-}" && return
        echo "zernel: finding a JDK: ZERNEL_JAVA_HOME '$ZERNEL_JAVA_HOME' is not a JDK $ZERNEL_JAVA_MIN or newer" >&2
        echo "hint: unset it, or point it at one" >&2
        exit 1
    fi
    [ -n "${JAVA_HOME:-}" ] && try_java "$JAVA_HOME" "${1:-}" && return
    on_path=$(command -v java || true)
    [ -z "$on_path" ] || on_path=$(readlink -f "$on_path")
    [ -n "$on_path" ] && try_java "${on_path%/bin/java}" "${1:-}" && return
    for candidate in /usr/lib/jvm/* /usr/java/* /opt/* /opt/java/* /opt/jdk/* /usr/local/*jdk* /usr/local/*java*; do
        try_java "$candidate" "${1:-}" && return
    done
    # Under sudo HOME is root's, and the JDK often is in the home of the user who typed the command.
    sudo_home=
    [ -n "${SUDO_USER:-}" ] && sudo_home=$(home_of "$SUDO_USER")
    for home_folder in "${HOME:-}" "$sudo_home"; do
        [ -n "$home_folder" ] || continue
        for candidate in "$home_folder"/.sdkman/candidates/java/* "$home_folder"/.jdks/* \
            "$home_folder"/.jbang/cache/jdks/* "$home_folder"/.gradle/jdks/* "$home_folder"/.asdf/installs/java/* \
            "$home_folder"/.local/share/mise/installs/java/* "$home_folder"/.jabba/jdk/*; do
            try_java "$candidate" "${1:-}" && return
        done
    done
    echo "zernel: finding a JDK: no JDK $ZERNEL_JAVA_MIN or newer in JAVA_HOME, on PATH, in /usr/lib/jvm, /opt or ~/.sdkman" >&2
    echo "hint: apt-get install openjdk-25-jdk, or temurin-25-jdk from https://adoptium.net where the distribution has none" >&2
    exit 1
}

# run_java ARTIFACT MAIN-CLASS MODE ARGS...: replaces this shell by the program. MODE is `short` for commands that end
# at once (quick start: C1 and the serial collector), `record` for the recorder, `serve`, `watch` and `mcp` for those of
# `zernel` that run until they are stopped, and `long` for exports.
run_java() {
    artifact=$1 main=$2 mode=$3
    shift 3
    find_java
    case $mode in
        # Without JFR: DuckDB's driver registers an event with it, which takes longer than a query.
        short) mode_flags='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djfr.unsupported.vm=true' ;;
        # Compiled at once: C2 deoptimises under load and the ring fills meanwhile. C1 alone inlines too little for what reads
        # records by small methods. The smallest heap: little is allocated.
        record) mode_flags='-XX:TieredStopAtLevel=1 -XX:C1MaxInlineSize=60 -XX:+UseSerialGC -Xms16m -XX:MaxNewSize=12m
            -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20' ;;
        # Runs for days beside a job: a heap that is capped, given back when it is not needed, and whose end ends the program.
        serve) mode_flags='-XX:+UseSerialGC -Xms16m -Xmx256m -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20
            -XX:+ExitOnOutOfMemoryError' ;;
        watch) mode_flags='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms8m -Xmx64m -XX:+ExitOnOutOfMemoryError' ;;
        # Starts as fast as `short`. An answer that does not fit the heap is one that is refused.
        mcp) mode_flags='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -Djfr.unsupported.vm=true' ;;
        *) mode_flags='' ;;
    esac
    # What lib/make-aot left; another JDK than it ran on goes without, and says nothing.
    cache=$zernel_home/lib/$artifact.aot
    [ -r "$cache" ] || cache=
    # The JVM decodes its arguments and names of files by the locale that it starts in; no option changes that. The recorder
    # starts its command in the user's own again.
    locale_flag=
    if [ "$(locale charmap 2> /dev/null || true)" != UTF-8 ]; then
        locale_flag=-Dzernel.lc_all=${LC_ALL-}
        export LC_ALL=C.UTF-8
    fi
    # The jar's manifest names the jars beside it that it needs. picocli.disable.closures: not to look for Groovy in all of
    # them. ZERNEL_JAVA_OPTS is split into words on purpose.
    # shellcheck disable=SC2086
    exec "$java_home/bin/java" $mode_flags ${cache:+"-XX:AOTCache=$cache" '-Xlog:aot*=off' '-Xlog:cds*=off'} \
        --enable-native-access=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED \
        --sun-misc-unsafe-memory-access=allow \
        ${locale_flag:+"$locale_flag"} -Djava.library.path="$zernel_home/lib" -Dzernel.home="$zernel_home" -Dpicocli.disable.closures=true \
        ${ZERNEL_JAVA_OPTS:-} \
        -cp "$zernel_home/lib/$artifact-@VERSION@.jar" "$main" "$@"
}
