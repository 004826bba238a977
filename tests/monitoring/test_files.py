"""The alert rules and the dashboard of packaging/monitoring, by promtool and by the metrics that there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import leafid
import pytest

FILES = Path(__file__).parents[2] / "packaging" / "monitoring"
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is missing (Debian: prometheus)")


def promtool(*arguments, cwd=FILES):
    done = subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_promtool
def test_the_alert_rules_fire_when_they_should():
    assert "SUCCESS: 17 rules found" in promtool("check", "rules", "alerts.yml")
    assert "SUCCESS" in promtool("test", "rules", "alerts_test.yml")


def test_every_alert_is_tested():
    alerts = set(re.findall(r"- alert: (\w+)", (FILES / "alerts.yml").read_text()))
    tested = (FILES / "alerts_test.yml").read_text()
    fired = {name for name in alerts if re.search(rf"alertname: {name}\n +exp_alerts:\n", tested)}
    assert fired == alerts and len(alerts) == 17


def queries():
    dashboard = json.loads((FILES / "grafana.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


@needs_promtool
def test_the_queries_of_the_dashboard_are_valid(tmp_path):
    rules = [
        # JSON strings are YAML strings.
        f"  - record: panel:{number}\n    expr: {json.dumps(re.sub(r'[$]__rate_interval', '1m', query))}\n"
        for number, (_, query) in enumerate(queries())
    ]
    (tmp_path / "rules.yml").write_text("groups:\n- name: dashboard\n  rules:\n" + "".join(rules))
    assert f"SUCCESS: {len(rules)} rules found" in promtool("check", "rules", "rules.yml", cwd=tmp_path)


def test_all_metrics_that_are_named_exist(space):
    fetch = lambda tag, step: range(1, 1 + step)  # noqa: E731
    with leafid.Snowflake(7, **space) as flake, leafid.Segments(fetch=fetch, **space) as ids:
        flake.next()
        ids.tag("order").next()
        text = leafid.metrics()
    known = set(re.findall(r"^(leafid_\w+)", text, re.MULTILINE))
    # There is no lease here, and so no sample of this one.
    known.add("leafid_snowflake_lease_until_seconds")
    page = (FILES.parents[1] / "docs" / "MONITORING.md").read_text()
    dashboard = " ".join(query for _, query in queries())
    named = {"dashboard": dashboard, "alerts": (FILES / "alerts.yml").read_text(), "page": page}
    for where, content in named.items():
        families = set(re.findall(r"leafid_[a-z]+_[a-z_]+\b", content))
        # tests/server/test_metrics.py compares those of leafid-server with a server.
        families = {name for name in families if not name.startswith("leafid_server_")} - {"leafid_metrics"}
        missing = {name for name in families if name not in known and f"{name}_count" not in known}
        assert not missing, (where, missing)
    # And the page describes all of them.
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in known}
    assert families <= set(re.findall(r"leafid_\w+", page)), families - set(re.findall(r"leafid_\w+", page))
