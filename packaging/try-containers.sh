#!/bin/sh
# Installs the packages of build/dist on old systems, in containers: try-containers.sh, for this machine. It needs docker.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

try() {
    docker run --rm --volume "$root:/leafid:ro" "$1" sh -euc "$2; sh /leafid/packaging/try-packages.sh $3 /leafid/build/dist"
}

try debian:11 "apt-get update -qq; apt-get install -y -qq gcc libc6-dev pkg-config >/dev/null" deb
try almalinux:8 "dnf install -y -q gcc findutils pkgconf-pkg-config" rpm
