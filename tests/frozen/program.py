"""What a frozen program does. It imports nothing that the native module needs: PyInstaller has to find that by itself."""

import sys

import leafid

# A disk that has just written the program is slow.
options = {"state_dir": sys.argv[1], "timeout_ms": 60_000}
with leafid.Snowflake(7, **options) as flake:
    made = flake.next()
time = leafid.decode(made).time
assert leafid.first_id_at(time) <= made <= leafid.last_id_at(time)
assert leafid.uuid_to_id(leafid.id_to_uuid(made)) == made

# A warning, without logging.
with open(f"{sys.argv[1]}/default/worker-7.state", "r+b") as file:
    file.write(b"damaged")
leafid.Snowflake(7, **options).close()

with leafid.Snowflake(lambda name, previous: 9, name="claimed", **options) as flake:
    assert flake.worker_id == 9


async def fetch(tag, step):
    return range(1, 1001)


with leafid.Segments(fetch=fetch, **options) as segments:
    order = segments.tag("order")
    assert order.next() == 1
    try:
        order.next_async().send(None)
    except StopIteration as answer:
        assert answer.value == 2
    else:
        raise AssertionError("it waits, with ids in memory")
print("done", flush=True)
