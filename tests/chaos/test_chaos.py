"""A judge that cannot fail is no judge; a schedule that cannot be replayed shows little."""

import array
import random

import pytest

import world  # noqa: F401, I001  (it says where the system tests' parts are)
from judge import sort
from schedule import LIES, PROGRAMS, QUIET_S, digest, schedule


class TestSorter:
    @pytest.fixture(autouse=True)
    def place(self, tmp_path):
        self.ids, self.scratch = tmp_path / "ids", tmp_path / "scratch"
        self.ids.mkdir()
        self.scratch.mkdir()
        self.chance = random.Random(1)

    def write(self, name, ids, rest=b""):
        (self.ids / name).write_bytes(array.array("q", ids).tobytes() + rest)

    def distinct(self, count):
        return [number << 20 | self.chance.getrandbits(20) for number in range(count)]

    def test_planted_duplicates_are_found_and_named_wherever_they_stand(self):
        ids = self.distinct(30_000)
        self.chance.shuffle(ids)
        for planted in ([], [ids[0]], [ids[29_999]], [ids[7], ids[7]], ids[:500], [max(ids)], [min(ids)]):
            self.write("one", ids[:10_000])
            self.write("two", ids[10_000:])
            self.write("three", planted)
            # All at once, in runs, and with one id in memory less than there are.
            for memory in (1 << 20, 997, len(ids) + len(planted) - 1):
                found, repeated = sort(self.ids, self.scratch, memory)
                assert found["duplicates"] == len(planted), (len(planted), memory)
                assert found["ids"] == len(ids) + len(planted)
                assert found["largest"] == max(ids)
                assert {line.split()[0] for line in repeated} <= {str(an_id) for an_id in planted}
                assert any("three" in line for line in repeated) == bool(planted)

    def test_the_half_id_of_a_killed_process_is_none(self):
        self.write("one", [1, 2, 3], b"\1\2\3")
        self.write("two", [4, 5])
        assert sort(self.ids, self.scratch)[0]["ids"] == 5

    def test_ids_that_fall_are_seen_where_they_must_rise(self):
        self.write("rising-1", [5, 6, 6, 4, 9])
        self.write("mixed-1", [3, 2, 1])
        found, _ = sort(self.ids, self.scratch)
        assert (found["falls"], found["duplicates"], found["negative"]) == (2, 1, 0)

    def test_negative_ids_are_seen_and_sorted(self):
        self.write("one", [5, -6, 7, -6])
        found, _ = sort(self.ids, self.scratch, 2)
        assert (found["negative"], found["duplicates"], found["largest"]) == (2, 1, 7)

    def test_the_latest_millisecond_of_each_worker(self):
        self.write("one", [(100 << 22) | (7 << 12), (99 << 22) | (7 << 12) | 4095, 8 << 12])
        found, _ = sort(self.ids, self.scratch)
        assert (found["worker-7"], found["worker-8"]) == (1288834974757, 1288834974657)


class TestSchedule:
    def test_a_seed_replays_it_and_another_does_not(self):
        assert schedule(7, 60) == schedule(7, 60)
        assert digest(schedule(7, 60)) != digest(schedule(8, 60))

    def test_each_kind_happens_even_in_a_short_run_and_none_in_its_quiet_end(self):
        for seed in range(200):
            events = schedule(seed, 30)
            assert max(event.at for event in events) < 30 - QUIET_S
            assert any(event.what == "kill" and event.more[1] is not None for event in events), seed
            kinds = {(event.what, event.who if event.what in ("restarted", "lie") else "") for event in events}
            for what in ("kill", "end", "stop", "fork", "clock", "full", "read-only", "rewound"):
                assert (what, "") in kinds, seed
            assert {("restarted", "source"), ("lie", "source"), ("lie", "lease_server")} <= kinds, seed

    def test_a_long_run_tells_every_lie_and_kills_every_program(self):
        events = schedule(7, 120)
        assert {event.more[0] for event in events if event.what == "lie" and event.who == "source"} == {*LIES}
        assert {event.who for event in events if event.what == "kill"} == {*PROGRAMS}
