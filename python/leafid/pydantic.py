"""For pydantic and FastAPI: ids are texts in JSON, because JavaScript rounds numbers above 2^53. Both are read."""

from typing import Annotated, TypeAlias

from pydantic import Field, PlainSerializer

__all__ = ["Id"]

#: An id, 0 to 2^63 - 1: an int in Python, a text in JSON.
Id: TypeAlias = Annotated[int, Field(ge=0, lt=2**63), PlainSerializer(str, return_type=str, when_used="json")]
