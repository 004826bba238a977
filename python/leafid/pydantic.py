"""For pydantic and FastAPI: ids are texts in JSON, because JavaScript rounds numbers above 2^53. Both are read."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from ._exact import exact

__all__ = ["Id"]

#: An id, 0 to 2^63 - 1: an int in Python, a text in JSON and in its schema. A float or a truth is refused.
Id: TypeAlias = Annotated[
    int,
    BeforeValidator(exact),
    Field(ge=0, lt=2**63),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,19}$"}),
]
