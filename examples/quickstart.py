import leafid

with leafid.Snowflake() as flake:
    id = flake.next()
    parts = leafid.decode(id)
    print(f"{id} made at {parts.time} by worker {parts.worker_id}")

    ids = flake.take(1000)
    print(f"{len(ids)} more, {ids[0]} to {ids[-1]}")
