"""leafid.metrics as Prometheus' own parsers read it."""

import leafid
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus


def samples(parse, space):
    """The samples of this id space, by name and worker id."""
    families = list(parse(leafid.metrics()))
    every = [sample for family in families for sample in family.samples]
    return {(s.name, s.labels["worker_id"]): s for s in every if s.labels.get("name") == space["name"]}


@pytest.mark.parametrize("parse", [openmetrics, prometheus])
def test_each_generator(parse, space):
    with leafid.Snowflake(3, **space) as one, leafid.Snowflake(4, **space) as two:
        two.next()
        found, stats = samples(parse, space), one.stats()
        assert {worker for _, worker in found} == {"3", "4"}
        values = {name: sample.value for (name, worker), sample in found.items() if worker == "3"}
        assert values == {
            "leafid_snowflake_reserved_until_seconds": stats.reserved_until_ms / 1000,
            "leafid_snowflake_lead_seconds": 0.0,
            "leafid_snowflake_expires_at_seconds": stats.expires_at_ms / 1000,
            "leafid_snowflake_clock_lag_seconds": 0.0,
            "leafid_snowflake_claims_total": 1.0,
            "leafid_snowflake_ids_total": 0.0,
            "leafid_snowflake_wait_seconds_bucket": 0.0,
            "leafid_snowflake_wait_seconds_count": 0.0,
            "leafid_snowflake_wait_seconds_sum": 0.0,
            "leafid_snowflake_handles": 1.0,
            "leafid_snowflake_renewals_total": 0.0,
            "leafid_snowflake_renewal_failures_total": 0.0,
        }
        labels = found["leafid_snowflake_handles", "3"].labels
        assert labels == {
            "name": space["name"],
            "worker_id": "3",
            "state_dir": stats.state_dir,
            "layout": stats.layout,
        }
    assert samples(parse, space) == {}


@pytest.mark.parametrize("parse", [openmetrics, prometheus])
def test_a_directory_of_odd_letters(parse, space, tmp_path):
    odd = tmp_path / 'a "b" \\ c\nd é'
    with leafid.Snowflake(3, **space | {"state_dir": str(odd)}):
        labels = samples(parse, space)["leafid_snowflake_handles", "3"].labels
    assert labels["state_dir"] == str(odd / space["name"])


def test_version_and_kinds():
    families = {family.name: family for family in openmetrics(leafid.metrics())}
    assert families["leafid_build_info"].samples[0].labels == {"version": leafid.__version__}
    assert families["leafid_snowflake_renewals"].type == "counter"
    assert families["leafid_snowflake_lead_seconds"].unit == "seconds"
    assert all(family.documentation for family in families.values())
