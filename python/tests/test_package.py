"""What is installed: the wheel, of the project's one version."""

import ast
import faulthandler
import importlib.metadata
import json
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import tomllib
import warnings

import pytest

import leafid


def test_the_installed_package_is_tested():
    installed = pathlib.Path(leafid.__file__)
    assert installed.is_relative_to(sysconfig.get_path("platlib"))
    assert (installed.parent / "py.typed").exists() and (installed.parent / "_leafid.pyi").exists()


def test_one_version(project):
    version = tomllib.loads((project / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert leafid.__version__ == version == importlib.metadata.version("leafid")
    assert "version" in tomllib.loads((project / "python/pyproject.toml").read_text())["project"]["dynamic"]
    assert json.loads((project / "node/package.json").read_text())["version"] == version


def test_the_metadata_says_what_it_needs():
    metadata = importlib.metadata.metadata("leafid")
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"


def test_the_licences_name_the_crates_in_it(project):
    licences = {file.name: file for file in importlib.metadata.files("leafid") if file.name.startswith("LICENSE-")}
    assert licences.keys() == {"LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"}
    text = licences["LICENSE-THIRD-PARTY"].read_text()
    locked = {crate["name"]: crate["version"] for crate in tomllib.loads((project / "Cargo.lock").read_text())["package"]}
    for crate in ("pyo3", "ring", "rustls", "serde_json", "ureq"):
        assert f"\n{crate} {locked[crate]} (" in text


def test_all_is_what_there_is():
    modules = type(sys)
    public = {name for name, value in vars(leafid).items() if not name.startswith("_") and not isinstance(value, modules)}
    assert public | {"__version__"} == set(leafid.__all__)


def test_what_the_native_module_imports_is_seen_by_what_freezes_programs(project):
    """It looks for import statements, also in functions that are never called."""
    sources = "".join(path.read_text() for path in sorted((project / "bindings/python/src").rglob("*.rs")))
    # py.import("os"), DATETIME.import(py, "datetime", …), call(&import, &("asyncio",)…
    native = set(re.findall(r"""\bimport\b[^";\n]*"([\w.]+)\"""", sources))
    assert native >= {"leafid._logs", "leafid._waiting", "leafid._green", "asyncio", "datetime", "weakref"}
    # pyo3 imports this one to look at a mapping.
    native |= {"collections.abc"} if "PyMapping" in sources else set()
    seen = set()
    for node in ast.walk(ast.parse(pathlib.Path(leafid.__file__).read_text())):
        match node:
            case ast.Import():
                seen |= {name.name for name in node.names}
            case ast.ImportFrom(module=None):
                seen |= {f"leafid.{name.name}" for name in node.names}
    assert native == seen


def test_everything_public_is_documented():
    for name in leafid.__all__:
        value = getattr(leafid, name)
        if not isinstance(value, str):
            assert value.__doc__, name
        if isinstance(value, type):
            for member_name, member in vars(value).items():
                assert member_name.startswith("_") or not callable(member) or member.__doc__, (name, member_name)


def test_a_crash_says_where_and_a_warning_is_an_error_here_and_in_what_the_tests_start():
    assert faulthandler.is_enabled()
    with pytest.raises(ResourceWarning, match="as a test"):
        warnings.warn("as a test", ResourceWarning, stacklevel=1)

    def ended(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return done.returncode, done.stderr

    code, said = ended("import warnings; warnings.warn('as a test', DeprecationWarning)")
    assert code == 1 and "DeprecationWarning: as a test" in said
    code, said = ended("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert code == -signal.SIGSEGV and "Segmentation fault" in said
