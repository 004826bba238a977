"""For pydantic and FastAPI: ids are texts in JSON, because JavaScript rounds numbers above 2^53. Both are read."""

from typing import Annotated, SupportsIndex, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

__all__ = ["Id"]


def _exact(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return value.__index__()
    raise ValueError(f"an id is an integer, or its decimal digits as text: not this {type(value).__name__}")


#: An id, 0 to 2^63 - 1: an int in Python, a text in JSON and in its schema. A float or a truth is refused.
Id: TypeAlias = Annotated[
    int,
    BeforeValidator(_exact),
    Field(ge=0, lt=2**63),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,19}$"}),
]
