"""A subinterpreter is refused; the main one continues, and ends."""

import pytest

INTERPRETERS = """
try:
    import _interpreters as interpreters
except ImportError:
    import warnings
    warnings.simplefilter("ignore")
    import _xxsubinterpreters as interpreters

def create(kind):
    return interpreters.create(**kind) if isinstance(kind, dict) else interpreters.create(*kind)
"""

CODE = """
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
    other = create(kind)
    interpreters.run_string(other, script)
    interpreters.destroy(other)
say(flake.next() > first)
"""


# The prelude has loaded it already: the subinterpreter is the first in a process of its own.
ALONE = """
import subprocess
code = INTERPRETERS + """ + repr("""
legacy = ("legacy",) if hasattr(interpreters, "new_config") else {"isolated": False}
other = create(legacy)
interpreters.run_string(other, '''
try:
    import leafid
    flake = leafid.Snowflake(7, persist=False)
    flake.next()
    print("loaded", flush=True)
except ImportError as error:
    print(error, flush=True)
''')
# It is left to the end of the process.
""") + """
ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
say(ran.returncode, ran.stdout.strip(), ran.stderr.strip())
"""


@pytest.fixture(autouse=True)
def interpreters():
    pytest.importorskip("_interpreters" if __import__("sys").version_info >= (3, 13) else "_xxsubinterpreters")


def test_subinterpreters_are_refused(run):
    *refused, going_on = run(INTERPRETERS + CODE).splitlines()
    assert len(refused) == 2 and going_on == "True"
    for message in refused:
        assert "subinterpreters" in message and "leafid" in message


def test_a_process_ends_whose_subinterpreter_was_the_first_to_ask(run):
    said = run(f"INTERPRETERS = {INTERPRETERS!r}\n{ALONE}")
    assert said.startswith("0 leafid works in the main interpreter"), said
