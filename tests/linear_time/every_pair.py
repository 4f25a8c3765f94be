"""Run as a process: every target of a module on every shape, one after another. Ends with 1 where one does not end.

`python -m tests.linear_time.every_pair MODULE LENGTH SHAPES-MODULE...`. A regular expression that never ends holds the
interpreter; the watchdog of `faulthandler` needs none, tells where it hangs, and ends the process.
"""

import faulthandler
import sys
from importlib import import_module

from tests.linear_time.shapes import Shape
from tests.linear_time.target import Target

_HANGS_SECONDS = 30
"""Targets that take longer with one text will never end; linear work on these lengths takes milliseconds."""


def main(targets_module: str, length: str, *shapes_modules: str) -> None:
    """The last line written names what hangs."""
    targets: tuple[Target, ...] = import_module(targets_module).TARGETS
    shapes: list[Shape] = [shape for module in shapes_modules for shape in import_module(module).SHAPES]
    for shape in shapes:
        text = shape.make(int(length))
        faulthandler.dump_traceback_later(_HANGS_SECONDS, exit=True)
        for target in targets:
            sys.stdout.write(f"{target.name} | {shape.name}\n")
            sys.stdout.flush()
            target.run(text)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(*sys.argv[1:])
