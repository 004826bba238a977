"""Worker ids leased from servers by URL."""

import socket
import threading

import pytest

import leafid

# Renewed after half of it: a machine may stall for as long.
SHORT = ("--lease-ms", "6000", "--threshold-ms", "400")


def held(server):
    """Worker ids that are held, by what holds them."""
    return {lease["worker_id"]: lease for lease in server.do("leases")["leases"] if lease["held"]}


@pytest.fixture
def dead():
    """A URL where nothing listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize("form", [list, tuple, ",".join, " , ".join])
def test_the_first_of_two_servers_is_dead(space, server, dead, wait, form):
    with leafid.Snowflake(form([dead, server.url]), **space) as flake:
        assert list(held(server)) == [flake.worker_id] and flake.next()
    wait(lambda: held(server) == {})


def test_the_environment(space, server, dead, monkeypatch):
    monkeypatch.setenv("LEAFID_WORKER", f"{dead},{server.url}")
    with leafid.Snowflake(**space) as flake:
        assert list(held(server)) == [flake.worker_id] and flake.next()
    monkeypatch.setenv("LEAFID_WORKER", "http://a b")
    with pytest.raises(leafid.InvalidArgumentError, match="^LEAFID_WORKER is "):
        leafid.Snowflake(**space)


def test_a_token_of_the_environment(space, server, monkeypatch, tmp_path):
    server.do("token", token="secret")
    monkeypatch.setenv("LEAFID_TOKEN", "secret")
    leafid.Snowflake(server.url, **space).close()
    monkeypatch.setenv("LEAFID_TOKEN", "")
    file = tmp_path / "token"
    monkeypatch.setenv("LEAFID_TOKEN_FILE", str(file))
    with pytest.raises(leafid.InvalidArgumentError, match='^LEAFID_TOKEN_FILE is ".*/token"; allowed: a file that can be read'):
        leafid.Snowflake(server.url, **space)
    file.write_text("secret\n")
    leafid.Snowflake(server.url, **space).close()
    with pytest.raises(leafid.SourceInvalidError, match="401"):
        leafid.Snowflake(server.url, **space, token="another")
    # Without a server they are not looked at.
    file.unlink()
    monkeypatch.setenv("LEAFID_CA_FILE", "/nowhere")
    leafid.Snowflake(7, **space).close()
    monkeypatch.setenv("LEAFID_TOKEN", "secret")
    with pytest.raises(leafid.InvalidArgumentError, match='^ca_file is "/nowhere"'):
        leafid.Snowflake(server.url, **space)


def test_lazy_claims_with_the_first_id(space, server):
    with leafid.Snowflake(server.url, **space, lazy=True) as flake:
        assert held(server) == {}
        assert leafid.decode(flake.next()).worker_id in held(server)


def test_other_threads_run_while_it_opens(space, server, wait):
    server.do("fault", fault={"delay_ms": 900_000}, tag="claim")
    opened, times = [], {"request_timeout_ms": 60_000}
    thread = threading.Thread(target=lambda: opened.append(leafid.Snowflake(server.url, **space, **times)))
    thread.start()
    wait(lambda: server.do("report")["total"])
    assert not opened
    server.do("clear")
    thread.join()
    assert opened[0].next()
    opened[0].close()


def test_an_interrupt_ends_the_wait_for_a_claim(server, start):
    server.do("fault", fault={"hang": True}, tag="claim")
    for call in ("leafid.Snowflake(**options)", "lazy.next()"):
        program = start(
            f"""
options = dict(space, timeout_ms=3_600_000, request_timeout_ms=3_600_000)
lazy = leafid.Snowflake(**options, lazy=True)
try:
    say("waits")
    {call}
except KeyboardInterrupt:
    say("interrupted")
""",
            worker=server.url,
        )
        program.end_by_interrupt()


def test_a_forked_child_claims_its_own(server, run, wait):
    """And nothing is said of threads at a fork, which Python 3.12 and later would."""
    out = run(
        """
flake = leafid.Snowflake(space.pop("url"), **space)
ids, workers = flake.take(100), {flake.worker_id}
for _ in range(5):
    worker, *childs = forked(lambda: [flake.worker_id, *flake.take(100), flake.close()])
    assert worker != flake.worker_id and childs.pop() is None
    ids += childs + flake.take(100)
say(len(ids), len(set(ids)), flake.stats().claims)
""",
        url=server.url,
    )
    assert out == "1100 1100 1\n"
    wait(lambda: held(server) == {})


FORKS = {
    "multiprocessing": """
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
say(process.exitcode)
""",
    "while it renews": """
import time
end = time.monotonic() + 7
while time.monotonic() < end:
    flake.next()
    if os.fork() == 0:
        os._exit(0)
    assert os.wait()[1] == 0
child()
say(0)
""",
}


@pytest.mark.parametrize("how", FORKS.values(), ids=FORKS)
def test_forks(fake_server, run, how):
    server = fake_server(*SHORT)
    out = run(
        """
flake = leafid.Snowflake(space.pop("url"), **space)
flake.next()
def child():
    say(len(set(flake.take(100))))
"""
        + how,
        url=server.url,
    )
    assert out == "100\n0\n"


EXITS = {"end": "", "sys.exit": "sys.exit(0)", "in a module": "sys.modules['keeper'] = flake", "del": "del flake"}


@pytest.mark.parametrize("how", EXITS.values(), ids=EXITS)
def test_the_end_gives_it_back(server, run, wait, how):
    out = run('flake = leafid.Snowflake(space.pop("url"), **space)\nsay(flake.next())\n' + how, url=server.url)
    wait(lambda: held(server) == {})
    (lease,) = server.do("leases")["leases"]
    assert int(lease["until"]) == leafid.decode(out.strip()).timestamp_ms + 1


UNDER_WAY = {
    "claim": """
import threading
threading.Thread(target=lambda: leafid.Snowflake(**options), daemon=True).start()
sys.stdin.readline()
""",
    "renew": "flake = leafid.Snowflake(**options)\nflake.next()\nsys.stdin.readline()\n",
    "release": "flake = leafid.Snowflake(**options)\nflake.next()\n",
}


# The others are tried on one interpreter: they last as long as a close waits for them.
ACTIONS = [pytest.param(action, marks=() if action == "claim" else pytest.mark.slow) for action in UNDER_WAY]


@pytest.mark.parametrize("action", ACTIONS)
def test_the_interpreter_ends_while_a_request_is_under_way(fake_server, start, wait, action):
    server = fake_server(*SHORT)
    server.do("fault", fault={"hang": True}, tag=action)
    prelude = "options = dict(space, timeout_ms=3_600_000, request_timeout_ms=3_600_000)\n"
    program = start(prelude + UNDER_WAY[action], worker=server.url)
    wait(lambda: action in [request["tag"] for request in server.do("report")["requests"]])
    out, _ = program.process.communicate()
    assert (program.process.returncode, out) == (0, "")
