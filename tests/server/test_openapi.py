"""The description of the API, compared with what a server answers."""

import json
import re
import subprocess

import pytest
from databases import free_port
from servers import BINARY, PATIENCE, ROOT, Client, Server, make_tag

SCHEMATHESIS = ROOT / "build/venv-schemathesis/bin/schemathesis"
FILE = ROOT / "server/openapi.json"
ROUTER = ROOT / "server/src/http/router.rs"
# Of each operation. How many a time allows depends on the machine.
EXAMPLES = 20
# Requests that break a rule of the description are answered as it says, or are good ones after all.
CHECKS = ("status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,"
          "unsupported_method")  # fmt: skip
# Paths of Leaf and tinyid serve methods that the description has no operation for: leaf_requests.json and test_tinyid.py try
# them.
ANY_METHOD = """[[operations]]
include-path = {}
phases.coverage.unexpected-methods = ["trace", "query"]
"""


def test_each_path_is_described_and_served(file):
    described = json.loads(FILE.read_text())["paths"]
    routes = re.findall(r'\(\s*"(/[^"]*)",\s', ROUTER.read_text())
    assert len(routes) > 15 and set(routes) == set(described)
    for path, methods in described.items():
        assert "requestBody" not in methods.get("post", {}) or "413" in methods["post"]["responses"], path
    with Server(file.url) as server:
        status, headers, body = server.client().request("GET", "/openapi.json")
        assert (status, headers["content-type"], body) == (200, "application/json;charset=UTF-8", FILE.read_text())


def test_bounds_are_those_of_the_description(file):
    make_tag(file.url, "order")
    described = json.loads(FILE.read_text())
    parameters = described["paths"]["/api/segment/range/{tag}"]["post"]["parameters"]
    bounds = {each["name"]: each["schema"]["maximum"] for each in parameters if "maximum" in each.get("schema", {})}
    assert sorted(bounds) == ["after", "step"]
    longest = described["components"]["schemas"]["Tag"]["properties"]["tag"]["maxLength"]
    with Server(file.url, "--no-snowflake", "--admin-listen", f"127.0.0.1:{free_port()}") as server:
        client = server.client()
        for name, most in bounds.items():
            assert client.post(f"/api/segment/range/order?{name}={most}")[1].get("message", "").count(f"{name} is \"") == 0
            for wrong in (most + 1, "x", "-1", ""):
                status, answer = client.post(f"/api/segment/range/order?{name}={wrong}")
                assert status == 400 and answer["message"].startswith(f'{name} is "{wrong}"; allowed: '), answer
        admin = Client(re.search(r"the admin API listens on (\S+):(\d+)", server.log()).groups())
        assert [admin.post("/api/tag", {"tag": "é" * length})[0] for length in (longest, longest + 1)] == [201, 400]
        admin.connection.close()


def test_answers_are_those_of_the_description(file, tmp_path):
    if not SCHEMATHESIS.exists():
        pytest.skip("schemathesis is not installed: make test OF=server")
    for tag in ("order", "0", "a"):
        make_tag(file.url, tag, 10)
    words = [BINARY, "token", "one", "--scope", "ids,ranges,leases,admin,metrics"]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    (tmp_path / "tokens.toml").write_text(made.stdout)
    served = re.findall(r'\(\s*"(/[^"]*)",\s*(?:any_method|guarded)\(', ROUTER.read_text())
    (tmp_path / "schemathesis.toml").write_text(ANY_METHOD.format(json.dumps(served)))
    options = "--tokens", tmp_path / "tokens.toml", "--timeout-ms", "200"
    with Server(file.url, *options) as server:
        command = [SCHEMATHESIS, "run", f"{server.url}/openapi.json", "--header",
                   f"Authorization: Bearer {made.stderr.split()[-1]}", "--checks", CHECKS, "--max-examples", str(EXAMPLES),
                   "--phases", "coverage,fuzzing", "--continue-on-failure", "--no-color"]  # fmt: skip
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE)  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert re.search(r"Selected: (\d+)/\1\n  Tested: \1\n", done.stdout), done.stdout
        print(re.search(r"\d+ generated", done.stdout)[0])
        assert server.client().get("/health")[0] == 200
        assert "panicked" not in server.log()
