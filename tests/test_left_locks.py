import fcntl
import os

from left_locks import sweep


def test_what_a_process_holds_stays(tmp_path):
    left, held, other = (tmp_path / name for name in ("leafid-a-7.lock", "leafid-b-7.lock", "other.lock"))
    for path in (left, held, other):
        path.touch()
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == [held, other]


def test_a_link_stays_and_a_pipe_stops_nothing(tmp_path):
    pipe, link, target = (tmp_path / name for name in ("leafid-a-7.lock", "leafid-b-7.lock", "target"))
    target.touch()
    link.symlink_to(target)
    os.mkfifo(pipe)
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == [link, target]
