"""PublicIds: the vectors, where keys come from, and that nothing shows one."""

import copy
import pickle
import re

import numpy
import pytest

import leafid

FORMS = ("base32", "base62")


@pytest.fixture
def table(vectors):
    return vectors("public_ids")


@pytest.fixture
def both(table):
    first, second = table["rotation"]["keys"]
    others = {second["version"]: bytes.fromhex(second["key"])}
    return leafid.PublicIds(bytes.fromhex(first["key"]), first["version"], others=others)


def refuses(message, call):
    with pytest.raises(leafid.InvalidArgumentError) as error:
        call()
    assert str(error.value) == message


def test_ids_are_encrypted_and_decrypted(table):
    for row in table["valid"]:
        ids = leafid.PublicIds(bytes.fromhex(row["key"]), row["version"])
        assert ids.version == row["version"]
        for id in (int(row["id"]), row["id"], numpy.int64(row["id"])):
            assert ids.encrypt(id) == int(row["public_id"])
        assert ids.decrypt(int(row["public_id"]), row["version"]) == int(row["id"])
        for form in FORMS:
            assert ids.format_id(int(row["id"]), form) == row[form]
            assert ids.parse_id(row[form], form=form) == int(row["id"])


def test_the_first_key_encrypts_and_all_decrypt(table, both):
    for row in table["rotation"]["texts"]:
        assert both.decrypt(int(row["public_id"]), version=row["version"]) == int(row["id"])
        for form in FORMS:
            assert both.parse_id(row[form], form) == int(row["id"])
            assert (both.format_id(int(row["id"]), form) == row[form]) == (row["version"] == both.version)
    refuses(
        "version is 1; allowed: a version that has no key yet",
        lambda: leafid.PublicIds(bytes(16), 1, {1: bytes(16)}),
    )


def test_what_cannot_be_is_refused(table, both):
    for row in table["texts_refused"]:
        refuses(row["message"], lambda row=row: both.parse_id(row["text"], row["form"]))
    for row in table["decrypt_refused"]:
        refuses(row["message"], lambda row=row: both.decrypt(int(row["public_id"]), row["version"]))
    for row in table["ids_refused"]:
        refuses(row["message"], lambda row=row: both.encrypt(int(row["id"])))
        refuses(row["message"], lambda row=row: both.format_id(int(row["id"]), "base32"))
    for row in table["versions_refused"]:
        if row["version"] < 2**32:
            refuses(row["message"], lambda row=row: leafid.PublicIds(bytes(16), row["version"]))
    for row in table["keys_refused"]:
        refuses(row["message"], lambda row=row: leafid.PublicIds(bytes(row["bytes"]), 0))
    for bad in (None, True, 1.0, b"1", "x", 2**63):
        with pytest.raises(leafid.InvalidArgumentError, match="^id is "):
            both.encrypt(bad)
    for bad in (None, "1", -1, 2**32, True):
        with pytest.raises(leafid.InvalidArgumentError, match="^version is "):
            both.decrypt(1, bad)
        with pytest.raises(leafid.InvalidArgumentError, match="^version is "):
            leafid.PublicIds(bytes(16), bad)
    for bad in (None, 1.5, "1"):
        with pytest.raises(leafid.InvalidArgumentError, match="^public_id is "):
            both.decrypt(bad, 1)


def test_a_key_comes_from_the_environment_or_a_file(table, monkeypatch, tmp_path):
    for row in table["hex_accepted"]:
        same = leafid.PublicIds(bytes.fromhex(row["same_as"]), 1)
        monkeypatch.setenv("LEAFID_TEST_KEY", row["text"])
        (tmp_path / "key").write_text(row["text"])
        for source in ("env:LEAFID_TEST_KEY", f"file:{tmp_path}/key"):
            assert leafid.PublicIds(source, 1).encrypt(42) == same.encrypt(42)
            assert leafid.PublicIds(bytes(16), 2, {1: source}).decrypt(same.encrypt(42), 1) == 42
    for text in table["hex_refused"]:
        (tmp_path / "key").write_text(text)
        with pytest.raises(leafid.InvalidArgumentError, match=re.escape(f"file:{tmp_path}/key, which holds another text")):
            leafid.PublicIds(f"file:{tmp_path}/key", 1)
    with pytest.raises(leafid.InvalidArgumentError, match="^key is env:LEAFID_TEST_NOT_SET, which is not set; allowed: "):
        leafid.PublicIds("env:LEAFID_TEST_NOT_SET", 1)


def test_nothing_shows_a_key():
    secret = "2b7e151628aed2a6abf7158809cf4f3c"
    ids = leafid.PublicIds(bytes.fromhex(secret), 1)
    assert repr(ids) == str(ids) == "leafid.PublicIds(version=1)"
    for bad in (secret, bytearray(secret.encode()), [secret], secret.encode()[1:], "\ud800" + secret, None):
        with pytest.raises(leafid.InvalidArgumentError, match="^key is ") as error:
            leafid.PublicIds(bad, 1)
        assert secret[:6] not in str(error.value)
    for bad in ([secret], secret, {1: secret}, {2: [secret]}):
        with pytest.raises(leafid.InvalidArgumentError, match="^(key|others) is ") as error:
            leafid.PublicIds(bytes(16), 0, bad)
        assert secret[:6] not in str(error.value)
    for copies in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            copies(ids)


def test_the_code_of_the_page(project, monkeypatch):
    monkeypatch.setenv("ORDERS_KEY", "00" * 16)
    page = (project / "docs/PUBLIC-IDS.md").read_text()
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {"leafid": leafid})
