"""The command line: `leafid` and `python -m leafid`."""

import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import time

import leafid
import pytest

FORMS = {
    "leafid": [str(pathlib.Path(sysconfig.get_path("scripts"), "leafid"))],
    "python -m leafid": [sys.executable, "-W", "error", "-m", "leafid"],
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LEAFID_WORKER"}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


def finished(form, *arguments, stdin=""):
    return subprocess.run(
        [*form, *arguments], input=stdin, capture_output=True, encoding="utf-8", env=ENVIRONMENT
    )


def test_the_runs_that_end_alike_in_all_forms(form, vectors):
    for run in vectors("cli")["runs"]:
        done = finished(form, *run["arguments"], stdin=run["stdin"])
        assert done.returncode == run["exit"], (run, done)
        assert done.stdout == run["stdout"].replace("{version}", leafid.__version__)
        if run["stderr"] is None:
            assert "--help" in done.stderr
        else:
            assert done.stderr == run["stderr"]


def test_ids_and_their_record(form, space):
    place = ["--name", space["name"], "--state-dir", space["state_dir"]]
    ids = [int(line) for line in finished(form, "next", "-n", "5000", "--worker", "7", *place).stdout.split()]
    with leafid.Snowflake(7, **space) as flake:
        ids.append(flake.next())
        held = finished(form, "next", "--worker", "7", *place)
        assert (held.returncode, f"pid {os.getpid()}" in held.stderr) == (1, True), held
    assert len(ids) == 5001 and ids == sorted(set(ids))
    assert f'worker id 7 of "{space["name"]}"' in finished(form, "state", "show", *place).stdout


@pytest.fixture
def endless(form, space):
    command = [*form, "next", "-n", "1000000000", "--worker", "7", "--name", space["name"]]
    command += ["--state-dir", space["state_dir"]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    yield process
    process.kill()
    process.communicate()


def test_a_reader_that_goes_away_ends_it_quietly(endless, own):
    assert int(endless.stdout.readline()) > 0
    endless.stdout.close()
    assert (endless.wait(), own(endless.stderr.read())) == (0, "")


def test_an_interrupt_ends_it_without_a_trace(endless, own):
    assert int(endless.stdout.readline()) > 0
    endless.send_signal(signal.SIGINT)
    assert (endless.wait(), own(endless.stderr.read())) == (-signal.SIGINT, "")


def test_an_interrupt_ends_a_wait_for_input(form):
    process = subprocess.Popen(
        [*form, "decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdin.write("7\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("7\t")
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    assert process.communicate()[1] == ""
