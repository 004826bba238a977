"""No output shows a password, whatever option it was written into and of whatever type."""

import json
import logging
import pathlib

import leafid
import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
VECTOR = json.loads((PROJECT / "tests/vectors/secrets.json").read_text())
MARKER = VECTOR["marker"]
HOST = "127.0.0.1:1"
SERVER = f"http://{HOST}"
URLS = [url.replace("SCHEME", scheme).replace("HOST", HOST) for scheme in ("http", "HTTPS") for url in VECTOR["urls"]]


class Config:
    """A user's object with a secret."""

    def __init__(self, url):
        self.url = url

    def __repr__(self):
        return f"Config(url={self.url!r})"


def wrong(url):
    """The URL in values of types that no option has, or few have."""
    return [url, url.encode(), [url], (url, 7), [[url]], {url}, {"url": url}, {url: "x"}, Config(url), [Config(url)]]


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.DEBUG)
    texts = []

    def check(open_it, *what):
        opened = None
        try:
            opened = open_it()
            texts.extend([repr(opened), leafid.metrics(), str(opened.stats())])
        except leafid.Error as error:
            texts.extend([str(error), repr(error), str(error.__cause__), str(error.__context__)])
        if opened:
            opened.close()
        assert not [text for text in [*texts, caplog.text] if MARKER in text], what
        texts.clear()

    return check


@pytest.mark.parametrize("url", URLS)
def test_no_output_shows_a_password(said, space, url):
    texts = {"worker", "layout", "on_clock_backwards", "on_exhausted", "clock_source", "token", "ca_file", "name"}
    for option in [
        "worker",
        "token",
        "headers",
        "ca_file",
        "name",
        "layout",
        "epoch_ms",
        "timeout_ms",
        "lazy",
        "clock_source",
        "peer_times",
    ]:
        for value in wrong(url):
            if option in texts and value == url and option in ("token", "ca_file"):
                continue  # they are right, or a path
            options = {"worker": SERVER, "lazy": True} | space | {option: value}
            said(lambda options=options: leafid.Snowflake(**options), option, value)
    for headers in ({"x-key": f"{url}\n"}, {url: "x"}, {"x-key": 7, "x": url}, {"x-key": url.encode()}):
        said(lambda headers=headers: leafid.Snowflake(worker=SERVER, headers=headers, lazy=True, **space), headers)
    for value in [*wrong(url), [SERVER, url], ["file:/nowhere", "http://" + url]]:
        said(lambda value=value: leafid.Segments(value, **space), "servers", value)
    for option in [
        "token",
        "headers",
        "fetch",
        "protocol",
        "step",
        "tags",
        "prewarm",
        "create",
        "connections",
        "block_size",
    ]:
        for value in wrong(url):
            if (option, value) != ("token", url) and not (option == "prewarm" and value in ([url], {url}, {url: "x"})):
                said(
                    lambda option=option, value=value: leafid.Segments(SERVER, **space, **{option: value}),
                    option,
                    value,
                )


def test_the_environment_shows_no_password(said, space, monkeypatch):
    for url in URLS:
        if "\0" not in url:
            monkeypatch.setenv("LEAFID_WORKER", url)
            said(lambda: leafid.Snowflake(**space), url)


def test_no_answer_of_a_callback_shows_a_secret(said, space):
    """Of what a callback returns only the kinds are shown: a lease has a token."""

    class Leases:
        def claim(self, request):
            return {"worker_id": 1, "until_ms": "never", "token": f"{MARKER}T"}

        def renew(self, lease, until_ms):
            return until_ms

        def release(self, lease, until_ms):
            pass

    said(lambda: leafid.Snowflake(worker=Leases(), **space))
    with leafid.Segments(fetch=lambda tag, step: {"start": 1, "token": f"{MARKER}T"}, **space) as segments:
        with pytest.raises(leafid.Error) as caught:
            segments.tag("order").next(timeout_ms=500)
        assert MARKER not in str(caught.value)


def test_keys_are_not_shown():
    for key in (f"{MARKER}-key", f"{MARKER}-key".encode(), [f"{MARKER}-key"], {"key": f"{MARKER}-key"}):
        for call in (
            lambda key=key: leafid.PublicIds(key),
            lambda key=key: leafid.PublicIds(b"0" * 16, others=key),
            lambda key=key: leafid.PublicIds(b"0" * 16, others={2: key}),
        ):
            with pytest.raises((leafid.Error, TypeError)) as caught:
                call()
            assert MARKER not in str(caught.value)
