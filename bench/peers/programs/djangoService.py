"""A catalogue on Django REST Framework and django-filter as their documentation sets them up, over a SQLite file.

The models are made from the declaration of the collections. The last argument is JSON: `collections` as declared,
`directory` of the data set that fills the tables, all or those named in `filled`, and the `database` file. As a program
it creates the database, prints the address that it listens on, and serves. gunicorn imports `application`, which serves
an existing database.

`/api/v3/` is the stock service. `/NAME/api/v3/` has the same records with the switches of NAME:
  validators  "etag" or "lastModified": lists have that header, and 304 answers a condition that holds
  dates       true: records have `lastUpdatedDate`, which lists can be filtered by
  ignores     "filters": only `ordering` has an effect; "all": not even that, and the newest record comes first
  login       "page" or "redirect": an HTML page with status 200, or a redirection, instead of every response
  limitMax    the most records of a page
  slowMs      the time before every response
  gzip        true: responses are compressed
"""
import json
import sys
import time
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import django
from django.apps import AppConfig
from django.conf import settings

START = json.loads(sys.argv[-1])


class Catalogue(AppConfig):
    name = __name__
    label = "catalogue"
    path = str(Path(__file__).parent)


settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": START["database"]}},
    DATA_UPLOAD_MAX_MEMORY_SIZE=None,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.staticfiles", "django_filters", "rest_framework", f"{__name__}.Catalogue"],
    MIDDLEWARE=[f"{__name__}.switched", "django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "PAGE_SIZE": 100,
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="test",
    STATIC_URL="/static/",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    TIME_ZONE="UTC",
    USE_TZ=False,
)
django.setup()

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connection, models, transaction
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from django.urls import get_script_prefix, include, path
from django.utils.http import http_date
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import routers, serializers, viewsets
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import LimitOffsetPagination

SWITCHES = {}
# The time of the last change by collection, for Last-Modified.
CHANGED = {}
SEEDED = datetime(2024, 1, 1)
# Records that are inserted at once.
CHUNK = 2000

NUMBER = ["exact", "in", "gt", "gte", "lt", "lte", "range"]
TEXT = ["exact", "in", "contains", "icontains", "startswith", "regex"]
DATE = ["exact", "gt", "gte", "lt", "lte", "range", "date", "year", "isnull"]
# The column of each scalar type, and the lookups of its filters.
SCALARS = {
    "text": (models.TextField, TEXT),
    "integer": (models.BigIntegerField, NUMBER),
    "float": (models.FloatField, NUMBER),
    "boolean": (models.BooleanField, ["exact"]),
    "date": (models.DateField, DATE),
    "dateTime": (models.DateTimeField, DATE),
}
BACKENDS = {
    None: [DjangoFilterBackend, SearchFilter, OrderingFilter],
    "filters": [OrderingFilter],
    "all": [],
}


class LastModifiedMiddleware(ConditionalGetMiddleware):
    def needs_etag(self, response):
        return False


def switched(get_response):
    with_validators = {
        None: get_response,
        "etag": ConditionalGetMiddleware(get_response),
        "lastModified": LastModifiedMiddleware(get_response),
    }

    def respond(request):
        switches = request.switches = SWITCHES.get(request.META["SCRIPT_NAME"].strip("/"), {})
        if switches.get("login") == "page":
            return HttpResponse("<!doctype html><title>Log in</title><form method=post><input name=username></form>")
        if switches.get("login") == "redirect":
            return HttpResponseRedirect(f"/accounts/login/?next={request.path}")
        time.sleep(switches.get("slowMs", 0) / 1000)
        responder = with_validators[switches.get("validators")]
        return GZipMiddleware(responder)(request) if switches.get("gzip") else responder(request)

    return respond


class EmbeddedField(serializers.JSONField):
    """A JSON value, whose links get the base URL of the request."""

    def to_representation(self, value):
        base = self.context["request"].build_absolute_uri(get_script_prefix())[:-1]
        return json.loads(json.dumps(value).replace("{base_url}", base))


class Serializer(serializers.ModelSerializer):
    def get_fields(self):
        fields = super().get_fields()
        if not self.context["request"].switches.get("dates"):
            del fields["lastUpdatedDate"]
        return fields


class Pagination(LimitOffsetPagination):
    def get_limit(self, request):
        return min(super().get_limit(request), request.switches.get("limitMax", sys.maxsize))


class View(viewsets.ReadOnlyModelViewSet):
    pagination_class = Pagination

    @property
    def filter_backends(self):
        return BACKENDS[self.request.switches.get("ignores")]

    @property
    def filterset_fields(self):
        dates = {"lastUpdatedDate": DATE} if self.request.switches.get("dates") else {}
        return {**self.filters, **dates}

    def get_queryset(self):
        return super().get_queryset().order_by("-pk" if self.request.switches.get("ignores") == "all" else "pk")

    def finalize_response(self, request, response, *args, **kwargs):
        response = super().finalize_response(request, response, *args, **kwargs)
        if request.switches.get("validators") == "lastModified":
            response["Last-Modified"] = http_date(CHANGED[self.basename].timestamp())
        return response


def lines(name):
    with open(Path(START["directory"]) / f"{name}.ndjson", encoding="utf-8") as file:
        yield from map(json.loads, file)


class Collection:
    """A collection with its model, and a model for the links of each array of links: order and repetition stay."""

    def __init__(self, declared):
        self.name = declared["name"]
        self.id_field = declared["idField"]
        fields = {field["name"]: field for field in declared["fields"]}
        # Records of open collections have fields that no declaration has.
        fields = {name: fields.get(name, {"name": name, "kind": "opaque"}) for name in next(lines(self.name))}
        self.filtered = [self.id_field, *declared["filters"]]
        self.columns = {name: field for name, field in fields.items() if field["kind"] != "links"}
        self.fields = list(fields)
        members = {name: self.column(field) for name, field in self.columns.items()}
        members["lastUpdatedDate"] = models.DateTimeField(db_index=True)
        self.model = self.new_model(self.name, members)
        self.links = {
            name: self.new_model(
                f"{self.name}_{name}",
                {
                    "record": models.ForeignKey(self.model, models.CASCADE, related_name=name),
                    "target": self.foreign_key(field["to"], on_delete=models.CASCADE),
                    "Meta": type("Meta", (), {"ordering": ["id"]}),
                },
            )
            for name, field in fields.items()
            if field["kind"] == "links"
        }
        self.link_targets = {name: field["to"] for name, field in fields.items() if "to" in field}
        self.filters = {
            name: SCALARS[field["type"]][1]
            for name, field in self.columns.items()
            if field["kind"] == "scalar" and (name in self.filtered or field["type"] == "dateTime")
        }

    def new_model(self, name, members):
        return type(name, (models.Model,), {"__module__": __name__, **members})

    def column(self, field):
        if field["name"] == self.id_field:
            return models.BigIntegerField(primary_key=True)
        if field["kind"] == "scalar":
            return SCALARS[field["type"]][0](null=True, db_index=field["name"] in self.filtered)
        if field["kind"] == "link":
            return self.foreign_key(field["to"], models.SET_NULL if field["nullable"] else models.PROTECT)
        return models.JSONField(null=True)

    def foreign_key(self, to, on_delete):
        # Without a constraint, because catalogues have links to records that do not exist.
        return models.ForeignKey(f"catalogue.{to}", on_delete, null=True, related_name="+", db_constraint=False)

    def register(self, router):
        links = {name: {"view_name": f"{to}-detail", "read_only": True} for name, to in self.link_targets.items()}
        by_target = {"many": True, "lookup_field": "target_id", "lookup_url_kwarg": "pk"}
        meta = type("Meta", (), {"model": self.model, "fields": [*self.fields, "lastUpdatedDate"]})
        members = {"Meta": meta}
        for name, how in links.items():
            members[name] = serializers.HyperlinkedRelatedField(**how, **(by_target if name in self.links else {}))
        for name, field in self.columns.items():
            if field["kind"] not in ("scalar", "link"):
                members[name] = EmbeddedField()
        view = {
            "queryset": self.model.objects.prefetch_related(*self.links),
            "serializer_class": type(f"{self.name}Serializer", (Serializer,), members),
            "filters": {**self.filters, **self.filters_of_links()},
            "ordering_fields": "__all__",
            "search_fields": ["title"] if "title" in self.columns else [],
        }
        router.register(self.name, type(f"{self.name}View", (View,), view), basename=self.name)

    def filters_of_links(self):
        filters = {}
        for name, to in self.link_targets.items():
            if name in self.columns:
                filters[name] = ["exact", "in", "isnull"]
                dates = [one for one, field in COLLECTIONS[to].columns.items() if field.get("type") == "dateTime"]
                filters |= {f"{name}__{date}": DATE for date in dates}
        return filters

    def save(self, records, dates):
        """Creates records, or replaces those with their ids."""
        rows, links = [], {name: [] for name in self.links}
        for record, date in zip(records, dates):
            values = {"lastUpdatedDate": date}
            for name, field in self.columns.items():
                values[f"{name}_id" if field["kind"] == "link" else name] = self.value(field, record[name])
            row = self.model(**values)
            rows.append(row)
            for name, model in self.links.items():
                links[name] += [model(record=row, target_id=id_in(link)) for link in record[name]]
        ids = [row.pk for row in rows]
        for name, model in self.links.items():
            model.objects.filter(record__in=ids).delete()
        # Raw, so that links to these records stay.
        self.model.objects.filter(pk__in=ids)._raw_delete("default")
        self.model.objects.bulk_create(rows)
        for name, model in self.links.items():
            model.objects.bulk_create(links[name])
        CHANGED[self.name] = max(dates)

    def value(self, field, value):
        if field["kind"] == "link":
            return value and id_in(value)
        # A column of SQLite has 64 bits.
        return min(value, 2**63 - 1) if field.get("type") == "integer" else value

    def delete(self, ids, date):
        self.model.objects.filter(pk__in=ids).delete()
        CHANGED[self.name] = date


def id_in(link):
    return int(link.split("/")[-2])


def set_switches(request):
    SWITCHES.update(json.loads(request.body))
    return JsonResponse({})


def change(request):
    """Takes JSON: `saved` has records, `deleted` ids, each by collection. All of them change at the time `at`."""
    body = json.loads(request.body)
    at = datetime.fromisoformat(body["at"])
    with transaction.atomic():
        for name, records in body.get("saved", {}).items():
            COLLECTIONS[name].save(records, [at] * len(records))
        for name, ids in body.get("deleted", {}).items():
            COLLECTIONS[name].delete(ids, at)
    return JsonResponse({})


COLLECTIONS = {declared["name"]: Collection(declared) for declared in START["collections"]}
router = routers.DefaultRouter()
for collection in COLLECTIONS.values():
    collection.register(router)
urlpatterns = [path("api/v3/", include(router.urls)), path("switches/", set_switches), path("changes/", change)]
service = get_wsgi_application()


def application(environ, start_response):
    """Takes the name of the switches out of the path. Links contain it, because Django counts it as its mount point."""
    name, api, rest = environ["PATH_INFO"].partition("/api/")
    if api:
        environ |= {"SCRIPT_NAME": name, "PATH_INFO": api + rest}
    return service(environ, start_response)


def create_database():
    with connection.schema_editor() as editor:
        for collection in COLLECTIONS.values():
            for model in [collection.model, *collection.links.values()]:
                editor.create_model(model)
    with transaction.atomic():
        for collection in map(COLLECTIONS.get, START.get("filled", COLLECTIONS)):
            records, first = lines(collection.name), 0
            while chunk := list(islice(records, CHUNK)):
                collection.save(chunk, [SEEDED + timedelta(minutes=first + index) for index in range(len(chunk))])
                first += len(chunk)


if __name__ == "__main__":
    create_database()
    server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
    server.set_app(application)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
