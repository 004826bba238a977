"""Makes a source or leases of the package, as takers.Recipe describes it."""

import importlib
import importlib.util
import json
import pathlib


def made(described):
    recipe = json.loads(described)
    name, url, options = recipe["module"], recipe["url"], recipe["options"]
    module = changed(f"leafid.{name}", recipe["changes"])
    make = module.leases if name.startswith("leases.") else module.source
    if recipe["own"]:
        url = engine(url, recipe["own"])
    return make(url, **options) if url else make(**options)


def engine(url, pool):
    import sqlalchemy.pool

    for ours, theirs in (("postgres:", "postgresql+psycopg:"), ("mysql:", "mysql+pymysql:"), ("/", "sqlite:////")):
        if url.startswith(ours):
            url = theirs + url.removeprefix(ours)
    return sqlalchemy.create_engine(url, poolclass=getattr(sqlalchemy.pool, pool))


def changed(name, changes):
    """The module, with these texts of it replaced."""
    if not changes:
        return importlib.import_module(name)
    spec = importlib.util.find_spec(name)
    code = pathlib.Path(spec.origin).read_text()
    for old, new in changes:
        assert old in code, f"{name} has no {old}"
        code = code.replace(old, new)
    module = importlib.util.module_from_spec(spec)
    exec(compile(code, spec.origin, "exec"), module.__dict__)
    return module
