"""A second interpreter in one process is refused, and the first goes on."""

import pytest

CODE = """
try:
    import _interpreters as interpreters
except ImportError:
    import warnings
    warnings.simplefilter("ignore")
    import _xxsubinterpreters as interpreters

flake = leafid.Snowflake(7, **space)
first = flake.next()
script = '''
try:
    import leafid
    print("loaded", flush=True)
except ImportError as error:
    print(error, flush=True)
'''
kinds = [(), ("legacy",)] if hasattr(interpreters, "new_config") else [{}, {"isolated": False}]
for kind in kinds:
    other = interpreters.create(**kind) if isinstance(kind, dict) else interpreters.create(*kind)
    interpreters.run_string(other, script)
    interpreters.destroy(other)
say(flake.next() > first)
"""


def test_subinterpreters_are_refused(run):
    pytest.importorskip("_interpreters" if __import__("sys").version_info >= (3, 13) else "_xxsubinterpreters")
    *refused, going_on = run(CODE).splitlines()
    assert len(refused) == 2 and going_on == "True"
    for message in refused:
        assert "subinterpreters" in message and "leafid" in message
