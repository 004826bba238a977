#!/bin/sh
# Lays the C library out as it is installed: stage.sh SHARED STATIC PREFIX [LIBDIR]. LIBDIR is below PREFIX: `lib`, or
# `lib64`, or `lib/aarch64-linux-gnu`. What is laid out finds itself, so the folder may be copied to any prefix. For
# Windows DLLTOOL makes the import library.
#
# Where a message says `leafid help options`, share/doc/leafid has the page: the program is in other packages.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
shared=$1
static=$2
to=$3
lib=${4:-lib}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
case $lib in
    /* | *..*) echo "LIBDIR is $lib: name a folder below PREFIX, such as lib64" >&2; exit 1 ;;
esac
# From LIBDIR up to PREFIX.
up=$(echo "$lib" | sed 's|[^/][^/]*|..|g')

put() {
    # A new file in place of the old: a program that has the old one mapped must not see it change. Two makes may do so at once.
    cp "$1" "$2.new$$"
    chmod "$3" "$2.new$$"
    mv "$2.new$$" "$2"
}

fill() {
    sed -e "s|@VERSION@|$version|" -e "s|@NATIVE_LIBS@|$3|" -e "s|@LIBDIR@|$lib|" -e "s|@UP@|$up|" \
        -e "s|@FILE@|$file|" -e "s|@SONAME@|$soname|" "$1" >"$2.new$$"
    chmod 644 "$2.new$$"
    mv "$2.new$$" "$2"
}

# `native`: what rustc names for the static library (`rustc --print native-static-libs`); libc comes with the compiler.
mkdir -p "$to/include" "$to/$lib/pkgconfig" "$to/$lib/cmake/leafid" "$to/share/doc/leafid"
case $shared in
    *.dylib)
        put "$shared" "$to/$lib/libleafid.0.dylib" 755
        ln -sfn libleafid.0.dylib "$to/$lib/libleafid.dylib"
        file=libleafid.0.dylib soname=@rpath/libleafid.0.dylib
        # One word each: CMake drops a word that comes twice.
        native="-Wl,-framework,Security -Wl,-framework,CoreFoundation -liconv -lm"
        ;;
    *.dll)
        mkdir -p "$to/bin"
        put "$shared" "$to/bin/leafid.dll" 755
        # The one of rustc names leafid_c.dll.
        definitions=$(mktemp)
        { printf 'LIBRARY leafid.dll\nEXPORTS\n'; sed -nE 's/^[A-Za-z].*[ *](leafid_[a-z0-9_]+)\(.*/\1/p' "$root/include/leafid.h"; } >"$definitions"
        ${DLLTOOL:-x86_64-w64-mingw32-dlltool} -d "$definitions" -l "$to/$lib/libleafid.dll.a"
        rm "$definitions"
        # The name that Microsoft's compilers know.
        put "$to/$lib/libleafid.dll.a" "$to/$lib/leafid.lib" 644
        file="$up/bin/leafid.dll" soname=
        native="-lbcrypt -ladvapi32 -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp"
        ;;
    *)
        put "$shared" "$to/$lib/libleafid.so.$version" 755
        ln -sfn "libleafid.so.$version" "$to/$lib/libleafid.so.0"
        ln -sfn libleafid.so.0 "$to/$lib/libleafid.so"
        file=libleafid.so.$version soname=libleafid.so.0
        native="-lgcc_s -lutil -lrt -lpthread -lm -ldl"
        ;;
esac
native=${NATIVE_LIBS-$native}
put "$static" "$to/$lib/libleafid.a" 644
put "$root/include/leafid.h" "$to/include/leafid.h" 644
put "$root/include/leafid.hpp" "$to/include/leafid.hpp" 644
for page in "$root"/bindings/rust/pages/*.md; do
    put "$page" "$to/share/doc/leafid/${page##*/}" 644
done
fill "$here/package/leafid.pc.in" "$to/$lib/pkgconfig/leafid.pc" "$native"
fill "$here/package/leafid-config.cmake.in" "$to/$lib/cmake/leafid/leafid-config.cmake" \
    "$(echo "$native" | sed 's/ /;/g')"
fill "$here/package/leafid-config-version.cmake.in" "$to/$lib/cmake/leafid/leafid-config-version.cmake" ""
echo "leafid $version for C is in $to"
