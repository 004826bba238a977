"""What a frozen program does. It imports nothing that the native module needs: PyInstaller has to find that by itself."""

import sys

import leafid

directory = sys.argv[1]
with leafid.Snowflake(7, state_dir=directory) as flake:
    made = flake.next()
time = leafid.decode(made).time
assert leafid.first_id_at(time) <= made <= leafid.last_id_at(time)
assert leafid.uuid_to_id(leafid.id_to_uuid(made)) == made

# A warning, without logging.
with open(f"{directory}/default/worker-7.state", "r+b") as file:
    file.write(b"damaged")
leafid.Snowflake(7, state_dir=directory).close()

with leafid.Snowflake(lambda name, previous: 9, name="claimed", state_dir=directory) as flake:
    assert flake.worker_id == 9


async def fetch(tag, step):
    return range(1, 1001)


with leafid.Segments(fetch=fetch, state_dir=directory) as segments:
    order = segments.tag("order")
    assert order.next() == 1
    try:
        order.next_async().send(None)
    except StopIteration as answer:
        assert answer.value == 2
    else:
        raise AssertionError("it waits, with ids in memory")
print("done", flush=True)
