"""A process that holds both copies: `copies_subject.py LIBLEAFID DIRECTORY NAME`."""

import ctypes
import os
import signal
import sys
import threading
import time

import leafid

library = ctypes.CDLL(sys.argv[1])
directory, name = sys.argv[2], sys.argv[3]
IN_USE = 5
TIMEOUT_MS = 120_000
# Of clone(2) and mount(2).
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x2_0000, 0x1000_0000, 0x4000_0000
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000


class Native:
    """The C library's generator."""

    def __init__(self, worker):
        options, self.flake = ctypes.c_void_p(), ctypes.c_void_p()
        library.leafid_snowflake_options_new(ctypes.byref(options))
        library.leafid_snowflake_options_set_worker(options, str(worker).encode())
        library.leafid_snowflake_options_set_name(options, name.encode())
        library.leafid_snowflake_options_set_state_dir(options, directory.encode())
        library.leafid_snowflake_options_set_timeout_ms(options, ctypes.c_int64(TIMEOUT_MS))
        self.status = library.leafid_snowflake_open(options, ctypes.byref(self.flake))
        library.leafid_snowflake_options_free(options)

    def next(self):
        out = ctypes.c_int64()
        status = library.leafid_snowflake_next(self.flake, ctypes.byref(out))
        if status:
            text = ctypes.create_string_buffer(1024)
            library.leafid_last_error(text, 1024)
            raise RuntimeError(text.value.decode())
        return out.value

    def close(self):
        assert library.leafid_snowflake_close(self.flake) == 0
        library.leafid_snowflake_free(self.flake)


def module(worker):
    return leafid.Snowflake(worker, name=name, state_dir=directory, timeout_ms=TIMEOUT_MS)


def refused(worker):
    try:
        module(worker)
    except leafid.WorkerInUseError as error:
        # By the host's lock, or by the record.
        assert any(who in str(error) for who in ("held by this process", f"held by pid {os.getpid()} ")), error
        return True
    return False


def same_options():
    first = module(1)
    assert Native(1).status == IN_USE
    first.close()
    second = Native(1)
    assert second.status == 0 and refused(1)
    assert refused(1)
    second.close()
    module(1).close()


def sees_no_host_lock():
    """Whether this process has a network of its own from now on, and no other copy's lock file."""
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS):
        return False
    mounts = (None, b"/", None, MS_REC | MS_PRIVATE), (b"tmpfs", b"/run/lock", b"tmpfs", 0)
    return not any(libc.mount(*three, ctypes.c_ulong(flags), None) for *three, flags in mounts)


def by_the_lock_alone():
    """Where one copy does not see the other's host locks. In a child, which stays there."""
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0, "see the child's complaint"
        return
    first = module(2)
    if not sees_no_host_lock():
        print("namespaces of one's own are not permitted here: the lock was not tried alone,", flush=True)
    else:
        assert Native(2).status == IN_USE, "the lock let a second one in"
        first.close()
        second = Native(2)
        assert second.status == 0 and sees_no_host_lock() and refused(2)
    os._exit(0)


def both_with_forks(rounds):
    """Both in use by threads, while the process forks; children use both."""
    one, two = module("10-99"), Native("10-99")
    ids, done = [one.next(), two.next()], threading.Event()

    def issue(flake):
        while not done.is_set():
            ids.append(flake.next())
            time.sleep(0.0005)

    threads = [threading.Thread(target=issue, args=(flake,)) for flake in (one, two)]
    for thread in threads:
        thread.start()
    for turn in range(rounds):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.alarm(900)
            mine = [flake.next() for _ in range(50) for flake in ((one, two) if turn % 2 else (two, one))]
            assert len({i >> 12 & 1023 for i in mine}) == 2
            os.write(write, " ".join(map(str, mine)).encode())
            if turn % 3:
                os._exit(0)
            sys.exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"child {turn} ended with {status}"
        ids.extend(map(int, text.split()))
    done.set()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == len(ids), "an id was issued twice"
    one.close()
    two.close()
    return len(ids)


if __name__ == "__main__":
    import warnings

    # Python warns of forks beside threads: these are this program's own.
    warnings.simplefilter("ignore", DeprecationWarning)
    same_options()
    by_the_lock_alone()
    print(both_with_forks(40), "ids of both, 40 forks")
