"""The code blocks of a page, run in order in one namespace."""

import contextlib
import io
import itertools
import re
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, its text, and where the text is in the page."""

    language: str
    text: str
    start: int
    stop: int


def blocks(page):
    """Return the fenced blocks of a page."""
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in FENCE.finditer(page)]


def run_page(page, name="page"):
    """Run the Python blocks of a page; yield each output block with what was printed instead.

    Yields (block, printed) for every ``output`` block; it belongs to the Python block before it.
    """
    namespace = {"__name__": name}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            # Blank lines, so that a traceback shows the line in the page.
            source = "\n" * page.count("\n", 0, block.start) + block.text
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(source, name, "exec"), namespace)
            printed = out.getvalue()
        elif block.language == "output":
            yield block, printed


def with_outputs(page):
    """Return a page with its output blocks as they should be."""
    count = sum(block.language == "output" for block in blocks(page))
    # What comes after the last output need not be run.
    outputs = itertools.islice(run_page(page), count)
    changes = [(block, printed.rstrip() + "\n") for block, printed in outputs]
    for block, printed in reversed(changes):
        page = page[: block.start] + printed + page[block.stop :]
    return page
