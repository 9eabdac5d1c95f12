"""Writes what was measured into a page of docs/performance, between <!-- NAME --> and <!-- /NAME -->."""

import re
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "performance"


def write(page, name, text):
    """Puts `text` between the marks `name` of the page; ends the program if it has none."""
    path = PAGES / f"{page}.md"
    written, times = re.subn(
        f"<!-- {name} -->.*<!-- /{name} -->",
        lambda _: f"<!-- {name} -->\n{text}\n<!-- /{name} -->",
        path.read_text(),
        flags=re.S,
    )
    if times != 1:
        sys.exit(f"{path} has {times} parts from <!-- {name} --> to <!-- /{name} --> to write between; there has to be one")
    path.write_text(written)
