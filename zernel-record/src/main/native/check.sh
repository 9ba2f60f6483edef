#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does prebuilt/ hold what the sources say? Called by `make check`; with --or-skip by Maven, which skips it where tools are
# missing.
#
# The same clang must give the same code and data. Another clang or linker is held to the same functions in and out. Neither may need
# a libc newer than 2.17, on which the oldest wheels of PyTorch run.
set -eu

cd "$(dirname "$0")"
if [ "${1:-}" = --or-skip ]; then
    skip() {
        echo "native check: skipped: $1 is missing; apt-get install make clang llvm"
        exit 0
    }
    command -v make > /dev/null || skip make
    [ -n "$(make -s print-CLANG)" ] || skip clang
    command -v objdump > /dev/null || skip objdump
    exec make -s check
fi

library=libzernel-activity.so
committed=prebuilt/$1
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
failed=0

say() { echo "native check: $*"; }

wrong() {
    say "$*"
    failed=1
}

# code LIBRARY: its instructions and constants.
code() { objdump -d -s -j .text -j .rodata "$1" | sed '/file format/d'; }

# functions LIBRARY: what it exports and needs, with versions.
functions() { objdump -T "$1" | awk '/ \*UND\* | [gw] / { print $(NF - 1), $NF }' | sort; }

# compare WHAT: WHAT, a function above, of the committed and the new library.
compare() {
    "$1" "$committed/$library" > "$new/a"
    "$1" "$new/$library" > "$new/b"
    cmp -s "$new/a" "$new/b" || {
        diff "$new/a" "$new/b" | head -n 10
        wrong "$committed/$library: its $1 is not what its sources give; run make -C zernel-record/src/main/native and commit"
    }
}

"$MAKE" -s OUT="$new" all
compare functions
version=$("$CLANG" -dumpversion)
built_by=$(cat "$committed/CLANG")
if [ "$version" = "$built_by" ]; then
    compare code
else
    say "clang $version is here, prebuilt/ is of clang $built_by: comparing functions, not instructions"
fi

newest=$(objdump -T "$committed/$library" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)
[ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -n 1)" = 2.17 ] || wrong "$committed/$library needs libc $newest"

if [ -z "$CLANG_FORMAT" ]; then
    say 'clang-format is not installed: the format is not checked'
elif [ "$("$CLANG_FORMAT" --version | sed 's/.*version \([0-9]*\).*/\1/')" != "${built_by%%.*}" ]; then
    say "clang-format is not of version ${built_by%%.*}: the format is not checked"
else
    "$CLANG_FORMAT" --dry-run --Werror *.c *.h || wrong 'a source is not formatted; run make -C zernel-record/src/main/native format'
fi

[ "$failed" -eq 0 ] && say "$library is what its sources give"
exit "$failed"
