"""Worker ids from a lease object: ids only within the spans given, whatever the object does."""

import contextlib
import copy
import gc
import pickle
import threading
import time
import types
import weakref

import pytest

import leafid

pytestmark = pytest.mark.usefixtures("settled")


class Leases:
    """Gives worker ids one after another, and notes what it gave. A test changes a method where it is to misbehave."""

    def __init__(self, span_ms=30_000, lease_ms=None, first=0):
        self.span_ms, self.lease_ms, self.next_id = span_ms, lease_ms, first
        self.requests, self.spans, self.renewals, self.released = [], {}, 0, []

    def claim(self, request):
        self.requests.append(request)
        self.next_id += 1
        return self.give(self.next_id - 1, request.now_ms)

    def give(self, id, now_ms):
        self.spans[id] = [now_ms, now_ms + self.span_ms]
        return leafid.Lease(id, *self.spans[id], self.lease_ms)

    def renew(self, lease, until_ms):
        self.renewals += 1
        return self.extend(lease)

    def extend(self, lease):
        self.spans[lease.worker_id][1] = max(self.spans[lease.worker_id][1], int(time.time() * 1000) + self.span_ms)
        return self.spans[lease.worker_id][1]

    def release(self, lease, until_ms):
        self.released.append((lease.worker_id, until_ms))

    def check(self, ids):
        assert ids == sorted(set(ids))
        for parts in map(leafid.decode, ids):
            first, until = self.spans[parts.worker_id]
            assert first <= parts.timestamp_ms < until


def ids_for(flake, seconds, errors=()):
    """Ids, and the errors on the way."""
    ids, raised, end = [], [], time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            ids.append(flake.next())
        except errors as error:
            raised.append(error)
        time.sleep(0.001)
    return ids, raised


def ids_until(flake, is_so, errors=()):
    """Ids until this is so; the limit is for what never comes."""
    ids, end = [], time.monotonic() + 900
    while not is_so():
        assert time.monotonic() < end, flake.stats()
        ids += ids_for(flake, 0.005, errors)[0]
    return ids


def test_what_is_asked_and_given(space):
    leases, begun_ms = Leases(), time.time() * 1000
    with leafid.Snowflake(leases, **space) as flake, leafid.Snowflake(leases, **space) as same:
        leases.check([flake.next(), *same.take(5)])
        stats = flake.stats()
        assert (stats.handles, stats.claims, stats.lease_until_ms) == (2, 1, leases.spans[0][1])
    (request,) = leases.requests
    assert request.name == space["name"] and request.previous is None and len(request.instance) == 32
    assert begun_ms - 5000 < request.now_ms < time.time() * 1000 + 5000 and request.until_ms > request.now_ms
    assert "previous=None" in repr(request)
    with pytest.raises(AttributeError):
        request.previous = 7


WRONG_RENEWALS = ["nonsense", 2**64, {}]
MORE = [True, 1.5, -1, {"until_ms": "x"}, {"until": 1}, [], 2**62]


@pytest.mark.parametrize("answer", WRONG_RENEWALS + [pytest.param(answer, marks=pytest.mark.slow) for answer in MORE])
def test_a_wrong_renewal_gives_nothing(space, answer):
    leases = Leases(span_ms=6000)
    leases.renew = lambda lease, until_ms: answer
    with leafid.Snowflake(leases, **space) as flake:
        begun = time.monotonic()

        def had_its_effect():
            # One below the last is no gain, and no loss.
            late = answer == -1 and time.monotonic() - begun > 4
            return late or flake.stats().renewal_failures > 0 or flake.stats().claims > 1

        ids = ids_until(flake, had_its_effect, leafid.WorkerLostError)
        stats = flake.stats()
    leases.check(ids)
    if answer != -1:
        # One below the last is no gain, and no loss.
        assert stats.renewal_failures > 0 or stats.claims > 1


def test_a_mapping_will_do(space):
    now_ms = int(time.time() * 1000)
    fields = {"worker_id": 7, "from_ms": now_ms, "until_ms": now_ms + 3_600_000, "lease_ms": 6000, "token": "a"}
    fields["peer_times_ms"] = [now_ms] * 3
    renewed = []

    def renew(lease, until_ms):
        renewed.append(lease)
        return types.MappingProxyType({"until_ms": until_ms, "token": lease.token + "b", "lease_ms": 5000})

    leases = types.SimpleNamespace(
        claim=lambda request: types.MappingProxyType(fields), renew=renew, release=lambda lease, until_ms: "ignored"
    )
    with leafid.Snowflake(leases, **space) as flake:
        # A machine that stands may lose it: then it is claimed again.
        ids_until(flake, lambda: "ab" in [lease.token for lease in renewed], leafid.WorkerLostError)
    second = next(lease for lease in renewed if lease.token == "ab")
    assert renewed[0].token == "a"
    assert second.lease_ms == 5000 and second.peer_times_ms == (now_ms,) * 3


GOOD = {"worker_id": 7, "from_ms": 1_700_000_000_000, "until_ms": 1_700_000_030_000}
WRONG = [
    ("claim", 7),
    ("claim", True),
    ("claim", "nonsense"),
    ("claim", [("worker_id", 7)]),
    ("worker_id", {}),
    ("worker_id", GOOD | {"worker_id": None}),
    *[("worker_id", GOOD | {"worker_id": id}) for id in (1024, -1, True, 1.5, "7", 2**64)],
    *[(name, GOOD | {name: ms}) for name in ("from_ms", "until_ms") for ms in (True, 1.5, "0", 2**64)],
    ("until_ms", {"worker_id": 7, "from_ms": 0}),
    ("until_ms", GOOD | {"until_ms": GOOD["from_ms"]}),
    ("until_ms", GOOD | {"until_ms": 2**62}),
    *[("lease_ms", GOOD | {"lease_ms": ms}) for ms in (0, -1, True, 1.5, "9", 2**40)],
    *[("token", GOOD | {"token": token}) for token in (7, b"a", True, "\ud800")],
    *[("peer_times_ms", GOOD | {"peer_times_ms": times}) for times in (7, "123", [1.5], [True], [None])],
    ("until", GOOD | {"until": 1}),
    ("a key of the lease", GOOD | {7: 7}),
]


@pytest.mark.parametrize(("named", "answer"), WRONG, ids=[f"{named}-{at}" for at, (named, _) in enumerate(WRONG)])
def test_a_wrong_claim_is_an_invalid_argument(space, named, answer):
    leases = Leases()
    leases.claim = lambda request: answer
    with pytest.raises(leafid.InvalidArgumentError, match=f'^"?{named}"? is .*; allowed: '):
        leafid.Snowflake(leases, **space)


@pytest.mark.parametrize("method", ["renew", "release"])
def test_a_missing_method_is_named(space, method):
    methods = {name: lambda *arguments: None for name in ("claim", "renew", "release") if name != method}
    refusal = f"^worker is an object without a method {method}, of type SimpleNamespace"
    for leases in (types.SimpleNamespace(**methods), types.SimpleNamespace(**methods, **{method: 7})):
        with pytest.raises(leafid.InvalidArgumentError, match=refusal):
            leafid.Snowflake(leases, **space)


def test_the_claim_of_an_object_wins_over_its_call(space):
    class Both(Leases):
        def __call__(self, name, previous):
            raise AssertionError

    leases = Both(first=3)
    with leafid.Snowflake(leases, **space) as flake:
        assert flake.worker_id == 3


def test_an_async_object(space, wait):
    class Later(Leases):
        async def claim(self, request):
            return super().claim(request)

        async def renew(self, lease, until_ms):
            return super().renew(lease, until_ms)

        async def release(self, lease, until_ms):
            super().release(lease, until_ms)

    leases = Later(span_ms=6000)
    with leafid.Snowflake(leases, **space) as flake:
        ids = ids_until(flake, lambda: leases.renewals, leafid.WorkerLostError)
    leases.check(ids)
    wait(lambda: leases.released)


def first_unused(ids):
    return leafid.decode(ids[-1]).timestamp_ms + 1


def test_the_last_handle_gives_it_back(space, wait):
    leases = Leases()
    flake, same = leafid.Snowflake(leases, **space), leafid.Snowflake(leases, **space)
    ids = flake.take(10)
    flake.close()
    assert leases.released == []
    del same
    wait(lambda: leases.released == [(0, first_unused(ids))])


def test_the_collector_gives_it_back_by_the_whole_object(space, wait):
    kept = []

    class Whole(Leases):
        def release(self, lease, until_ms):
            kept.append((len(self.requests), self.flake is not None, until_ms))

    leases = Whole()
    leases.flake = leafid.Snowflake(leases, **space)
    ids = leases.flake.take(10)
    gone = weakref.ref(leases)
    del leases
    gc.collect()
    wait(lambda: kept == [(1, True, first_unused(ids))] and gone() is None)


def test_a_generator_closed_by_hand_leaves_nothing(space):
    leases = Leases()
    leases.flake = leafid.Snowflake(leases, **space)
    leases.flake.close()
    gone = weakref.ref(leases)
    del leases
    gc.collect()
    assert gone() is None


RELEASES = [lambda _: 1 / 0, pytest.param(lambda let_go: let_go.wait(), marks=pytest.mark.slow)]


@pytest.mark.parametrize("release", RELEASES, ids=["raises", "hangs"])
def test_a_release_that_misbehaves_does_not_hold_a_close_up(space, release):
    leases, let_go = Leases(), threading.Event()
    leases.release = lambda lease, until_ms: release(let_go)
    flake = leafid.Snowflake(leases, **space | {"timeout_ms": 5000})
    flake.close()
    let_go.set()


def test_a_lease_that_uses_its_own_generator(space):
    """A renewal may take ids of what it renews; a release cannot."""
    leases = Leases(span_ms=3000)
    made, refused = [], []

    def renew(lease, until_ms):
        made.append(flake.next())
        return leases.extend(lease)

    def release(lease, until_ms):
        try:
            flake.next()
        except leafid.ClosedError:
            refused.append(until_ms)

    leases.renew, leases.release = renew, release
    flake = leafid.Snowflake(leases, **space)
    # A machine that stands may lose it one.
    ids_until(flake, lambda: made, leafid.WorkerLostError)
    flake.close()
    leases.check(made)
    assert made and refused


def test_a_renewal_may_close_its_own_generator(space):
    leases, closed = Leases(span_ms=3000), threading.Event()

    def renew(lease, until_ms):
        flake.close()
        closed.set()

    leases.renew = renew
    flake = leafid.Snowflake(leases, **space)
    with contextlib.suppress(leafid.ClosedError):
        flake.next()
    assert closed.wait()
    with pytest.raises(leafid.ClosedError):
        flake.next()


def test_a_request_is_a_value():
    request = leafid.ClaimRequest("orders", instance="0f", previous=None, now_ms=1, until_ms=2)
    assert request == pickle.loads(pickle.dumps(request)) == copy.copy(request) == eval(repr(request))


def test_a_lease_is_a_value():
    lease = leafid.Lease(7, 1, until_ms=2, lease_ms=None, token="t", peer_times_ms=range(3))
    assert lease == leafid.Lease(7, 1, 2, None, "t", (0, 1, 2)) != leafid.Lease(7, 1, 2)
    assert pickle.loads(pickle.dumps(lease)) == lease
    assert repr(leafid.Lease(7, 1, 2)) == (
        "leafid.Lease(worker_id=7, from_ms=1, until_ms=2, lease_ms=None, token=None, peer_times_ms=())"
    )
    with pytest.raises(AttributeError):
        lease.until_ms = 3
    with pytest.raises(leafid.InvalidArgumentError, match="^until_ms is 1.5; allowed: "):
        leafid.Lease(7, 1, 1.5)
