#!/bin/sh
# Installs the Debian packages or the RPMs that lie in a folder, builds programs with them as users do, runs them, and
# removes the packages again: try-packages.sh deb|rpm FOLDER. As root, on a system that may be thrown away and has a C
# compiler and pkg-config.
set -eu

kind=$1
folder=$(cd "$2" && pwd)
examples=$(cd "$(dirname "$0")/../examples" && pwd)
work=$(mktemp -d)
cd "$work"
export LEAFID_WORKER=0-31 LEAFID_EXCLUSIVE_RANGE=1 LEAFID_STATE_DIR="$work/state"

fail() {
    echo "$*" >&2
    exit 1
}

none_left() {
    left=$(find /usr/include /usr/lib /usr/lib64 /usr/share/doc /usr/share/licenses \( -name 'libleafid*' -o -name leafid.pc \
        -o -path '*/include/leafid*' -o -path '*/cmake/leafid' -o -path '*/licenses/leafid' -o -path '*/doc/leafid' \) 2>/dev/null || true)
    [ -z "$left" ] || fail "$1: $left"
}

none_left "leafid is installed already"
plain=-lleafid
if [ "$kind" = rpm ] && command -v dnf >/dev/null; then
    dnf install -y -q "$folder"/*.rpm >install.log 2>&1 || fail "$(cat install.log)"
    rpm -V leafid leafid-devel
elif [ "$kind" = rpm ]; then
    # The database of a Debian has no package that could give what these need, and its compiler does not look in lib64.
    rpm --force-debian --nodeps -i "$folder"/*.rpm
    rpm --nodeps -V leafid leafid-devel
    plain="-L/usr/lib64 -lleafid"
    export PKG_CONFIG_PATH=/usr/lib64/pkgconfig LD_LIBRARY_PATH=/usr/lib64
else
    apt-get install -y --no-install-recommends "$folder"/*.deb >install.log 2>&1 || fail "$(cat install.log)"
    [ -z "$(dpkg -V libleafid0 libleafid-dev)" ] || fail "dpkg -V: files are not those of the packages"
    ldconfig -p | grep -q 'libleafid\.so\.0 ' || fail "ldconfig did not run"
fi

library=$(find /usr/lib64/ /usr/lib/ -name libleafid.a 2>/dev/null || true)
# shellcheck disable=SC2046,SC2086 # a flag a word
for name in quickstart segments; do
    rm -rf numbers state
    cc "$examples/$name.c" $plain -o plain
    cc "$examples/$name.c" $(pkg-config --cflags --libs leafid) -o found
    cc "$examples/$name.c" $(pkg-config --cflags --libs --static leafid | sed s/-lleafid/-l:libleafid.a/) -o static
    for program in plain found static; do
        ./$program >printed || fail "$program of $name ended with $?"
        grep -q '^1000 more, ' printed || fail "$program of $name printed $(cat printed)"
    done
    # Where /lib is a link, it is found there.
    ldd plain | grep -q "=> .*$(dirname "${library#/usr}")/libleafid.so.0" || fail "another library: $(ldd plain)"
done

if [ "$kind" = rpm ]; then
    rpm -e leafid leafid-devel
else
    apt-get purge -y libleafid0 libleafid-dev >remove.log 2>&1 || fail "$(cat remove.log)"
    ! ldconfig -p | grep leafid || fail "ldconfig still knows leafid"
fi
none_left "the packages leave something behind"
cd /
rm -rf "$work"
echo "installed, used and removed"
