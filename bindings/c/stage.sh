#!/bin/sh
# Lays the C library out as it is installed: stage.sh TARGET_DIR DESTINATION. `make c-lib` builds what it takes.
# The destination may be copied to any prefix with `cp -a`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
built=$1/release
to=$2
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
# What rustc names for a static library of std (`rustc --print native-static-libs`); libc comes with the compiler.
native="-lgcc_s -lutil -lrt -lpthread -lm -ldl"

put() {
    # A new file in place of the old: a program that has the old one mapped must not see it change.
    cp "$1" "$2.new"
    mv "$2.new" "$2"
}

fill() {
    sed -e "s|@VERSION@|$version|" -e "s|@NATIVE_LIBS@|$3|" "$1" >"$2.new"
    mv "$2.new" "$2"
}

mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/lib/cmake/leafid"
put "$built/libleafid_c.so" "$to/lib/libleafid.so.$version"
ln -sfn "libleafid.so.$version" "$to/lib/libleafid.so.0"
ln -sfn libleafid.so.0 "$to/lib/libleafid.so"
put "$built/libleafid_c.a" "$to/lib/libleafid.a"
put "$root/include/leafid.h" "$to/include/leafid.h"
put "$root/include/leafid.hpp" "$to/include/leafid.hpp"
fill "$here/package/leafid.pc.in" "$to/lib/pkgconfig/leafid.pc" "$native"
fill "$here/package/leafid-config.cmake.in" "$to/lib/cmake/leafid/leafid-config.cmake" \
    "$(echo "$native" | sed 's/ /;/g')"
fill "$here/package/leafid-config-version.cmake.in" "$to/lib/cmake/leafid/leafid-config-version.cmake" ""
echo "leafid $version for C is in $to"
