"""For Django REST framework: ids are texts in JSON, because JavaScript rounds numbers above 2^53. Both are read."""

from typing import Any

from rest_framework import serializers

import leafid.django

from ._exact import exact

__all__ = ["IdField", "ModelSerializer"]


class IdField(serializers.IntegerField):
    """An id, 0 to 2^63 - 1: an int in Python, a text in JSON."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 0, "max_value": 2**63 - 1, **options})

    def to_internal_value(self, data: Any) -> int:
        try:
            return exact(data)
        except ValueError:
            self.fail("invalid")
            raise

    def to_representation(self, value: int) -> str:
        return str(int(value))


class ModelSerializer(serializers.ModelSerializer):
    """REST framework's own, with IdField for each leafid.django.IdField and for the keys that refer to one."""

    serializer_field_mapping = {**serializers.ModelSerializer.serializer_field_mapping, leafid.django.IdField: IdField}

    def build_relational_field(self, field_name: str, relation_info: Any) -> tuple[type, dict[str, Any]]:
        field, options = super().build_relational_field(field_name, relation_info)
        key = relation_info.related_model._meta.pk
        if isinstance(key, leafid.django.IdField) and issubclass(field, serializers.PrimaryKeyRelatedField):
            options["pk_field"] = IdField()
        return field, options
