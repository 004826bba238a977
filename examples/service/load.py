"""Orders from many connections at once, to one service or several. Says how fast they were, and whether an id came
twice.

    python load.py --seconds 10 http://127.0.0.1:8000 http://127.0.0.1:8001
"""

import argparse
import asyncio
import contextlib
import time

import httpx


async def orders(client: httpx.AsyncClient, url: str, until: float, result: "Result") -> None:
    while (begun := time.monotonic()) < until:
        try:
            answer = await client.post(f"{url}/orders", json={"item": "tea"})
        except httpx.TransportError:
            # It was not answered: if it got an id, that stays unused.
            result.unanswered += 1
            await asyncio.sleep(0.1)
            continue
        if answer.status_code == 503:
            result.refused += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]))
            continue
        answer.raise_for_status()
        result.ids.append(int(answer.json()["id"]))
        result.seconds.append(time.monotonic() - begun)


class Result:
    def __init__(self) -> None:
        self.ids: list[int] = []
        self.seconds: list[float] = []
        self.unanswered = self.refused = 0

    def text(self, seconds: float) -> str:
        times = sorted(self.seconds)
        at = [f"{times[int(part * (len(times) - 1))] * 1000:.1f}" for part in (0.5, 0.99, 1)] if times else ["-"] * 3
        return (
            f"{len(self.ids)} orders, {len(self.ids) / seconds:.0f} a second; ms: median {at[0]}, 99 % {at[1]}, longest "
            f"{at[2]}; {self.refused} refused, {self.unanswered} not answered"
        )


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=16, help="to each service")
    options = parser.parse_args()

    results = {url: Result() for url in options.urls}
    begun = time.monotonic()
    # An interrupt ends it before its time: what came until then is reported.
    with contextlib.suppress(asyncio.CancelledError):
        async with (
            httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=5) as client,
            asyncio.TaskGroup() as tasks,
        ):
            for url, result in results.items():
                for _ in range(options.connections):
                    tasks.create_task(orders(client, url.rstrip("/"), begun + options.seconds, result))
    for url, result in results.items():
        print(f"{url}: {result.text(time.monotonic() - begun)}")
    ids = [id for result in results.values() for id in result.ids]
    duplicates = len(ids) - len(set(ids))
    print(f"{len(ids)} ids, duplicates {duplicates}")
    return 0 if ids and not duplicates else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
