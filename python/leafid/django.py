"""For Django: a field of models that leafid fills.

    class Order(models.Model):
        id = leafid.django.IdField(primary_key=True)

or, in the settings, for each model that names no primary key:

    DEFAULT_AUTO_FIELD = "leafid.django.IdAutoField"

The generator is `leafid.Snowflake(**settings.LEAFID)`; without that setting, `leafid.Snowflake()`.
"""

import functools
from typing import Any

import django.conf
from django.core.validators import MinValueValidator
from django.db import models

import leafid

from ._exact import exact

__all__ = ["IdAutoField", "IdField", "next_id", "snowflake"]


@functools.cache
def snowflake() -> leafid.Snowflake:
    """The generator of this project, opened at the first call."""
    return leafid.Snowflake(**getattr(django.conf.settings, "LEAFID", {}))


def next_id() -> int:
    """The next id of snowflake(). Migrations name this function as the default of a field."""
    return snowflake().next()


class IdField(models.BigIntegerField):
    """A BIGINT whose default is next_id, and which no form shows. An id as text is taken, too, and no float."""

    default_validators = [MinValueValidator(0)]

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("default", next_id)
        options.setdefault("editable", False)
        super().__init__(*args, **options)

    def get_prep_value(self, value: Any) -> Any:
        """The value for the database."""
        is_id = value is not None and not hasattr(value, "resolve_expression")
        return super().get_prep_value(exact(value) if is_id else value)


class IdAutoField(IdField, models.BigAutoField):
    """An IdField for DEFAULT_AUTO_FIELD, where Django takes nothing but an AutoField. The database chooses no id."""

    # The id is known before the INSERT: MySQL would answer 0.
    db_returning = False

    def get_internal_type(self) -> str:
        """The column: a plain BIGINT. BigAutoField's would have a counter."""
        return "BigIntegerField"
