"""For SQLAlchemy: the type of a column of ids."""

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.types import TypeDecorator

from ._exact import exact

__all__ = ["Id"]


class Id(TypeDecorator[int]):
    """A BIGINT that also takes the texts of JSON, and no float; `Integer` would have 32 bits on PostgreSQL."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> int | None:
        return None if value is None else exact(value)
