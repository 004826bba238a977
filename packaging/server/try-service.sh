#!/bin/sh
# Boots a systemd of its own, installs the Debian package of leafid-server that lies in a folder, and uses its service: ids,
# reload, a crash, restart, stop, and what the unit forbids: try-service.sh FOLDER. As root, on a system that may be thrown
# away and has systemd and Python. Where no systemd can be booted, it says why and ends with 77.
set -eu

package=$(echo "$1"/*.deb)
unit=leafid-server.service
work=$(mktemp -d)

fail() {
    echo "$*" >&2
    exit 1
}

# In namespaces of its own: files, processes, network, host name, cgroups.
cat >"$work/boot" <<'BOOT'
set -eu
mount --make-rprivate /
umount --lazy /proc
mount -t proc proc /proc
mount -t sysfs -o ro sysfs /sys
if grep -qv ^0: /proc/self/cgroup; then
    mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
    mkdir /sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd,xattr systemd /sys/fs/cgroup/systemd
else
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi
mkdir "$1/dev"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for each in null zero full random urandom tty; do
    touch "$1/dev/$each"
    mount --bind "/dev/$each" "$1/dev/$each"
done
mkdir "$1/dev/shm"
ln -s pts/ptmx "$1/dev/ptmx"
umount --lazy /dev
mount --move "$1/dev" /dev
mount -t tmpfs -o mode=755 tmpfs /run
# systemd empties it when it starts.
mount -t tmpfs tmpfs /tmp
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target
BOOT
unshare --mount --pid --fork --net --uts --ipc --cgroup --kill-child sh "$work/boot" "$work" >"$work/boot.log" 2>&1 </dev/null &
outer=$!
trap 'kill -9 $outer 2>/dev/null || true' EXIT
inside() { nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --root --wd timeout 30 "$@"; }
init=
tries=0
until [ -n "$init" ] && inside systemctl is-system-running >"$work/running" 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ] || ! kill -0 $outer 2>/dev/null; then
        echo "no systemd can be booted here: $(cat "$work/boot.log" "$work/running" 2>/dev/null | tail -n 1)"
        exit 77
    fi
    sleep 0.2
    init=$(pgrep -P $outer || true)
done

property() { inside systemctl show --property "$1" --value "$unit"; }
journal() { inside journalctl --unit "$unit" --output cat --no-pager; }
ids=0
next_id() {
    address=http://127.0.0.1:8080/api/segment/get/order
    id=$(inside python3 -c "import urllib.request as r; print(r.urlopen('$address', timeout=10).read().decode())")
    [ "$id" -gt "$ids" ] || fail "the id $id after $ids"
    ids=$id
}
# After so many starts it is well again.
well() {
    tries=0
    until [ "$(property NRestarts)" = "$1" ] && inside leafid-server health >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "it is not well: $(journal | tail -n 5)"
        sleep 0.2
    done
}

# In images of containers it forbids that packages start services.
rm -f /usr/sbin/policy-rc.d
inside dpkg --install "$package" >"$work/install.log" 2>&1 || fail "$(cat "$work/install.log")"
well 0
[ "$(property ActiveState)" = active ] || fail "after the installation it is $(property ActiveState)"
inside setpriv --reuid=leafid-server --regid=leafid-server --clear-groups \
    leafid-server --config /etc/leafid-server.toml tag order >"$work/tag.log" 2>&1 || fail "$(cat "$work/tag.log")"
next_id
[ "$ids" = 1 ] || fail "the first id is $ids"

first=$(property MainPID)
inside systemctl reload "$unit"
sleep 0.5
next_id
[ "$(property MainPID)" = "$first" ] || fail "a reload restarts it"
journal | grep -q 'tokens: read again' || fail "a reload does not reach it: $(journal | tail -n 5)"
inside kill -KILL "$first"
well 1
[ "$(property MainPID)" != "$first" ] || fail "it was not killed"
next_id
inside systemctl restart "$unit"
well 0
next_id

# What the kernel says of the process.
pid=$(property MainPID)
status() { inside sed -n "s/^$1:[[:space:]]*//p" "/proc/$pid/status"; }
[ "$(status NoNewPrivs) $(status Seccomp)" = "1 2" ] || fail "NoNewPrivs, Seccomp: $(status NoNewPrivs) $(status Seccomp)"
for set in CapInh CapPrm CapEff CapBnd CapAmb; do
    [ "$(status $set)" = 0000000000000000 ] || fail "$set is $(status $set)"
done
[ "$(status Uid | cut -f 1)" = "$(inside id -u leafid-server)" ] || fail "it runs as $(status Uid)"
# Without CAP_SYS_RESOURCE systemd cannot raise its own.
files() { inside sed -n 's/^Max open files *[0-9]* *\([0-9]*\).*/\1/p' "/proc/$1/limits"; }
[ "$(files "$pid")" = 65536 ] || [ "$(files "$pid")" = "$(files 1)" ] || fail "it may open $(files "$pid") files"
for kind in mnt user; do
    [ "$(inside readlink "/proc/$pid/ns/$kind")" != "$(inside readlink "/proc/1/ns/$kind")" ] || fail "no $kind namespace of its own"
done

# The same unit with another program, which tries what is forbidden.
cat >/usr/lib/leafid-probe.py <<'PROBE'
import errno, mmap, os, socket, subprocess, time

def refused(what, *numbers):
    try:
        what()
    except OSError as error:
        assert error.errno in numbers, error
    else:
        raise AssertionError(f"line {what.__code__.co_firstlineno} is allowed")

own = "/var/lib/leafid-server/probe"
open(own, "w").close()
refused(lambda: os.chmod(own, 0o4755), errno.EPERM)
os.remove(own)
for path in ("/etc/probe", "/usr/probe", "/var/probe"):
    refused(lambda: open(path, "w"), errno.EROFS)
refused(lambda: os.listdir("/root"), errno.EACCES)
refused(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), errno.EAFNOSUPPORT)
refused(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC), errno.EPERM)
refused(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()), errno.EPERM)
refused(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), errno.EPERM)
assert subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL).returncode == 1
assert not os.path.exists("/proc/1") and not os.path.exists("/proc/meminfo")
assert not os.path.exists("/tmp/seen") and "tty" in os.listdir("/dev") and "kmsg" not in os.listdir("/dev")
print("all is refused")
PROBE
inside touch /tmp/seen
inside sh -ec 'sed "s|^ExecStart=.*|ExecStart=/usr/bin/python3 -I /usr/lib/leafid-probe.py|; s|^Type=.*|Type=oneshot|; s|^Restart=.*||" \
    /usr/lib/systemd/system/leafid-server.service >/run/systemd/system/leafid-probe.service; systemctl daemon-reload'
inside systemctl start leafid-probe.service || fail "$(inside journalctl --unit leafid-probe --output cat --no-pager)"
inside journalctl --unit leafid-probe --output cat --no-pager | grep -q 'all is refused' || fail "the probe did not run"

inside systemctl stop "$unit"
[ "$(property ActiveState) $(property Result)" = "inactive success" ] || fail "stopped: $(property ActiveState) $(property Result)"
journal | tail -n 5 | grep -q 'leafid-server has stopped' || fail "$(journal | tail -n 5)"
inside systemctl start "$unit"
well 0
next_id
inside dpkg --purge leafid-server >"$work/purge.log" 2>&1 || fail "$(cat "$work/purge.log")"
[ -z "$(inside pgrep -x leafid-server)" ] || fail "a removal leaves it running"
echo "installed, used, reloaded, killed, restarted, stopped and removed under $(inside systemctl --version | head -n 1)"
