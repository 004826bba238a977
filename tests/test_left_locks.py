import fcntl

from left_locks import sweep


def test_what_a_process_holds_stays(tmp_path):
    left, held, other = (tmp_path / name for name in ("leafid-a-7.lock", "leafid-b-7.lock", "other.lock"))
    for path in (left, held, other):
        path.touch()
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == [held, other]
