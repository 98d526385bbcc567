"""A catalogue on Django REST Framework and django-filter as their documentation sets them up: three collections over
SQLite in memory, a list of fields to filter by, search, ordering, limit and offset, the browsable API. Argument: a data
set directory. Prints where it listens."""
import json
import os
import sys

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:service?mode=memory&cache=shared"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.staticfiles", "django_filters", "rest_framework"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_FILTER_BACKENDS": [
            "django_filters.rest_framework.DjangoFilterBackend",
            "rest_framework.filters.SearchFilter",
            "rest_framework.filters.OrderingFilter",
        ],
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
        "PAGE_SIZE": 100,
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="test",
    STATIC_URL="/static/",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    USE_TZ=False,
)
django.setup()

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.urls import include, path
from rest_framework import routers, serializers, viewsets


class Time(models.Model):
    ob_id = models.IntegerField(primary_key=True)
    startTime = models.DateTimeField()
    endTime = models.DateTimeField(null=True)

    class Meta:
        app_label = "catalogue"


class Platform(models.Model):
    ob_id = models.IntegerField(primary_key=True)
    title = models.TextField()
    platformType = models.TextField()

    class Meta:
        app_label = "catalogue"


class Observation(models.Model):
    ob_id = models.IntegerField(primary_key=True)
    title = models.TextField()
    status = models.TextField()
    nonGeographicFlag = models.BooleanField()
    timePeriod = models.ForeignKey(Time, models.CASCADE, db_constraint=False)

    class Meta:
        app_label = "catalogue"


TEXT = ["exact", "in", "contains", "icontains", "startswith", "regex"]
NUMBER = ["exact", "in", "gt", "gte", "lt", "lte", "range"]
DATE = ["exact", "gt", "gte", "lt", "lte", "range", "date", "year", "isnull"]
FILTERS = {
    "times": (Time, {"ob_id": NUMBER, "startTime": DATE, "endTime": DATE}),
    "platforms": (Platform, {"ob_id": NUMBER, "title": TEXT, "platformType": TEXT}),
    "observations": (
        Observation,
        {
            **{"ob_id": NUMBER, "title": TEXT, "status": TEXT, "nonGeographicFlag": ["exact"]},
            **{"timePeriod": ["exact", "in", "isnull"], "timePeriod__startTime": DATE},
        },
    ),
}
router = routers.DefaultRouter()
for name, (model, fields) in FILTERS.items():
    meta = type("Meta", (), {"model": model, "fields": "__all__"})
    links = (
        {"timePeriod": serializers.HyperlinkedRelatedField(view_name="times-detail", read_only=True)}
        if model is Observation
        else {}
    )
    serializer = type(f"{name}Serializer", (serializers.ModelSerializer,), {"Meta": meta, **links})
    members = {"queryset": model.objects.order_by("ob_id"), "serializer_class": serializer}
    filters = {"filterset_fields": fields, "search_fields": ["title"] if model is not Time else ["startTime"]}
    router.register(name, type(f"{name}View", (viewsets.ReadOnlyModelViewSet,), {**members, **filters}), basename=name)
urlpatterns = [path("api/v3/", include(router.urls))]

with connection.schema_editor() as editor:
    for model, _ in FILTERS.values():
        editor.create_model(model)
for name, (model, _) in FILTERS.items():
    with open(os.path.join(sys.argv[1], f"{name}.ndjson"), encoding="utf-8") as lines:
        records = []
        for record in map(json.loads, lines):
            columns = {field.attname: record[field.name] for field in model._meta.fields}
            if "timePeriod_id" in columns:
                columns["timePeriod_id"] = int(columns["timePeriod_id"].split("/")[-2])
            records.append(model(**columns))
        model.objects.bulk_create(records, batch_size=50)

server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
server.set_app(get_wsgi_application())
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
