#!/bin/sh
# Installs the Debian package of leafid-server that lies in a folder, verifies its service, runs it as its user, and
# removes it again: try-package.sh FOLDER. As root, on a system that may be thrown away and has systemd's tools and strace.
set -eu

package=$(echo "$1"/*.deb)
unit=/usr/lib/systemd/system/leafid-server.service
config=/etc/leafid-server.toml
work=$(mktemp -d)
cd "$work"

fail() {
    echo "$*" >&2
    exit 1
}

apt-get install -y --no-install-recommends "$package" >install.log 2>&1 || fail "$(cat install.log)"
[ -z "$(dpkg -V leafid-server)" ] || fail "dpkg -V: files are not those of the package"
[ "$(stat -c %U:%G:%a $config)" = root:leafid-server:640 ] || fail "who reads it: $(stat -c %U:%G:%a $config)"
[ -L /etc/systemd/system/multi-user.target.wants/leafid-server.service ] || fail "the service is not enabled"

systemd-analyze verify "$unit" >verify.log 2>&1 || fail "$(cat verify.log)"
! grep leafid-server verify.log || fail "systemd-analyze verify complains"
# Tenths of systemd's figure for exposure: 0 is the best, 100 the worst.
systemd-analyze security --offline=yes --no-pager --threshold=15 "$unit" >security.log 2>&1 || fail "$(tail -n 3 security.log)"

# As systemd starts it: its user, its folder, and the system calls of the unit.
state=/var/lib/leafid-server
install -d -o leafid-server -g leafid-server -m 0750 "$state"
cd "$state"
as_user() { setpriv --reuid=leafid-server --regid=leafid-server --clear-groups --no-new-privs "$@"; }
as_user leafid-server --config $config tag order >"$work/tag.log"
strace -f -qq -e signal=none -o "$work/calls" -u leafid-server leafid-server --config $config --listen 127.0.0.1:0 2>"$work/log" &
tracer=$!
tries=0
until grep -q 'listens on' "$work/log"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "it does not listen: $(cat "$work/log")"
    sleep 0.2
done
address=$(sed -n 's/.* listens on \([^,]*\),.*/\1/p' "$work/log")
server=$(pgrep -P $tracer -x leafid-server)
leafid-server --listen "$address" health
first=$(python3 -c "import urllib.request as r; print(r.urlopen('http://$address/api/segment/get/order', timeout=10).read().decode())")
[ "$first" = 1 ] || fail "the first id is $first"
kill -HUP "$server"
sleep 0.5
leafid-server --listen "$address" health
kill -TERM "$server"
wait $tracer || fail "it ended with $?: $(cat "$work/log")"
grep -q 'leafid-server has stopped' "$work/log" || fail "$(cat "$work/log")"
cd "$work"

# Those that a set of systemd's names has, with the sets in it.
calls_of() {
    systemd-analyze syscall-filter "$1" | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p' | while read -r name; do
        case "$name" in @*) calls_of "$name" ;; *) echo "$name" ;; esac
    done
}
calls_of @system-service | sort -u >allowed
{ calls_of @privileged && calls_of @resources; } | sort -u >denied
sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' calls | sort -u >used
[ "$(wc -l <used)" -gt 20 ] || fail "strace saw too little: $(cat used)"
# What strace does to become the user is not the server's.
refused=$(comm -12 used denied; comm -23 used allowed)
[ -z "$refused" ] || fail "the unit's filter refuses $refused"

apt-get remove -y leafid-server >remove.log 2>&1 || fail "$(cat remove.log)"
[ ! -e $unit ] && [ ! -e /usr/bin/leafid-server ] && [ -e $config ] || fail "what a removal leaves"
apt-get purge -y leafid-server >purge.log 2>&1 || fail "$(cat purge.log)"
[ ! -e $config ] && [ ! -L /etc/systemd/system/multi-user.target.wants/leafid-server.service ] || fail "a purge leaves settings"
[ -e $state/leafid-server.db ] || fail "a purge removes the counters"
cd /
echo "installed, verified, used and removed; $(tail -n 1 "$work/security.log")"
rm -rf "$work"
