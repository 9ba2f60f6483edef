#!/bin/sh
# The commands in a folder, run from another one: each starts with the jars beside it, and a recording made without any
# privilege can be reported, queried, described and served. `short` as third argument leaves out the killed recorder.
set -eu

bin=$(cd "$1" && pwd)
version=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect WHAT GOT: GOT must contain WHAT.
expect() {
    case $2 in
        *"$1"*) ;;
        *)
            printf 'smoke test: expected %s in:\n%s\n' "'$1'" "$2" >&2
            exit 1
            ;;
    esac
}

# wait_for WHAT FILE PROCESS: until FILE contains WHAT, the process ended, or half a minute went by.
wait_for() {
    tries=0
    until grep -q "$1" "$2" 2> /dev/null || ! kill -0 "$3" || [ $tries = 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}

for command in zernel zernel-record zernel-analyze; do
    expect "$command $version" "$("$bin/$command" --version)"
done
"$bin/zernel" record --simulate -o run.parquet 2> /dev/null
expect 'Findings' "$("$bin/zernel" analyze report run.parquet)"
expect '"phases"' "$("$bin/zernel-analyze" report --json run.parquet)"
expect 'true' "$("$bin/zernel-analyze" sql --csv run.parquet 'SELECT count(*) > 1000 FROM events')"
expect 'simulated' "$("$bin/zernel-analyze" info run.parquet)"

"$bin/zernel" serve run.parquet --metrics-port 0 --ws-port 0 --speed max 2> serve.err &
server=$!
wait_for '  terminal ' serve.err $server
port=$(sed -n 's|^  WebSocket .*:||p' serve.err)
# The first snapshots may be from before the first event.
tries=0
until "$bin/zernel" watch --once --port "$port" > watch.out && grep -q steps watch.out || [ $tries = 20 ]; do
    tries=$((tries + 1))
    sleep 0.5
done
kill $server
expect 'steps' "$(cat watch.out)"

# A recorder that is killed leaves what can be read at once and be made the final file.
if [ "${3:-}" != short ] && [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ]; then
    "$bin/zernel-record" -o killed.parquet --kinds process,wait -p $$ 2> killed.err &
    recorder=$!
    wait_for ': recording ' killed.err $recorder
    if grep -q ': recording ' killed.err; then
        sleep 1
        kill -9 $recorder
        expect 'complete             false' "$("$bin/zernel-analyze" info killed.parquet)"
        "$bin/zernel-record" recover killed.parquet 2> /dev/null
        expect 'recovered' "$("$bin/zernel-analyze" info killed.parquet)"
    fi
fi
echo "smoke test: the commands of $bin work"
