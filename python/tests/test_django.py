"""An id as the default of a field of Django's: what a migration can write down, and what comes of it."""

import django
import pytest
from django.conf import settings
from django.db import connection, models
from django.db.migrations.writer import MigrationWriter

import leafid

FLAKE = None


def order_id():
    """As docs/DEPLOYING.md has it: a function of a module, which a migration names."""
    return FLAKE.next()


@pytest.fixture
def flake(space):
    global FLAKE
    with leafid.Snowflake(7, **space) as FLAKE:
        yield FLAKE


@pytest.fixture(scope="module")
def order():
    databases = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    settings.configure(DATABASES=databases, USE_TZ=True)
    django.setup()

    class Order(models.Model):
        id = models.BigIntegerField(primary_key=True, default=order_id, editable=False)

        class Meta:
            app_label = "shop"

    with connection.schema_editor() as schema:
        schema.create_model(Order)
    yield Order
    connection.close()


def test_a_function_of_a_module_is_a_default_that_migrations_can_write(flake, order):
    field = order._meta.get_field("id")
    text, imports = MigrationWriter.serialize(field.default)
    assert text == f"{__name__}.order_id" and imports == {f"import {__name__}"}
    ids = [order.objects.create().id for _ in range(3)]
    assert ids == sorted(set(ids))
    assert {leafid.decode(id).worker_id for id in ids} == {7}
    # What docs/DEPLOYING.md warns of.
    with pytest.raises(ValueError, match="Cannot serialize function"):
        MigrationWriter.serialize(flake.next)
