#!/bin/sh
# Makes libleafid_core.a and libleafid_core.so: stage.sh STATIC_LIBRARY PREFIX [static]; with `static` only the first. The
# static library of rustc has one object with all of leafid, whose inner names are made local here, so that it can be
# linked beside other Rust. The rest of it is what every C compiler brings.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
to=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

member=$("${AR:-ar}" t "$1" | grep '^leafid_core_c[.-]')
"${AR:-ar}" p "$1" "$member" >"$folder/leafid_core.o"
# Rust's own `alloc` comes with tables and code for unwinding, which never runs: a panic ends in abort.
objcopy=${OBJCOPY:-objcopy}
"$objcopy" --wildcard --remove-section='.eh_frame*' --remove-section='.gcc_except_table*' \
    --remove-section='.rela.eh_frame*' --remove-section='.data.DW.ref.*' \
    --redefine-sym _Unwind_Resume=abort "$folder/leafid_core.o"
"$objcopy" --wildcard --keep-global-symbol='leafid_core_*' --strip-unneeded "$folder/leafid_core.o"
mkdir -p "$to/include" "$to/lib"
rm -f "$to/lib/libleafid_core.a"
"${AR:-ar}" rcs "$to/lib/libleafid_core.a" "$folder/leafid_core.o"
cp "$root/include/leafid_core.h" "$to/include/leafid_core.h"
[ "${3:-}" = static ] && exit
"${CC:-cc}" -shared -Wl,--gc-sections -Wl,-soname,libleafid_core.so.0 -Wl,-z,defs -Wl,-s \
    -o "$to/lib/libleafid_core.so.$version" "$folder/leafid_core.o"
ln -sfn "libleafid_core.so.$version" "$to/lib/libleafid_core.so.0"
ln -sfn libleafid_core.so.0 "$to/lib/libleafid_core.so"
echo "leafid_core $version for C is in $to: $(stat -L -c %s "$to/lib/libleafid_core.so") bytes, shared"
