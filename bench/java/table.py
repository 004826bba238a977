"""JMH's figures, each beside its floor and CosId's of the same run, and the first id of a JVM beside one that makes none:
`table.py RESULTS.json CLASSPATH`, a class path without other jars, in which a JVM would look for what is optional.

Figures are medians of seconds: a second in which the machine stalls says nothing of the code."""

import json
import statistics
import subprocess
import sys
import tempfile
import time

GOALS = {"snowflake": 1.25, "tag": 1.5, "tagTwo": 2}
STARTS = 15


def ran_ms(*arguments):
    began = time.monotonic()
    with subprocess.Popen(["java", "-cp", sys.argv[2], "bench.First", *arguments], stdout=subprocess.PIPE) as program:
        assert program.stdout and program.stdout.readline().strip().isdigit()
        return (time.monotonic() - began) * 1000


with open(sys.argv[1]) as results:
    seconds = {each["benchmark"].rpartition(".")[2]: each["primaryMetric"]["rawData"] for each in json.load(results)}
found = {name: statistics.median(sum(of_forks, [])) for name, of_forks in seconds.items()}
print("| | ns an id | its floor | times | goal | CosId |\n| --- | --- | --- | --- | --- | --- |")
for name, goal in GOALS.items():
    floor, peer = found[f"{name}Floor"], found[f"{name}Cosid"]
    print(f"| {name} | {found[name]:.1f} | {floor:.1f} | {found[name] / floor:.2f} | {goal} | {peer:.1f} |")
for name in ("snowflakeFill", "tagFill"):
    print(f"| {name}, 1,000 at a time | {found[name]:.2f} | | | 1.5 ns | |")
with tempfile.TemporaryDirectory() as folder:
    pairs = [(ran_ms(), ran_ms(folder)) for _ in range(STARTS)]
empty, first = (statistics.median(each) for each in zip(*pairs))
print(f"\nThe first id of a JVM comes {first - empty:.0f} ms later than the line of a program without one ({empty:.0f} ms); goal 60.")
