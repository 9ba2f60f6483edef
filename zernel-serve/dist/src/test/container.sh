#!/bin/sh
# The container image, where an engine runs here and has its base image: nothing is pulled. Its commands make a recording
# and report it.
set -eu
dockerfile=$1
context=$2
version=$3
base=$(sed -n 's/^FROM //p' "$dockerfile")
image=zernel-test-$$
container=
skip() { echo "container test: skipped: $*"; exit 0; }

if docker info > /dev/null 2>&1; then
    engine=docker
elif command -v podman > /dev/null; then
    engine=podman
elif command -v buildah > /dev/null; then
    engine=buildah
else
    skip "no container engine runs here"
fi
if [ $engine = buildah ]; then
    export BUILDAH_ISOLATION=chroot
    buildah inspect --type image "$base" > /dev/null 2>&1 || skip "buildah has no image $base"
else
    $engine image inspect "$base" > /dev/null 2>&1 || skip "$engine has no image $base"
fi

trap '[ -z "$container" ] || buildah rm "$container" > /dev/null; $engine rmi "$image" > /dev/null' EXIT
$engine build -q -f "$dockerfile" -t "$image" "$context" > /dev/null
if [ $engine = buildah ]; then
    container=$(buildah from --pull=never "localhost/$image")
    in_image() { buildah run "$container" -- sh -c "$1"; }
else
    in_image() { $engine run --rm --entrypoint sh "$image" -c "$1"; }
fi
said=$(in_image 'zernel --version && zernel record --simulate -o run.parquet && zernel analyze report run.parquet')
for expected in "zernel $version" Findings; do
    case $said in
        *"$expected"*) ;;
        *) echo "container test: expected '$expected' in: $said" >&2; exit 1 ;;
    esac
done
in_image 'ls /opt/zernel/lib/*.aot' > /dev/null
echo "container test: the image built by $engine works"
