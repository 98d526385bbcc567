"""The client that Python's zeep makes from the WSDL.

Arguments: endpoint, WSDL, file of cases. What it prints is read by test/soapClients/clients.ts.
"""
import sys
import zeep
from zeep.helpers import serialize_object
from zeep.transports import Transport

ENCODING = "http://schemas.xmlsoap.org/soap/encoding/"
# The part of the schema that arrays need; zeep would fetch the schema from that address.
ENCODING_SCHEMA = f"""<schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:e="{ENCODING}" targetNamespace="{ENCODING}">
<attribute name="arrayType" type="string"/>
<complexType name="Array">
<sequence><any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></sequence>
<attribute ref="e:arrayType"/>
<anyAttribute namespace="##other" processContents="lax"/>
</complexType>
</schema>""".encode()


class Offline(Transport):
    def load(self, url):
        return ENCODING_SCHEMA if url == ENCODING else super().load(url)


_, endpoint, wsdl, cases = sys.argv
client = zeep.Client(wsdl, transport=Offline())
service = client.create_service("{urn:attAuthority}attAuthorityBinding", endpoint)
out = sys.stdout.buffer


def text(kind, name, value):
    data = value.encode("utf-8")
    out.write(f"{kind} {name} {len(data)}\n".encode() + data + b"\n")


def show(name, value):
    if isinstance(value, list):
        out.write(f"list {name} {len(value)}\n".encode())
        for entry in value:
            show("item", entry)
    elif isinstance(value, str):
        text("string", name, value)
    else:
        text("other", name, type(value).__name__)


for case in open(cases, encoding="utf-8").read().splitlines():
    out.write(b"case\n")
    operation, *files = case.split("\t")
    values = [open(file, encoding="utf-8", newline="").read() for file in files]
    try:
        answer = serialize_object(getattr(service, operation)(*values), dict)
        for name, value in answer.items():
            show(name, value)
    except zeep.exceptions.Fault as fault:
        text("fault", fault.code, fault.message)
