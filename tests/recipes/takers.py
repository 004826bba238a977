"""Processes of two languages that take ids of recipes at once, what befalls them, and the judge."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from databases import MEMORY
from redis_server import Redis

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "build/recipes/project"
# Far longer than anything takes on a busy machine.
PATIENCE = 600
# A process ends by then, whatever else happens.
SECONDS = 900


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a program makes a source or leases of the package."""

    # py or mjs
    language: str
    # As sources.postgres
    module: str
    # Or what stands for it.
    url: object = ""
    options: dict = dataclasses.field(default_factory=dict)
    # Instead of the URL, an object of it: the kind of pool of an engine of SQLAlchemy, or a client of ioredis.
    own: str = ""
    # Texts of the module that are replaced.
    changes: tuple = ()

    def at(self, url, **options):
        return dataclasses.replace(self, url=url, options={**self.options, **options})

    def command(self, script, *words):
        runner = [sys.executable, HERE / f"{script}.py"]
        if self.language == "mjs":
            runner = ["node", PROJECT / f"{script}.mjs"]
        return list(map(str, [*runner, json.dumps(dataclasses.asdict(self)), *words]))

    def call(self, *calls):
        """The results of these calls; one that is refused is the last."""
        done = self.ended(*calls)
        assert done.returncode == 0, f"{self}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def ended(self, *calls):
        """The process of these calls."""
        environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        command = self.command("call", json.dumps(calls))
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)


class Taker:
    def __init__(self, script, recipe, folder, number, environment):
        self.ids, self.log = folder / f"{number}.ids", folder / f"{number}.log"
        self.command = recipe.command(script, self.ids, folder / "end", SECONDS, number)
        self.recipe, self.environment = recipe, {**os.environ, **environment, "NO_PROXY": "127.0.0.1"}
        self.ids.touch()
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def told(self):
        return f"{self.recipe}:\n{self.log.read_text()[-2000:]}"

    def taken(self):
        """The ids of all whole lines."""
        return [int(line) for line in self.ids.read_text().split("\n")[:-1]]


class Takers:
    """Two processes for each recipe. All have begun when the block does."""

    def __init__(self, script, recipes, environment={}):
        self.folder = Path(tempfile.mkdtemp(prefix="leafid-recipes-", dir=MEMORY))
        numbered = enumerate([*recipes, *recipes])
        self.all = [Taker(script, recipe, self.folder, number, environment) for number, recipe in numbered]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for taker in self.all:
            taker.kill()
        shutil.rmtree(self.folder)

    def continue_all(self):
        """Waits until each has taken ids from now on."""
        before = [taker.ids.stat().st_size for taker in self.all]
        deadline = time.monotonic() + PATIENCE
        for taker, had in zip(self.all, before):
            while taker.ids.stat().st_size == had:
                assert taker.process.poll() is None, f"ended with {taker.process.returncode}: {taker.told()}"
                assert time.monotonic() < deadline, f"no ids within {PATIENCE} s: {taker.told()}"
                time.sleep(0.02)

    def say_something(self):
        """Waits until each has said why it has no ids."""
        deadline = time.monotonic() + PATIENCE
        for taker in self.all:
            while not taker.log.stat().st_size:
                assert taker.process.poll() is None, f"ended with {taker.process.returncode}"
                assert time.monotonic() < deadline, f"nothing was said within {PATIENCE} s: {taker.recipe}"
                time.sleep(0.02)

    def kill_some(self):
        """One of each recipe."""
        for taker in self.all[: len(self.all) // 2]:
            taker.kill()
            taker.start()

    def end(self):
        (self.folder / "end").touch()
        for taker in self.all:
            assert taker.process.wait(PATIENCE) == 0, taker.told()

    def duplicates(self):
        """(how many ids there are, those that came twice)"""
        ids = sorted(id for taker in self.all for id in taker.taken())
        return len(ids), [one for one, other in zip(ids, ids[1:]) if one == other]

    def judge(self, least):
        """Ends all once they have so many ids. None came twice."""
        while self.duplicates()[0] < least:
            self.continue_all()
        self.end()
        count, twice = self.duplicates()
        assert not twice, f"{len(twice)} duplicates of {count}, the first {twice[:5]}"
        print(f"{count} ids of {len(self.all)} processes, duplicates 0")


def open_redis():
    """A Redis with the settings of docs/RECIPES.md."""
    return Redis(PROJECT / "redis.conf")


def hammer(script, store, least):
    """Connections are cut, the server and takers are killed. No id comes twice."""
    store, recipes = store
    with Takers(script, recipes) as takers:
        befall(takers, store, least)


def befall(takers, store, least):
    takers.continue_all()
    if hasattr(store, "cut"):
        for _ in range(20):
            store.cut()
            time.sleep(0.1)
        takers.continue_all()
    for _ in range(2):
        if hasattr(store, "kill"):
            store.kill()
            time.sleep(0.5)
            store.start()
            takers.continue_all()
        takers.kill_some()
        takers.continue_all()
    takers.judge(least)


def broken(recipe, breaks):
    """The recipe with texts of its module replaced: those of its language and module, also of an object of its own."""
    name = (recipe.language, recipe.module)
    return dataclasses.replace(recipe, changes=tuple(breaks.get((*name, recipe.own)) or breaks[name]))


def wait_for_duplicates(takers):
    takers.continue_all()
    deadline = time.monotonic() + PATIENCE
    while not (found := takers.duplicates())[1]:
        assert time.monotonic() < deadline, f"{found[0]} ids, and none came twice"
        time.sleep(0.5)
    count, twice = found
    print(f"broken: {len(twice)} duplicates of {count} ids")
