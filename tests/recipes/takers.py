"""Processes of two languages that take ids of recipes at once, what befalls them, and the judge."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from redis_server import Redis

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "build/recipes/project"
# Far longer than anything takes on a busy machine.
PATIENCE = 600
# A process ends by then, whatever else happens.
SECONDS = 900


class Taker:
    def __init__(self, script, recipe, folder, number, environment):
        runner = [sys.executable, HERE / f"{script}.py"]
        if recipe.suffix == ".mjs":
            runner = ["node", PROJECT / f"{script}.mjs"]
        self.ids, self.log = folder / f"{number}.ids", folder / f"{number}.log"
        self.command = [*runner, recipe, self.ids, folder / "end", SECONDS, number]
        self.recipe, self.environment = recipe, {**os.environ, **environment, "NO_PROXY": "127.0.0.1"}
        self.ids.touch()
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(list(map(str, self.command)), stdout=log, stderr=log, env=self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def told(self):
        return f"{self.recipe.name}:\n{self.log.read_text()[-2000:]}"

    def taken(self):
        """The ids of all whole lines."""
        return [int(line) for line in self.ids.read_text().split("\n")[:-1]]


class Takers:
    """Two processes for each recipe. All have begun when the block does."""

    def __init__(self, script, recipes, environment):
        self.folder = Path(tempfile.mkdtemp(prefix="leafid-recipes-"))
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
                assert time.monotonic() < deadline, f"nothing was said within {PATIENCE} s: {taker.recipe.name}"
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


def open_redis(commands):
    """A Redis set up by the commands of the page, and the environment of its recipes."""
    store = Redis(PROJECT / "redis.conf")
    store.ask(*(PROJECT / commands).read_text().split())
    return store, {"REDIS_URL": store.url}


def hammer(script, store, least):
    """Connections are cut, the server and takers are killed. No id comes twice."""
    store, environment, recipes = store
    with Takers(script, [PROJECT / recipe for recipe in recipes], environment) as takers:
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


def broken(folder, recipe, *changes):
    """The recipe in this folder, with these texts replaced."""
    for lua in PROJECT.glob("*.lua"):
        shutil.copy(lua, folder)
    code = (PROJECT / recipe).read_text()
    for old, new in changes:
        assert old in code, f"{recipe} has no {old}"
        code = code.replace(old, new)
    (folder / recipe).write_text(code)
    return folder / recipe


def wait_for_duplicates(takers):
    takers.continue_all()
    deadline = time.monotonic() + PATIENCE
    while not (found := takers.duplicates())[1]:
        assert time.monotonic() < deadline, f"{found[0]} ids, and none came twice"
        time.sleep(0.5)
    count, twice = found
    print(f"broken: {len(twice)} duplicates of {count} ids")
