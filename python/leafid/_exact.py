"""An id as a framework is given it: exact, or an error."""

from typing import SupportsIndex


def exact(value: object) -> int:
    """The id of an integer, or of a text of decimal digits. Raises ValueError for a float, which may be rounded, or a truth."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return value.__index__()
    raise ValueError(f"an id is an integer, or its decimal digits as text: not this {type(value).__name__}")
