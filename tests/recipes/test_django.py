"""A project of Django whose models move from BigAutoField by DEFAULT_AUTO_FIELD of docs/JAVASCRIPT.md."""

import json
import os
import subprocess
import sys

import leafid
import pytest
from databases import KINDS, Missing
from takers import PATIENCE, PROJECT


MODELS = """
from django.db import models


class Order(models.Model):
    item = models.CharField(max_length=100)


class Line(models.Model):
    order = models.ForeignKey(Order, models.CASCADE)


class Basket(models.Model):
    orders = models.ManyToManyField(Order)
"""
BEFORE = """
import pymysql

pymysql.install_as_MySQLdb()
INSTALLED_APPS = ["shop"]
DATABASES = {"default": %r}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
AFTER = "from before import *\nfrom django_default import DEFAULT_AUTO_FIELD\n"
# What a deployment does, and then the program.
RUN = """
import importlib
import json

import django
from django.core.management import call_command

django.setup()
call_command("check", fail_level="WARNING")
call_command("makemigrations", "shop", verbosity=0)
importlib.invalidate_caches()
call_command("migrate", verbosity=0)
call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)

from shop.models import Basket, Line, Order

made = [Order.objects.create(item="tea"), *Order.objects.bulk_create([Order(item="tea")])]
line, basket = Line.objects.create(order=made[0]), Basket.objects.create()
basket.orders.set(Order.objects.all())
print(json.dumps({
    "made": [row.id for row in (*made, line, basket)],
    "orders": list(Order.objects.order_by("id").values_list("id", flat=True)),
    "lines": list(Line.objects.order_by("id").values_list("order_id", flat=True)),
    "between": list(Basket.orders.through.objects.order_by("id").values_list("id", flat=True)),
}))
"""
# As Django made the column before 4.1.
SERIAL = """
ALTER TABLE shop_order ALTER id DROP IDENTITY;
CREATE SEQUENCE shop_order_id_seq START 100 OWNED BY shop_order.id;
ALTER TABLE shop_order ALTER id SET DEFAULT nextval('shop_order_id_seq')
"""


@pytest.fixture(params=[*KINDS, "serial"])
def database(request):
    try:
        database = KINDS["postgresql" if request.param == "serial" else request.param]()
    except Missing as missing:
        pytest.skip(str(missing))
    yield database, request.param == "serial"
    database.remove()


def settings(database):
    if database.name == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": database.url}
    engine, user = {"mariadb": ("mysql", "root"), "postgresql": ("postgresql", "leaf")}[database.name]
    server = {"HOST": "127.0.0.1", "PORT": database.port, "USER": user, "NAME": "leaf"}
    return {"ENGINE": f"django.db.backends.{engine}", **server}


def test_a_model_moves_from_big_auto_field(database, tmp_path):
    database, is_serial = database
    package = tmp_path / "shop"
    package.mkdir()
    files = {"shop/__init__.py": "", "shop/models.py": MODELS, "before.py": BEFORE % settings(database), "after.py": AFTER}
    for name, text in {**files, "run.py": RUN}.items():
        (tmp_path / name).write_text(text)

    def run(settings):
        ours = {"DJANGO_SETTINGS_MODULE": settings, "PYTHONPATH": f"{tmp_path}:{PROJECT}"}
        ours |= {"LEAFID_WORKER": "7", "LEAFID_STATE_DIR": str(tmp_path / "state")}
        done = subprocess.run(
            [sys.executable, tmp_path / "run.py"], env={**os.environ, **ours}, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    without_id = "INSERT INTO shop_order (item) VALUES ('tea')"
    old = run("before")
    assert old["made"] == [1, 2, 1, 1]
    if is_serial:
        database.sql(SERIAL)
    database.sql(without_id)

    new = run("after")
    [migration] = package.glob("migrations/0002*.py")
    assert migration.read_text().count("AlterField") == migration.read_text().count("leafid.django.IdAutoField") == 3
    assert {leafid.decode(id).worker_id for id in new["made"]} == {7}
    assert new["orders"] == [1, 2, 100 if is_serial else 3, *new["made"][:2]]
    assert new["lines"] == [1, new["made"][0]]
    # The tables between keep what they had, and take ids.
    assert new["between"][:2] == old["between"] and leafid.decode(new["between"][-1]).worker_id == 7
    with pytest.raises(Exception, match="(?i)null|default value"):
        database.sql(without_id)
