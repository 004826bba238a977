"""Stores by which ids would come twice, and what the server says of them."""

import contextlib
import json
import os
import re
import subprocess
import urllib.parse

import pytest
from servers import Server, check, check_unique, make_tag, until
from test_admin import administrator


# The table of Leaf's own script.
LEAF_ALLOC = """CREATE TABLE `leaf_alloc` (
  `biz_tag` varchar(128)  NOT NULL DEFAULT '',
  `max_id` bigint(20) NOT NULL DEFAULT '1',
  `step` int(11) NOT NULL,
  `description` varchar(256)  DEFAULT NULL,
  `update_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (`biz_tag`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8"""


@pytest.fixture
def odd(engine, name):
    """The address of a database of one test, and its `sql`."""
    database = name.replace("-", "_")
    engine.sql(f"CREATE DATABASE {database}")
    before, engine.database = engine.database, database
    yield engine.url.removesuffix("leaf") + database, engine.sql
    engine.database = before


def refused(store, **more):
    """What a start and `check` say of a store, which both refuse."""
    with Server(store, wait=False, **more) as server:
        assert server.process.wait() == 1
        code, said = check(store, **more)
        assert code == 1
        return server.log(), said


@pytest.mark.parametrize("table", ["leaf_alloc", "leafid_space", "leafid_worker"])
def test_a_table_without_transactions_is_refused(engine, odd, table):
    if engine.name != "mariadb":
        pytest.skip("its tables have transactions")
    store, sql = odd
    make_tag(store, "order")
    sql(f"ALTER TABLE {table} ENGINE = MyISAM")
    assert all(f"{table} is MyISAM, which has no transactions" in said for said in refused(store))
    assert check(store)[1].count(f"tables of InnoDB: ALTER TABLE {table} ENGINE = InnoDB\n") == 1
    sql(f"ALTER TABLE {table} ENGINE = InnoDB")
    assert check(store)[0] == 0


def test_a_table_that_a_crash_empties_is_wrong(engine, odd):
    if engine.name != "postgresql":
        pytest.skip("it has no such tables")
    store, sql = odd
    make_tag(store, "order")
    sql("ALTER TABLE leafid_worker SET UNLOGGED")
    code, said = check(store)
    mend = "ALTER TABLE leafid_worker SET LOGGED"
    assert code == 1 and f"ids come twice: {mend}\n" in said
    sql(mend)
    assert check(store)[0] == 0


def test_a_table_in_another_schema_is_wrong(engine, odd):
    """Of two users the search_path finds two tables, in one database."""
    if engine.name != "postgresql":
        pytest.skip("the address names the tables")
    store, sql = odd
    sql("CREATE USER ops")
    try:
        sql("CREATE SCHEMA ops AUTHORIZATION ops; GRANT ALL ON SCHEMA public TO PUBLIC")
        ops = store.replace("//leaf@", "//ops@")
        make_tag(ops, "order")
        with Server(ops, "--no-snowflake") as server:
            assert f"store {ops.replace('ops@', '…@')}, schema ops" in server.log() and "is also in" not in server.log()
        tables = ("leaf_alloc", "leafid_space")
        other = [f"{table} is also in the schema ops, and this user's is in public" for table in tables]
        code, said = check(store)
        assert code == 1 and "schema: public" in said and all(f"WRONG table {line}" in said for line in other)
        make_tag(store, "order")
        with Server(store, "--no-snowflake") as server:
            assert ", schema public" in server.log() and all(line in server.log() for line in other)
        assert "leaf_alloc is also in the schema public, and this user's is in ops" in check(ops)[1]
        assert "ALTER ROLE leaf SET search_path = ops, for this one" in said and "(DROP TABLE ops.leaf_alloc)" in said
    finally:
        sql("DROP SCHEMA ops CASCADE; REVOKE ALL ON SCHEMA public FROM PUBLIC")
        sql("DROP OWNED BY ops; DROP USER ops")


def test_a_store_that_was_empty_is_said_once(store, tag):
    """It may be one that was lost. A table that is taken away is another one."""
    new = "if servers gave ids of this store before, it was lost"
    make_tag(store.url, tag)
    with Server(store.url, "--no-snowflake") as server:
        assert new not in server.log()
    store.sql("DROP TABLE leafid_space")
    with Server(store.url, "--no-snowflake") as server:
        assert f"had no tables leafid_space, and new ones were made: {new}" in server.log()


def test_a_counter_that_outgrows_its_column_gives_nothing_twice(engine, odd):
    """MariaDB without its strict mode stores the largest number of the column instead, each time."""
    store, sql = odd
    make_tag(store, "order", step=100, first=2**31 - 250)
    sql("ALTER TABLE leaf_alloc " + ("MODIFY max_id int" if engine.name == "mariadb" else "ALTER max_id TYPE int"))
    if engine.name == "mariadb":
        mode = sql("SELECT @@GLOBAL.sql_mode")[0]
        sql("SET GLOBAL sql_mode = ''")
    try:
        found = []
        for _ in range(2):
            with Server(store, "--timeout-ms", "2000", "--no-snowflake") as server:
                ranges = filter(None, [server.client().range("order", 100) for _ in range(4)])
                found += [id for start, end in ranges for id in range(start, end)]
        check_unique(found, 200)
        assert len(found) == 200
    finally:
        if engine.name == "mariadb":
            sql(f"SET GLOBAL sql_mode = '{mode}'")


def test_a_tag_is_the_bytes_that_its_row_has(engine, odd):
    """A collation finds more, and a character that the column lacks is an error of the database, not of the server."""
    store, sql = odd
    if engine.name == "mariadb":
        sql(f"ALTER DATABASE {engine.database} CHARACTER SET utf8mb3")
        sql("CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint NOT NULL DEFAULT 1, "
            "step int NOT NULL, description varchar(256), update_time timestamp NOT NULL "
            "DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))")  # fmt: skip
    make_tag(store, "order", step=10)
    wrong = ["ORDER", "Order", "order ", "Ördér", "order😀", "😀"]
    with Server(store, "--timeout-ms", "20000", "--admin-listen", "127.0.0.1:0", "--no-snowflake") as server:
        client, admin = server.client(), administrator(server)
        for tag in wrong:
            status, body = client.get("/api/segment/get/" + urllib.parse.quote(tag))
            assert status == 500 and json.loads(body)["message"] == "Result{id=-2, status=EXCEPTION}", tag
            assert client.post(f"/api/segment/range/{urllib.parse.quote(tag)}?nonce=1")[0] == 404
        assert json.loads(client.get("/ready")[1])["tags"] == 0
        assert client.ids("order") == [1] and "WARN" not in server.log() + client.get("/metrics")[1]
        if engine.name == "mariadb":
            for tag in wrong:
                status, answer = admin.post("/api/tag", {"tag": tag, "step": 77, "first": 5000})
                assert (status, answer["error"]) == (400, "invalid_argument"), (tag, answer)
            assert sql("SELECT CONCAT(biz_tag, step) FROM leaf_alloc") == ["order10"]


@pytest.mark.parametrize("column", ["varchar(128) CHARACTER SET latin1", "varchar(128) CHARACTER SET gbk",
                                    "varchar(128) CHARACTER SET utf8mb3", "varchar(128) COLLATE utf8mb4_general_ci",
                                    "char(128) CHARACTER SET ucs2", "varbinary(128)"])  # fmt: skip
def test_a_name_of_any_characters_is_unknown_at_once_and_ends_no_connection(engine, odd, column):
    """Without a key there are two rows that the collation takes for each other, and a third name is none of them."""
    if engine.name != "mariadb":
        pytest.skip("its columns have a character set each")
    store, sql = odd
    sql(f"CREATE TABLE leaf_alloc (biz_tag {column} NOT NULL, max_id bigint NOT NULL, step int NOT NULL, "
        "description varchar(256), update_time timestamp)")  # fmt: skip
    sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 10), ('item', 1, 10), ('ITEM', 1, 10)")
    names = ["ORDER", "Iтем", "order😀", "заказ", "注文", "Ördér"]
    connections = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Connections'"
    with Server(store, "--timeout-ms", "60000", "--no-snowflake", "--store-connections", "1") as server:
        client = server.client()
        assert client.ids("order") == [1]
        assert client.get("/db")[0] == 200, "rows without a time"
        started, before = server.log(), int(sql(connections)[0])
        for name in 20 * [*names, "Item"]:
            status, body = client.get("/api/segment/get/" + urllib.parse.quote(name))
            assert status == 500 and "id=-2" in body, (name, body)
        # Of these the client of `sql` made one.
        assert int(sql(connections)[0]) <= before + 2
        assert "WARN" not in server.log().removeprefix(started) and client.ids("order") == [2]


def test_of_more_rows_than_are_read_at_a_time_each_name_is_found(engine, odd):
    store, sql = odd
    make_tag(store, "order")
    rows = {"mariadb": "CONCAT(IF(seq % 2, 'Tag', 'tag'), seq), 1, 10 FROM seq_1_to_20003",
            "postgresql": "CONCAT(CASE n % 2 WHEN 1 THEN 'Tag' ELSE 'tag' END, n), 1, 10 FROM generate_series(1, 20003) AS n"}  # fmt: skip
    sql(f"INSERT INTO leaf_alloc (biz_tag, max_id, step) SELECT {rows[engine.name]}")
    # Where blanks at the end do not count, it is behind no name.
    sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (' ', 1, 10)")
    with Server(store, "--no-snowflake") as server:
        client = server.client()

        def by_all_names(tag):
            """Its id, once so many names were asked for that it is looked for among those of all rows."""
            for at in range(100):
                assert client.ids(f"none-{at}") == []
            return client.ids(tag)

        for tag in ["Tag1", "tag10000", "Tag10001", "tag20002", "Tag20003", " "]:
            assert by_all_names(tag) == [1], tag


def test_the_tables_compare_names_byte_by_byte_whatever_the_database_does(engine, odd):
    store, sql = odd
    if engine.name == "mariadb":
        sql(f"ALTER DATABASE {engine.database} CHARACTER SET latin1 COLLATE latin1_swedish_ci")
    for tag, first in (("order", 1), ("Order", 1001), ("заказ", 2001), ("🍋", 3001)):
        make_tag(store, tag, first=first)
    code, said = check(store)
    assert code == 0 and "swedish" not in said, said
    with Server(store, "--no-snowflake") as server:
        client = server.client()
        assert [client.ids(tag) for tag in ("order", "Order", "заказ", "🍋")] == [[1], [1001], [2001], [3001]]


def test_check_names_what_differs_in_tables_of_a_stock_leaf_and_leaves_them(engine, odd):
    if engine.name != "mariadb":
        pytest.skip("Leaf's script is for MySQL")
    store, sql = odd
    sql(LEAF_ALLOC)
    make_tag(store, "order")
    code, said = check(store)
    assert code == 0 and "ok    table leaf_alloc.biz_tag is utf8" in said and "_general_ci: " in said, said
    sql(re.search("to have both: (.*)", said)[1])
    assert "_general_ci" not in check(store)[1] and sql("SELECT biz_tag FROM leaf_alloc") == ["order"]


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_setting_that_loses_commits_is_wrong_with_the_statement_that_mends_it(engine, odd, kind):
    if engine.name != kind:
        pytest.skip(f"of {kind}")
    store, sql = odd
    setting, bad, good = {
        "mariadb": ("innodb_flush_log_at_trx_commit", "2", "1"),
        "postgresql": ("synchronous_commit", "off", "on or remote_apply or remote_write"),
    }[kind]
    if kind == "mariadb":
        sql(f"SET GLOBAL {setting} = {bad}")
    else:
        sql(f"ALTER SYSTEM SET {setting} = {bad}")
        sql("SELECT pg_reload_conf()")
    try:
        line = f"WRONG durability: {setting} is {bad}; allowed: {good}, or .*: (.*)"
        found = until(lambda: re.search(line, check(store)[1]), "it is wrong")
    finally:
        # It is one of the whole database.
        statements = {
            "mariadb": ["SET GLOBAL innodb_flush_log_at_trx_commit = 1"],
            "postgresql": ["ALTER SYSTEM SET synchronous_commit = on", "SELECT pg_reload_conf()"],
        }[kind]
        for statement in statements:
            sql(statement)
    assert all(statement in found[1] for statement in statements), found[1]
    until(lambda: check(store)[0] == 0, "it is mended")


def check_green(store):
    for _ in range(2):
        code, said = check(store)
        assert code == 0 and "WRONG" not in said, said
        with Server(store):
            pass


def test_check_is_green_on_a_stock_database(engine, odd):
    check_green(odd[0])


def test_check_is_green_on_a_new_file(file):
    check_green(file.url)


def test_check_is_green_on_a_stock_mariadb(engine, odd):
    """It has no binary log, and so nothing of it to write to the disk."""
    if engine.name != "mariadb":
        pytest.skip("of MariaDB")
    store, sql = odd
    sql("SET GLOBAL sync_binlog = 0")
    try:
        code, said = check(store)
        assert code == 0 and "commits survive a crash" in said, said
    finally:
        sql("SET GLOBAL sync_binlog = 1")


@pytest.mark.parametrize("address", ["host=db dbname=leaf password=s3cret", "leaf:s3cret@tcp(db:3306)/leaf", "db:5432/leaf"])
def test_an_address_in_another_program_s_words_is_no_file(tmp_path, address):
    for said in refused(address, cwd=tmp_path):
        assert "s3cret" not in said and "without a scheme such as postgres://" in said, said
    assert not os.listdir(tmp_path)


def test_a_tag_with_two_rows_gives_no_id(file):
    """A table that was made by hand, without a key. Both rows would be raised, and both be read in turn."""
    columns = "biz_tag varchar(128), max_id bigint, step int, description varchar(256), update_time timestamp"
    file.sql(f"CREATE TABLE leaf_alloc ({columns})")
    make_tag(file.url, "order", step=10)
    with Server(file.url, "--timeout-ms", "2000") as server:
        client = server.client()
        assert client.range("order", 10) == (1, 11)
        with pytest.raises(AssertionError, match="2 rows of the tag"):
            make_tag(file.url, "order", step=10)
        assert file.sql("SELECT max_id FROM leaf_alloc") == ["11"], "it was rolled back"
        file.sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 500, 10)")
        for step in ("", "&step=10"):
            status, answer = client.post(f"/api/segment/range/order?nonce=1{step}")
            assert status == 503 and "2 rows of the tag" in answer["message"], answer
        assert client.ids("order") == []
        assert file.sql("SELECT max_id FROM leaf_alloc ORDER BY 1") == ["11", "500"], "it was rolled back"
        file.sql("DELETE FROM leaf_alloc WHERE max_id = 11")
        assert client.range("order", 10) == (500, 510)


def test_an_sqlite_file_with_two_names_is_refused(file):
    """SQLite's log has the name of the file, so that servers with different names would not see each other's commits."""
    make_tag(file.url, "order")
    other = file.folder / "other.db"
    other.hardlink_to(file.url)
    assert all("several hard links" in said for said in refused(str(other)))
    other.unlink()
    other.touch()
    if subprocess.run(["mount", "--bind", file.url, other], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs root to mount")
    try:
        assert all("is mounted as a file" in said for said in refused(str(other)))
    finally:
        subprocess.run(["umount", other], check=True)
    with Server(file.url) as server:
        assert server.client().ids("order") == [1]


def test_a_file_that_is_no_database_is_refused_at_once_and_left_as_it_is(file):
    other = file.folder / "notes.txt"
    for text in ("notes\n", "SQLite format 2\0 and more"):
        other.write_text(text)
        assert all("notes.txt is no database of SQLite; allowed: " in said for said in refused(str(other)))
        assert other.read_text() == text
    assert all("is no database of SQLite" in said for said in refused(str(file.folder)))
    assert all("is in a folder that does not exist" in said for said in refused(str(file.folder / "none" / "ids.db")))
    other.write_text("")
    make_tag(str(other), "order")


def test_an_sqlite_file_that_is_replaced_gives_nothing_more(file):
    make_tag(file.url, "order", step=10)
    with Server(file.url, "--timeout-ms", "2000") as server:
        client = server.client()
        found = [*range(*client.range("order", 10))]
        moved = file.folder / "moved"
        moved.mkdir()
        names = [name for name in os.listdir(file.folder) if name.startswith("ids.db")]
        for name in names:
            os.rename(file.folder / name, moved / name)
        assert client.range("order", 10) is None
        assert "was deleted, moved or replaced" in client.post("/api/segment/range/order?nonce=1")[1]["message"]
        make_tag(file.url, "order", step=10, first=1000)
        assert client.range("order", 10) is None, "another file"
        for name in names:
            os.replace(moved / name, file.folder / name)
        found += range(*client.range("order", 10))
        check_unique(found, 20)


@pytest.mark.parametrize("ends", [["-wal"], ["-shm"], ["-wal", "-shm"]])
def test_an_sqlite_file_that_loses_its_log_gives_nothing_more(file, ends):
    """A server that starts then makes a log of its own, and neither sees what the other one commits."""
    make_tag(file.url, "order", step=10)
    with Server(file.url, "--timeout-ms", "2000", "--no-snowflake") as server:
        client = server.client()
        assert client.range("order", 10) == (1, 11)
        for end in ends:
            (file.folder / f"ids.db{end}").unlink()
        for _ in range(3):
            status, answer = client.post("/api/segment/range/order?nonce=1")
            assert status == 503 and f"ids.db{ends[0]}" in answer["message"], answer
            assert "was deleted, moved or replaced" in answer["message"]


def test_a_connection_to_another_file_is_not_used_once_the_right_one_is_back(file):
    """The first connection ends by a failure, so the next one is made while another file is at the path."""
    make_tag(file.url, "order", step=10)
    with Server(file.url, "--timeout-ms", "2000") as server:
        client = server.client()
        found = [*range(*client.range("order", 10))]
        moved, other = file.folder / "moved", file.folder / "other"

        def names():
            return [name for name in os.listdir(file.folder) if name.startswith("ids.db")]

        def move(names, source, target):
            target.mkdir(exist_ok=True)
            for name in names:
                # The log goes with the last connection.
                with contextlib.suppress(FileNotFoundError):
                    os.rename(source / name, target / name)

        # A transaction that fails ends the connection.
        file.sql("ALTER TABLE leaf_alloc RENAME TO gone")
        assert client.range("order", 10) is None
        file.sql("ALTER TABLE gone RENAME TO leaf_alloc")
        move(names(), file.folder, moved)
        make_tag(file.url, "order", step=10, first=1000)
        assert client.range("order", 10) is None, "another file"
        move(names(), file.folder, other)
        move(os.listdir(moved), moved, file.folder)
        found += range(*client.range("order", 10))
        check_unique(found, 20)
        assert found[-1] < 1000, "of the right file"
