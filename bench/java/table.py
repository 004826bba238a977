"""JMH's figures, each beside its floor and CosId's of the same run: `table.py RESULTS.json`."""

import json
import sys

GOALS = {"snowflake": 1.25, "tag": 1.5, "tagTwo": 2}
with open(sys.argv[1]) as results:
    found = {each["benchmark"].rpartition(".")[2]: each["primaryMetric"]["score"] for each in json.load(results)}
print("| | ns an id | its floor | times | goal | CosId |\n| --- | --- | --- | --- | --- | --- |")
for name, goal in GOALS.items():
    floor, peer = found[f"{name}Floor"], found[f"{name}Cosid"]
    print(f"| {name} | {found[name]:.1f} | {floor:.1f} | {found[name] / floor:.2f} | {goal} | {peer:.1f} |")
for name in ("snowflakeFill", "tagFill"):
    print(f"| {name}, 1,000 at a time | {found[name]:.2f} | | | 1.5 ns | |")
