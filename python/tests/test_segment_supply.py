"""When segments are fetched, and how large, as the vectors say."""

import itertools

import numpy

import leafid


def test_the_prefetch_starts_during_the_take_of_the_vectors(space, vectors, make_counter, wait, settle):
    for case in vectors("prefetch")["cases"]:
        length, nth = case["length"], case["nth"]
        counter = make_counter()
        more = {"name": f"{space['name']}-{length}", "step": length, "adaptive": False}
        with leafid.Segments(fetch=counter.fetch, **(space | more)) as ids:
            order = ids.tag("order")
            if length == 1:
                # Its first id is its last: the second take waits.
                assert order.next() == 1 and len(counter.asked) == 1 and order.next() == 2
                continue
            for id in range(1, nth):
                assert order.next() == id
            settle(order)
            assert len(counter.asked) == 1, case
            order.next()
            wait(lambda: len(counter.asked) == 2, case)  # noqa: B023


def test_the_step_doubles_as_in_the_vectors(space, vectors, make_counter, settle):
    """The vectors' load, each fetch less than 15 minutes after the one before: the step grows, the ids stay in order."""
    (steady,) = [case for case in vectors("adaptive_step")["cases"] if case["name"] == "steady load, step 1000"]
    fetches = list(itertools.takewhile(lambda fetch: fetch["previous_fetch_age_ms"] in (None, 1000), steady["fetches"]))
    expected = [fetch["step"] for fetch in fetches]
    assert 512_000 in expected
    counter = make_counter(int(steady["max_id"]))
    last = 0
    with leafid.Segments(fetch=counter.fetch, **space) as ids:
        order = ids.tag("order")
        while len(counter.asked) < len(expected):
            current = order.stats().current
            n = len(current) if current else 1
            got = order.fill(numpy.zeros(max(n // 2, 1), numpy.int64))
            assert got[0] == last + 1 and got[-1] == last + len(got)
            last = int(got[-1])
            settle(order)
    assert counter.steps() == expected


def test_ids_are_issued_as_in_the_vectors(space, vectors, make_counter):
    for number, case in enumerate(vectors("segment_issue")["cases"]):
        counter = make_counter(int(case["max_id"]))
        more = {"step": case["db_step"], "adaptive": False, "persist": False}
        processes = [
            leafid.Segments(fetch=counter.fetch, **(space | more | {"name": f"{space['name']}-{number}-{process}"}))
            for process in range(case["processes"])
        ]
        tags = [ids.tag("order") for ids in processes]
        if "round_robin" in case:
            expected = [int(id) for id in case["round_robin"]]
            assert [tag.next() for _ in range(len(expected) // len(tags)) for tag in tags] == expected
        else:
            expected = [int(id) for id in case["first"]]
            assert tags[0].take(len(expected)) == expected
            if "contiguous_through" in case:
                end = int(case["contiguous_through"])
                assert [tags[0].next() for _ in range(end - expected[-1])] == list(range(expected[-1] + 1, end + 1))
        for ids in processes:
            ids.close()
