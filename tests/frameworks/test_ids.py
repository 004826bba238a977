"""What docs/JAVASCRIPT.md says of the frameworks of Python, and its recipes."""

import unittest

import django
from django.conf import settings

import drf_ids

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["rest_framework"],
)
django.setup()

import sqlalchemy
from django.db import connection, models
from django.http import JsonResponse
from django.test.utils import override_settings
from fastapi import FastAPI
from fastapi.testclient import TestClient
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

import fastapi_ids
import sqlalchemy_ids

ID = 2061234567890123457
IDS = [0, 9007199254740993, ID, 2**63 - 1]


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)

    class Meta:
        app_label = "shop"


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id"]


def rendered(order: Order) -> str:
    return JSONRenderer().render(OrderSerializer(order).data).decode()


class Frameworks(unittest.TestCase):
    def test_fastapi_writes_digits_without_quotes(self):
        app = FastAPI()
        app.get("/")(lambda: {"id": ID})
        self.assertEqual(TestClient(app).get("/").text, f'{{"id":{ID}}}')

    def test_recipe_of_fastapi(self):
        client = TestClient(fastapi_ids.app)
        for value in IDS:
            for sent in (value, str(value)):
                answer = client.post("/orders", json={"id": sent})
                self.assertEqual(answer.text, f'{{"id":"{value}"}}')
            self.assertEqual(fastapi_ids.Order(id=value).model_dump(), {"id": value})
        for wrong in (-1, 2**63, "x", 1.5):
            self.assertEqual(client.post("/orders", json={"id": wrong}).status_code, 422)

    def test_django_writes_digits_without_quotes(self):
        self.assertEqual(JsonResponse({"id": ID}).content.decode(), f'{{"id": {ID}}}')

    def test_django_stores_ids(self):
        with connection.schema_editor() as editor:
            editor.create_model(Order)
        for value in IDS:
            Order.objects.create(id=value)
            self.assertEqual(Order.objects.get(id=str(value)).id, value)

    def test_rest_framework_writes_digits_without_quotes(self):
        self.assertEqual(rendered(Order(id=ID)), f'{{"id":{ID}}}')

    @override_settings(REST_FRAMEWORK=drf_ids.REST_FRAMEWORK)
    def test_recipe_of_rest_framework(self):
        for value in IDS:
            self.assertEqual(rendered(Order(id=value)), f'{{"id":"{value}"}}')
            for sent in (value, str(value)):
                self.assertEqual(serializers.BigIntegerField().run_validation(sent), value)

    def test_recipe_of_sqlalchemy(self):
        engine = sqlalchemy.create_engine("sqlite://")
        columns = sqlalchemy.Column("id", sqlalchemy_ids.Id, primary_key=True, autoincrement=False)
        orders = sqlalchemy.Table("orders", sqlalchemy.MetaData(), columns)
        orders.create(engine)
        with engine.begin() as database:
            for value in IDS:
                database.execute(orders.insert().values(id=str(value)))
                for asked in (value, str(value)):
                    self.assertEqual(database.scalar(sqlalchemy.select(orders).where(orders.c.id == asked)), value)


if __name__ == "__main__":
    unittest.main()
