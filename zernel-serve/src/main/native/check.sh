#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is prebuilt/ what the source says? Called by `make check`; with --or-skip by Maven, which skips it where tools are missing.
#
# The same clang must give the same code and data; another one is held to the same functions in and out. Neither may need a libc
# newer than 2.17.
set -eu

cd "$(dirname "$0")"
say() { echo "demo job check: $*"; }
if [ "${1:-}" = --or-skip ]; then
    skip() {
        say "skipped: $1 is missing; apt-get install make clang binutils"
        exit 0
    }
    command -v make > /dev/null || skip make
    [ -n "$(make -s print-CLANG)" ] || skip clang
    command -v objdump > /dev/null || skip objdump
    exec make -s check
fi

program=zernel-demo-job
committed=prebuilt/$1
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

code() { objdump -d -s -j .text -j .rodata "$1" | sed '/file format/d'; }
functions() { objdump -T "$1" | awk '/ \*UND\* | [gw] / { print $(NF - 1), $NF }' | sort; }

# compare WHAT: WHAT, a function above, of the committed and the new program.
compare() {
    "$1" "$committed/$program" > "$new/a"
    "$1" "$new/$program" > "$new/b"
    cmp -s "$new/a" "$new/b" || {
        diff "$new/a" "$new/b" | head -n 10
        say "$committed/$program: its $1 is not what its source gives; run make -C zernel-serve/src/main/native and commit"
        exit 1
    }
}

"$MAKE" -s OUT="$new" all
compare functions
version=$("$CLANG" -dumpversion)
if [ "$version" = "$(cat "$committed/CLANG")" ]; then
    compare code
else
    say "clang $version is here, prebuilt/ is of clang $(cat "$committed/CLANG"): comparing functions, not instructions"
fi
newest=$(objdump -T "$committed/$program" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)
[ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -n 1)" = 2.17 ] || {
    say "$committed/$program needs libc $newest"
    exit 1
}
say "$program is what its source gives"
