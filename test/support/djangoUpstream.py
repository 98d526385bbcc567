"""A catalogue on Django REST Framework over SQLite, as such services are built: six collections with hyperlinked
relations, limit and offset, filled from a data set directory. Arguments: that directory, the database file, and
`ordered` where `ordering=` is to be heeded. Prints where it listens."""
import json
import os
import sys

import django
from django.conf import settings

DIRECTORY, DATABASE, ORDER = sys.argv[1:4]
settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATABASE}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=["django.middleware.gzip.GZipMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_FILTER_BACKENDS": ["rest_framework.filters.OrderingFilter"] if ORDER == "ordered" else [],
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "PAGE_SIZE": 100,
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="test",
)
django.setup()

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.urls import include, path
from rest_framework import routers, serializers, viewsets

# The columns of each collection: texts, integers, and links by the collection that they lead to.
COLLECTIONS = {
    "times": {"startTime": str, "endTime": str},
    "instruments": dict.fromkeys("uuid short_code title abstract keywords instrumentType".split(), str),
    "platforms": dict.fromkeys("uuid short_code title abstract keywords platformType".split(), str),
    "parties": {"firstName": str, "lastName": str, "partyType": str},
    "ipps": {"platform": "platforms", "instrument": "instruments", "relatedTo": dict},
    "rpis": {"priority": int, "role": str, "party": "parties", "relatedTo": dict},
}


def field_of(kind):
    if kind is str:
        return models.TextField(null=True)
    if kind is int:
        return models.IntegerField(null=True)
    if kind is dict:
        return models.JSONField(null=True)
    return models.ForeignKey(MODELS[kind], models.CASCADE, null=True)


MODELS = {}
router = routers.DefaultRouter()
for name, columns in COLLECTIONS.items():
    body = {column: field_of(kind) for column, kind in columns.items()}
    body |= {"__module__": __name__, "Meta": type("Meta", (), {"app_label": "catalogue"})}
    MODELS[name] = type(name, (models.Model,), {"ob_id": models.IntegerField(primary_key=True), **body})
    meta = type("Meta", (), {"model": MODELS[name], "fields": ["ob_id", *columns]})
    links = {
        column: serializers.HyperlinkedRelatedField(view_name=f"{kind}-detail", read_only=True)
        for column, kind in columns.items()
        if isinstance(kind, str)
    }
    serializer = type(f"{name}Serializer", (serializers.ModelSerializer,), {"Meta": meta, **links})
    members = {"queryset": MODELS[name].objects.order_by("-ob_id"), "serializer_class": serializer}
    view = type(f"{name}View", (viewsets.ReadOnlyModelViewSet,), {**members, "ordering_fields": "__all__"})
    router.register(name, view, basename=name)
urlpatterns = [path("api/v3/", include(router.urls))]

with connection.schema_editor() as editor:
    for model in MODELS.values():
        editor.create_model(model)
for name, columns in COLLECTIONS.items():
    records = []
    with open(os.path.join(DIRECTORY, f"{name}.ndjson"), encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            values = {"ob_id": record["ob_id"]}
            for column, kind in columns.items():
                is_link = isinstance(kind, str)
                values[f"{column}_id" if is_link else column] = (
                    int(record[column].split("/")[-2]) if is_link else record[column]
                )
            records.append(MODELS[name](**values))
    MODELS[name].objects.bulk_create(records, batch_size=50)

server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
server.set_app(get_wsgi_application())
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
