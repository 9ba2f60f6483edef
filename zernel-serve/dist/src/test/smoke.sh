#!/bin/sh
# The distribution as a user has it, from another folder: every command starts with the jars beside it, and a recording
# made without any privilege can be reported, queried and described.
set -eu

zernel_home=$(cd "$1" && pwd)
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

for command in zernel zernel-record zernel-analyze; do
    expect "$command $version" "$("$zernel_home/bin/$command" --version)"
done
"$zernel_home/bin/zernel" record --simulate -o run.parquet 2> /dev/null
expect 'Findings' "$("$zernel_home/bin/zernel" analyze report run.parquet)"
expect '"phases"' "$("$zernel_home/bin/zernel-analyze" report --json run.parquet)"
expect 'true' "$("$zernel_home/bin/zernel-analyze" sql --csv run.parquet 'SELECT count(*) > 1000 FROM events')"
expect 'simulated' "$("$zernel_home/bin/zernel-analyze" info run.parquet)"

# A recorder that is killed leaves what can be read at once and be made the final file.
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ]; then
    "$zernel_home/bin/zernel-record" -o killed.parquet --kinds process,wait -p $$ 2> killed.err &
    recorder=$!
    tries=0
    until grep -q ': recording ' killed.err || ! kill -0 $recorder || [ $tries = 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    if grep -q ': recording ' killed.err; then
        sleep 1
        kill -9 $recorder
        expect 'complete             false' "$("$zernel_home/bin/zernel-analyze" info killed.parquet)"
        "$zernel_home/bin/zernel-record" recover killed.parquet 2> /dev/null
        expect 'recovered' "$("$zernel_home/bin/zernel-analyze" info killed.parquet)"
    fi
fi
echo "smoke test: the commands of $zernel_home work"
