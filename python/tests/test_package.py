"""What is installed: the wheel, of the project's one version."""

import importlib.metadata
import json
import pathlib
import sysconfig
import tomllib

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
    assert {file.name for file in importlib.metadata.files("leafid")} >= {"LICENSE-MIT", "LICENSE-APACHE"}


def test_all_is_what_there_is():
    public = {name for name, value in vars(leafid).items() if not name.startswith("_")}
    assert public | {"__version__"} == set(leafid.__all__)


def test_everything_public_is_documented():
    for name in leafid.__all__:
        value = getattr(leafid, name)
        if not isinstance(value, str):
            assert value.__doc__, name
    for name, member in vars(leafid.Snowflake).items():
        assert name.startswith("_") or member.__doc__, name
