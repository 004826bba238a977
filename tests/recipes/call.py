"""Makes calls of a recipe, and prints their results as JSON: call.py RECIPE CALLS. One that is refused ends them."""

import json
import os
import sys
from types import SimpleNamespace

import leafid
from made import made


def call(recipe, name, *words):
    match name:
        case "take":
            tag, step, after = words
            taken = recipe(tag, step, after=int(after))
            return taken and [str(taken.start), str(taken.stop)]
        case "forked":
            return forked(lambda: [recipe(words[0], 10).start for _ in range(20)])
        case "claim":
            instance, now_ms, until_ms = words
            lease = recipe.claim(SimpleNamespace(instance=instance, now_ms=now_ms, until_ms=until_ms))
            return lease and [lease.worker_id, lease.from_ms, lease.until_ms, lease.token]
        case "renew" | "release":
            worker_id, token, until_ms = words
            renewed = getattr(recipe, name)(leafid.Lease(worker_id, 0, 1, token=token or tokens[-1]), until_ms)
            if renewed is None:
                return None
            tokens.append(renewed["token"])
            return [renewed["until_ms"], len(set(tokens))]
        case "tags":
            return recipe.create_tables(tags=words[0])
        case "workers":
            first, last = words
            return recipe.create_tables(workers=range(first, last + 1) if first else last + 1)
        case "as given":
            return recipe.create_tables(workers=words[0])
        case "check":
            return recipe.check()


def forked(take):
    """What this process and a child of it take at once."""
    out, into = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(into, json.dumps(take()).encode())
        finally:
            os._exit(0)
    os.close(into)
    taken = take()
    os.waitpid(child, 0)
    return taken + json.loads(os.read(out, 65536))


# Of renewals; one without a token has the last one.
tokens = []
results = []
try:
    recipe = made(sys.argv[1])
    for words in json.loads(sys.argv[2]):
        results.append(call(recipe, *words))
except leafid.InvalidArgumentError as error:
    results.append(f"refused: {error}")
print(json.dumps(results))
