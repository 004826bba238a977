"""What docs/JAVASCRIPT.md says of the frameworks of Python, and its recipes."""

import asyncio
import contextlib
import io
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest
import unittest.mock

os.environ |= {"LEAFID_WORKER": "7", "LEAFID_STATE_DIR": tempfile.mkdtemp(prefix="leafid-frameworks-")}

import django
from django.conf import settings

import drf_settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["rest_framework"],
    LEAFID={"name": "frameworks"},
)
django.setup()

import alembic.command
import alembic.config
import leafid
import leafid.django
import msgpack
import peewee
import sqlalchemy
import sqlmodel
import tortoise
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.migrations.writer import MigrationWriter
from django.http import JsonResponse
from django.test.utils import override_settings
from fastapi import FastAPI
from fastapi.testclient import TestClient
from leafid.testing import FakeSnowflake
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

import django_default
import django_ids
import drf_ids
import fastapi_ids
import peewee_ids
import sqlalchemy_ids
import sqlmodel_ids
import strawberry_ids
import tortoise_ids

ID = 2061234567890123457
IDS = [0, 9007199254740993, ID, 2**63 - 1]


class Plain(models.Model):
    id = models.BigIntegerField(primary_key=True)

    class Meta:
        app_label = "shop"


class PlainSerializer(serializers.ModelSerializer):
    class Meta:
        model = Plain
        fields = ["id"]


def rendered(serializer: serializers.ModelSerializer) -> str:
    return JSONRenderer().render(serializer.data).decode()


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
        for wrong in (-1, 2**63, "x", "", "+5", "5.0", " 5", 1.5, 5.0, True, None, [5]):
            self.assertEqual(client.post("/orders", json={"id": wrong}).status_code, 422, wrong)
        described = client.get("/openapi.json").json()
        schemas = [schema for name, schema in described["components"]["schemas"].items() if name.startswith("Order")]
        self.assertTrue(schemas)
        for schema in schemas:
            self.assertEqual(schema["properties"]["id"]["type"], "string")

    def test_django_writes_digits_without_quotes(self):
        self.assertEqual(JsonResponse({"id": ID}).content.decode(), f'{{"id": {ID}}}')

    def test_rest_framework_writes_digits_without_quotes(self):
        self.assertEqual(rendered(PlainSerializer(Plain(id=ID))), f'{{"id":{ID}}}')

    @override_settings(REST_FRAMEWORK=drf_settings.REST_FRAMEWORK)
    def test_setting_of_rest_framework(self):
        for value in IDS:
            self.assertEqual(rendered(PlainSerializer(Plain(id=value))), f'{{"id":"{value}"}}')
            for sent in (value, str(value)):
                self.assertEqual(serializers.BigIntegerField().run_validation(sent), value)

    def test_recipe_of_sqlalchemy(self):
        engine = sqlalchemy.create_engine("sqlite://")
        sqlalchemy_ids.Base.metadata.create_all(engine)
        order = sqlalchemy_ids.Order
        with sqlalchemy.orm.Session(engine) as session:
            made = order(item="tea")
            session.add(made)
            session.commit()
            self.assertEqual(leafid.decode(made.id).worker_id, 7)
            for value in IDS:
                session.add(order(id=str(value), item="tea"))
                session.commit()
                for asked in (value, str(value)):
                    found = session.scalar(sqlalchemy.select(order.id).where(order.id == asked))
                    self.assertEqual(found, value)
            for wrong in ("x", 5.0, True, "5_0"):
                with self.assertRaises(sqlalchemy.exc.StatementError):
                    session.scalar(sqlalchemy.select(order.id).where(order.id == wrong))

    def test_alembic_writes_a_migration_that_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            config = alembic.config.Config(f"{folder}/alembic.ini", stdout=io.StringIO())
            alembic.command.init(config, f"{folder}/alembic")
            config.set_main_option("script_location", f"{folder}/alembic")
            config.set_main_option("sqlalchemy.url", f"sqlite:///{folder}/shop.db")
            template = pathlib.Path(folder, "alembic/script.py.mako")
            imports = "import sqlalchemy as sa\n"
            template.write_text(template.read_text().replace(imports, f"{imports}import leafid.sqlalchemy\n"))
            env = pathlib.Path(folder, "alembic/env.py")
            metadata = "import sqlalchemy_ids; target_metadata = sqlalchemy_ids.Base.metadata"
            env.write_text(env.read_text().replace("target_metadata = None", metadata))
            alembic.command.revision(config, "first", autogenerate=True)
            alembic.command.upgrade(config, "head")
            with contextlib.closing(sqlite3.connect(f"{folder}/shop.db")) as db:
                columns = dict(db.execute("SELECT name, type FROM pragma_table_info('orders')").fetchall())
        self.assertEqual(columns["id"], "BIGINT")

    def test_recipe_of_sqlmodel(self):
        engine = sqlmodel.create_engine("sqlite://")
        sqlmodel.SQLModel.metadata.create_all(engine)
        order = sqlmodel_ids.Order
        with sqlmodel.Session(engine) as session:
            made = order(item="tea")
            session.add(made)
            session.commit()
            session.refresh(made)
            self.assertEqual(leafid.decode(made.id).worker_id, 7)
            self.assertEqual(json.loads(made.model_dump_json())["id"], str(made.id))
            found = session.exec(sqlmodel.select(order).where(order.id == str(made.id))).one()
            self.assertEqual(found.item, "tea")
        self.assertEqual(order.model_json_schema()["properties"]["id"]["type"], "string")

    def test_recipe_of_peewee(self):
        order = peewee_ids.Order
        with peewee.SqliteDatabase(":memory:").bind_ctx([order]):
            order.create_table()
            made = order.create(item="tea")
            self.assertEqual(leafid.decode(made.id).worker_id, 7)
            self.assertEqual(order.get_by_id(str(made.id)).item, "tea")
            self.assertEqual((order(item="milk").save(), order.select().count()), (0, 1))
            self.assertEqual((order(item="milk").save(force_insert=True), order.select().count()), (1, 2))

    def test_recipe_of_tortoise(self):
        async def taken():
            await tortoise.Tortoise.init(db_url="sqlite://:memory:", modules={"models": ["tortoise_ids"]})
            await tortoise.Tortoise.generate_schemas()
            made = await tortoise_ids.Order.create(item="tea")
            found = await tortoise_ids.Order.get(id=made.id)
            await tortoise.Tortoise.close_connections()
            return found

        found = asyncio.run(taken())
        self.assertEqual((leafid.decode(found.id).worker_id, found.item), (7, "tea"))


    def test_msgpack_keeps_ids(self):
        for value in IDS:
            self.assertEqual(msgpack.unpackb(msgpack.packb(value)), value)
        # What ids.test.mjs unpacks.
        self.assertEqual(msgpack.packb(ID), b"\xcf" + ID.to_bytes(8))

    def test_recipe_of_strawberry(self):
        for value in IDS:
            for literal in (f'"{value}"', str(value)):
                answer = strawberry_ids.schema.execute_sync(f"{{ order(id: {literal}) {{ id }} }}")
                self.assertEqual((answer.errors, answer.data), (None, {"order": {"id": str(value)}}))


class Basket(models.Model):
    id = leafid.django.IdField(primary_key=True)
    orders = models.ManyToManyField(django_ids.Order)

    class Meta:
        app_label = "shop"


class BasketSerializer(leafid.drf.ModelSerializer):
    class Meta:
        model = Basket
        fields = ["id", "orders"]


class DjangoModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with connection.schema_editor() as editor:
            for model in (django_ids.Order, django_ids.Line):
                editor.create_model(model)

    def test_ids_come_from_the_generator_of_the_settings(self):
        orders = [django_ids.Order.objects.create(item="tea") for _ in range(3)]
        ids = [order.id for order in orders]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertEqual({leafid.decode(id).worker_id for id in ids}, {7})
        self.assertEqual(leafid.django.snowflake().stats().name, "frameworks")
        line = django_ids.Line.objects.create(order=orders[0])
        self.assertEqual(django_ids.Line.objects.get(order_id=str(ids[0])).id, line.id)

    def test_a_float_is_no_id(self):
        for wrong in (5.0, 2.0**62, True):
            with self.assertRaises(ValueError):
                django_ids.Order.objects.create(id=wrong, item="tea")
            with self.assertRaises(ValueError):
                django_ids.Order.objects.filter(id=wrong).exists()

    def test_given_ids_are_stored(self):
        for value in IDS:
            django_ids.Order.objects.create(id=str(value), item="tea")
            self.assertEqual(django_ids.Order.objects.get(id=value).item, "tea")

    def test_a_migration_can_write_it(self):
        field = django_ids.Order._meta.get_field("id")
        text, imports = MigrationWriter.serialize(field)
        self.assertIn("default=leafid.django.next_id", text)
        self.assertIn("import leafid.django", imports)
        again = eval(text, {"leafid": leafid})
        self.assertIs(again.default, leafid.django.next_id)
        self.assertEqual(again.db_type(connection), "bigint")

    def test_default_auto_field(self):
        with override_settings(DEFAULT_AUTO_FIELD=django_default.DEFAULT_AUTO_FIELD):

            class Note(models.Model):
                class Meta:
                    app_label = "shop"

        class NoteSerializer(leafid.drf.ModelSerializer):
            class Meta:
                model = Note
                fields = ["id"]

        with connection.schema_editor() as editor:
            editor.create_model(Note)
        made = Note.objects.create()
        self.assertEqual((Note.check(), leafid.decode(made.id).worker_id), ([], 7))
        # Where the database has no RETURNING, Django would take its last counted id, which is 0, for that of the row.
        self.assertEqual(Note._meta.db_returning_fields, [])
        self.assertEqual(Note.objects.get(id=str(made.id)), made)
        self.assertRaises(ValueError, Note.objects.create, id=5.0)
        self.assertEqual(rendered(NoteSerializer(Note(id=ID))), f'{{"id":"{ID}"}}')

    def test_no_negative_id_and_none_in_forms(self):
        order = django_ids.Order(id=-1, item="tea")
        self.assertRaises(ValidationError, order.full_clean)
        self.assertIs(leafid.django.IdField(default=None).default, None)
        self.assertFalse(django_ids.Order._meta.get_field("id").editable)

    def test_recipe_of_rest_framework(self):
        for value in IDS:
            order = django_ids.Order(id=value, item="tea")
            self.assertEqual(rendered(drf_ids.OrderSerializer(order)), f'{{"id":"{value}","item":"tea"}}')
            line = django_ids.Line(id=value, order_id=value)
            self.assertEqual(rendered(drf_ids.LineSerializer(line)), f'{{"id":"{value}","order":"{value}"}}')
            for sent in (value, str(value)):
                self.assertEqual(leafid.drf.IdField().run_validation(sent), value)
        for wrong in (-1, 2**63, "x", None, 1.5, 5.0, True):
            with self.assertRaises(serializers.ValidationError):
                leafid.drf.IdField().run_validation(wrong)
        order = django_ids.Order.objects.create(item="tea")
        for sent in (order.id, str(order.id)):
            taken = drf_ids.LineSerializer(data={"order": sent})
            self.assertTrue(taken.is_valid(), taken.errors)
            self.assertEqual(taken.save().order_id, order.id)
            many = BasketSerializer().fields["orders"]
            self.assertEqual(many.run_validation([sent]), [order])
            self.assertEqual(many.to_representation([order]), [str(order.id)])

    def test_a_fake_generator_in_tests(self):
        fake = FakeSnowflake(clock=1_767_225_600_000)
        with unittest.mock.patch("leafid.django.snowflake", lambda: fake):
            order = django_ids.Order.objects.create(item="tea")
        self.assertEqual(order.id, leafid.compose(1_767_225_600_000, 0, 0))


if __name__ == "__main__":
    unittest.main()
