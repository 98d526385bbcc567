"""Judges documents by expat, namespaces included: a line of base64 in, a line `1` (well-formed) or `0` out."""
import base64
import sys
from xml.parsers import expat

for line in sys.stdin:
    # The text is already decoded, so a declared encoding does not matter. No name contains a line break.
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator="\n")
    try:
        parser.Parse(base64.b64decode(line), True)
        print(1)
    except expat.ExpatError:
        print(0)
