"""The address of Java's drivers and the settings of a Leaf, as they are."""

import subprocess

import pytest
from servers import BINARY, Server, check, make_tag, until
from test_odd_stores import LEAF_ALLOC, odd  # noqa: F401

SECRET = "s3c&r=t%:@/+ x"


def java(store):
    """The same address as a Leaf has it, and its user."""
    scheme, rest = store.split("://")
    user, address = rest.split("@")
    return f"jdbc:{scheme.replace('postgres', 'postgresql')}://{address}", user


def test_an_address_of_java_is_read_as_it_is(engine, odd):  # noqa: F811
    store, _ = odd
    address, user = java(store)
    tls = "ssl" if engine.name == "postgresql" else "useSSL"
    jdbc = f"{address}?useUnicode=true&characterEncoding=utf8&{tls}=false&user={user}"
    make_tag(jdbc, "order")
    with Server(store, "--no-snowflake") as one, Server(jdbc, "--no-snowflake") as other:
        assert one.client().range("order", 10) == (1, 11) and other.client().range("order", 10) == (11, 21)


def test_a_leaf_is_checked_and_replaced_by_its_own_file(engine, odd, tmp_path):  # noqa: F811
    if engine.name != "mariadb":
        pytest.skip("a Leaf has MySQL")
    store, sql = odd
    sql(LEAF_ALLOC)
    sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('leaf-segment-test', 2001, 2000)")
    sql(f"CREATE USER leaf IDENTIFIED BY '{SECRET}'")
    try:
        sql(f"GRANT ALL ON {engine.database}.* TO leaf")
        file = tmp_path / "leaf.properties"
        # As in Leaf's repository, with Windows' ends of lines.
        file.write_bytes(
            "\r\n".join([
                "leaf.name=com.sankuai.leaf.opensource.test", "leaf.segment.enable=true",
                f"leaf.jdbc.url={java(store)[0]}", "leaf.jdbc.username=leaf", f"leaf.jdbc.password={SECRET}", "",
                "leaf.snowflake.enable=false", "#leaf.snowflake.zk.address=", "#leaf.snowflake.port=", "",
            ]).encode()
        )  # fmt: skip
        words = ["--leaf-properties", file, "--listen", "127.0.0.1:0"]
        done = subprocess.run([BINARY, *words, "check"], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0 and "segment mode is on, snowflake mode is off" in done.stdout, done.stdout
        assert "WRONG" not in done.stdout and not (SECRET in done.stdout + done.stderr)
        # The option goes before the file, so that the store is named by the file alone.
        with open(tmp_path / "log", "w") as log:
            process = subprocess.Popen([BINARY, *words, "--strict-leaf"], stderr=log, cwd=tmp_path)
            try:
                said = until(lambda: "listens on" in (text := (tmp_path / "log").read_text()) and text, "it listens")
            finally:
                process.terminate()
                process.wait()
        assert SECRET not in said and "s3c" not in said and "mysql://…@127.0.0.1" in said
        assert not (tmp_path / "leafid-server.db").exists()
        assert check(store)[0] == 1, "the settings of the store are those of --strict-leaf"
    finally:
        sql("DROP USER leaf")


@pytest.mark.parametrize("lines, said", [
    (["leaf.snowflake.enable=true"], "workers is 0-1023; allowed: worker ids that no Leaf has"),
    (["leaf.snowflake.enable=false"], "store is leafid-server.db; allowed: the database of the Leaf"),
    (["leaf.segment.enable=ja"], 'leaf.segment.enable is "ja"; allowed: true or false'),
])  # fmt: skip
def test_what_would_give_ids_of_the_leaf_again_is_refused(tmp_path, lines, said):
    url = [] if "store is" in said else [f"leaf.jdbc.url=jdbc:mysql://127.0.0.1:1/leaf?password={SECRET}"]
    file = tmp_path / "leaf.properties"
    file.write_text("\n".join([*url, *lines]))
    for command in ([], ["check"]):
        words = [BINARY, "--leaf-properties", file, *command]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr and "s3c" not in done.stderr, done.stderr


@pytest.mark.parametrize("listen", [":0", "*:0", "0", "localhost:0"])
def test_an_address_to_listen_at_is_read_as_people_write_it(file, listen):
    with Server(file.url, "--no-snowflake", listen=listen) as server:
        where = "127.0.0.1" if "localhost" in listen else "0.0.0.0"
        assert server.address[0] == where and server.client().get("/health")[0] == 200
