#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Does prebuilt/ hold what the sources say? Called by `make check`; with --or-skip by Maven, which skips it where tools
# are missing.
#
# The same clang must give the same instructions and BTF types. Line information may differ (a comment was moved, the
# system's headers are newer), which is reported only. Another clang is held to the same sections and struct layouts.
set -eu

if [ "${1:-}" = --or-skip ]; then
    cd "$(dirname "$0")"
    skip() {
        echo "bpf check: skipped: $1 is missing; apt-get install make clang llvm libbpf-dev"
        exit 0
    }
    command -v make > /dev/null || skip make
    [ -n "$(make -s print-CLANG)" ] || skip clang
    [ -n "$(make -s print-STRIP)" ] && [ -n "$(make -s print-OBJDUMP)" ] || skip llvm
    make -s headers 2> /dev/null || skip libbpf-dev
    exec make -s check
fi

arch=$1
committed=prebuilt/$arch
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
failed=0

say() { echo "bpf check: $*"; }

wrong() {
    say "$*"
    failed=1
}

# programs OBJECT: its instructions with their relocations.
programs() { "$OBJDUMP" -d -r "$1" | sed '/file format/d'; }

# sections OBJECT: the names of its program sections, which say what they attach to.
sections() { "$OBJDUMP" -h "$1" | awk '/TEXT/ { print $2 }' | sort; }

# types OBJECT: its BTF types.
types() { bpftool btf dump file "$1" format raw; }

# layouts OBJECT: the members of its structs, in any order of structs.
layouts() { bpftool btf dump file "$1" format raw | awk '/STRUCT|UNION/ { s = $3 " " $4 } /^\t.*bits_offset/ { print s, $1, $3 }' | sort; }

# compare WHAT OBJECT: WHAT, a function above, of the committed and the new OBJECT.
compare() {
    "$1" "$committed/$2" > "$new/a"
    "$1" "$new/$2" > "$new/b"
    cmp -s "$new/a" "$new/b" || {
        diff "$new/a" "$new/b" | head -n 10
        wrong "$committed/$2: its $1 are not what its source gives; run make -C bpf and commit"
    }
}

"$MAKE" -s OUT="$new" all
version=$("$CLANG" -dumpversion)
built_by=$(cat "$committed/CLANG")
if command -v bpftool > /dev/null; then btf=true; else btf=false; fi
$btf || say 'bpftool is not installed: BTF is compared only where whole objects are equal'
[ "$version" = "$built_by" ] \
    || say "clang $version is here, prebuilt/ is of clang $built_by: comparing sections and layouts, not instructions"

for path in "$new"/*.bpf.o "$committed"/*.bpf.o; do
    object=$(basename "$path")
    if [ ! -e "$new/$object" ]; then
        wrong "$committed/$object has no source"
    elif [ ! -e "$committed/$object" ]; then
        wrong "$committed/$object is missing; run make -C bpf and commit it"
    elif [ "$path" = "$committed/$object" ] || cmp -s "$new/$object" "$committed/$object"; then
        continue
    elif [ "$version" = "$built_by" ]; then
        say "$object differs from a rebuild; line information may, programs and types may not"
        compare programs "$object"
        ! $btf || compare types "$object"
    else
        compare sections "$object"
        ! $btf || compare layouts "$object"
    fi
done

if [ -z "$CLANG_FORMAT" ]; then
    say 'clang-format is not installed: the format is not checked'
elif [ "$("$CLANG_FORMAT" --version | sed 's/.*version \([0-9]*\).*/\1/')" != "${built_by%%.*}" ]; then
    say "clang-format is not of version ${built_by%%.*}: the format is not checked"
else
    "$CLANG_FORMAT" --dry-run --Werror *.bpf.c *.h || wrong 'a source is not formatted; run make -C bpf format'
fi

[ "$failed" -eq 0 ] && say "$(ls "$new"/*.bpf.o | wc -l) objects are what their sources give"
exit "$failed"
