"""The store behind poolers and proxies: PgBouncer, and ones that record what is sent or answer from an old state."""

import pytest
from databases import Missing, PgBouncer
from proxy import Wire
from servers import Server, check, check_unique, in_threads, make_tag, until

# The servers of this file have no worker id of their own: a test has many of them on one host.
OPTIONS = ["--no-snowflake"]


def pooled(engine, pool_mode, connections=2, **settings):
    if engine.name != "postgresql":
        pytest.skip("PgBouncer is for PostgreSQL")
    try:
        return PgBouncer(engine, pool_mode, connections, **settings)
    except Missing as missing:
        pytest.skip(str(missing))


def take_all(server, tag, found, leases, number, rounds):
    """Ranges of both kinds, single ids and worker ids, each from a connection of its own."""

    def ranges(step):
        client = server.client()
        for _ in range(rounds):
            status, value = client.post(f"/api/segment/range/{tag}?nonce=1{step}")
            if status == 200:
                found.extend(range(int(value["start"]), int(value["end"])))

    def ids():
        client = server.client()
        for _ in range(rounds):
            found.extend(client.ids(tag))

    def claims():
        client = server.client()
        for at in range(rounds // 10):
            status, value = client.claim(f"{number}-{at}", tag)
            if status == 200:
                leases.append(value["worker_id"])

    in_threads(lambda: ranges(""), lambda: ranges("&step=7"), lambda: ranges("&after=1"), ids, claims)


@pytest.mark.parametrize("connections", [1, 3])
@pytest.mark.parametrize("pool_mode", ["transaction", "session"])
def test_two_servers_behind_a_pooler_give_no_id_twice(engine, new_tag, pool_mode, connections):
    """With prepared statements, ones of two servers had one name, and the database ran the other one's."""
    if pool_mode == "session":
        connections = 20
    tag = new_tag(engine, step=50)
    # Without it, versions that sent this parameter did not come as far as to an id.
    pooler = pooled(engine, pool_mode, connections, ignore_startup_parameters="extra_float_digits")
    try:
        found, leases = [], []
        with Server(pooler.url, *OPTIONS) as first, Server(pooler.url, *OPTIONS) as second:
            # The order in which they come to their statements differs.
            first.client().range(tag, 7)
            in_threads(*[
                lambda server=server, number=number: take_all(server, tag, found, leases, number, 60)
                for number, server in enumerate([first, second])
            ])  # fmt: skip
        check_unique(found, 2 * 60 * 3)
        check_unique(leases, 12)
    finally:
        pooler.remove()


def test_a_pooler_is_named_at_the_start_and_by_check(engine, new_tag):
    new_tag(engine)
    pooler = pooled(engine, "transaction", 1)
    try:
        with Server(pooler.url, *OPTIONS) as server:
            assert "a pooler that shares connections between transactions" in server.log()
        assert "ok    pooler: " in check(pooler.url)[1]
    finally:
        pooler.remove()
    with Server(engine.url, *OPTIONS) as server:
        assert "pooler" not in server.log()
    assert "pooler" not in check(engine.url)[1]


def test_a_pooler_of_statements_is_refused_at_once(engine, new_tag):
    new_tag(engine)
    pooler = pooled(engine, "statement")
    try:
        with Server(pooler.url, *OPTIONS, wait=False) as server:
            assert server.process.wait() == 1
            assert "pool_mode = transaction or session" in server.log()
        code, said = check(pooler.url)
        assert code == 1 and "pool_mode = transaction or session" in said
    finally:
        pooler.remove()


@pytest.fixture
def wire(engine):
    """The engine behind a recorder: its address, and the recorder."""
    recorder = Wire(engine.port, engine.name == "mariadb")
    yield engine.url.replace(f":{engine.port}/", f":{recorder.own_port}/"), recorder
    recorder.close()


def test_nothing_that_is_sent_depends_on_a_name_or_a_session(engine, wire, name, tag):
    """Each statement is one text. Of a session nothing is set that a range or a lease needs."""
    store, recorder = wire
    make_tag(store, tag, step=10)
    with Server(store, "--workers", "0-7") as server:
        client = server.client()
        for query in ("", "&step=5", "&step=5&after=1000"):
            assert client.post(f"/api/segment/range/{tag}?nonce=1{query}")[0] == 200
        assert client.ids(tag) and client.get("/db")[0] == 200
        status, lease = client.claim("a", name)
        assert status == 200
        held = {"name": name, "worker_id": lease["worker_id"], "token": lease["token"], "now": 0, "until": lease["until"]}
        assert client.post("/api/worker/renew", held)[0] == 200
    check(store)
    # Of MySQL: COM_QUERY, COM_PING, COM_QUIT. Of PostgreSQL: Query, Sync (a look whether it answers), Terminate.
    asks, others = (0x03, {0x0E, 0x01}) if engine.name == "mariadb" else ("Q", {"S", "X"})
    kinds = {kind for kind, _ in recorder.requests} - others
    assert kinds == {asks}, "a prepared statement"
    texts = [text for kind, text in recorder.requests if kind == asks]
    assert not [text for text in texts if "PREPARE" in text.upper() or "LAST_INSERT_ID" in text.upper()]
    session = {text for text in texts if text.startswith("SET ")}
    if engine.name == "postgresql":
        assert not session
    else:
        # How times are shown, and how long a lock is waited for.
        assert session == {
            "SET time_zone='+00:00',NAMES utf8mb4 COLLATE utf8mb4_unicode_ci;",
            "SET SESSION innodb_lock_wait_timeout = 5",
        }
    # A transaction begins with a lock.
    writes = [text.split()[0] for text in texts if "leaf_alloc" in text and "max_id" in text]
    assert writes.count("UPDATE") >= 4


def test_a_range_takes_four_round_trips(engine, wire, tag):
    store, recorder = wire
    make_tag(store, tag, step=10)
    with Server(store, *OPTIONS) as server:
        client = server.client()
        client.range(tag, 5)
        recorder.requests.clear()
        assert client.range(tag, 5) == (6, 11)
        # A look at the tables has their names as texts.
        of_range = [text.split()[0] for _, text in recorder.requests if " leaf_alloc " in text]
        assert of_range == ["SELECT", "UPDATE"]


def test_a_proxy_that_reads_from_an_old_state_gives_nothing_twice(engine, wire, tag, name):
    """Its SELECT goes to a replica, also within a transaction."""
    store, recorder = wire
    make_tag(store, tag, step=10)
    with Server(store, "--no-snowflake", "--timeout-ms", "3000") as server:
        client = server.client()
        found = [*range(*client.range(tag, 10))]
        until(lambda: recorder.answered, "an answer is kept")
        recorder.is_stale = True
        for step in ("", "&step=10", "&step=20"):
            status, answer = client.post(f"/api/segment/range/{tag}?nonce=1{step}")
            assert status == 503 and "nothing was taken" in answer["message"], answer
        recorder.is_stale = False
        found += range(*client.range(tag, 10))
        check_unique(found, 20)
        assert engine.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'") == ["21"]
