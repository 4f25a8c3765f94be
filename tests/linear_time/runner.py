"""Runs functions on grown texts in a child process, which is killed when it does not come back.

A regular expression that never ends holds the whole interpreter: neither a signal nor a thread of the same process can
end it.
"""

import gc
import importlib
import io
import json
import pkgutil
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import tests.linear_time
from tests import CHECKOUT
from tests.linear_time.shapes import Shape
from tests.linear_time.target import Target


def target_modules() -> list[str]:
    """The names of all modules `*_targets` here, each of which has `TARGETS`."""
    return _modules("_targets")


def targets_of(module: str) -> dict[str, Target]:
    """The targets of one of them, by name."""
    targets: tuple[Target, ...] = importlib.import_module(module).TARGETS
    assert len({target.name for target in targets}) == len(targets), f"two targets of {module} have one name"
    return {target.name: target for target in targets}


def all_shapes() -> dict[str, Shape]:
    """Every shape of `shapes` and of all `*_shapes`, by name."""
    modules = ["tests.linear_time.shapes", *_modules("_shapes")]
    return {shape.name: shape for module in modules for shape in importlib.import_module(module).SHAPES}


def _modules(ending: str) -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(tests.linear_time.__path__))
    return [f"tests.linear_time.{name}" for name in found if name.endswith(ending)]


class Worker:
    """A child process that runs the targets of one module, one call after another."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._child: subprocess.Popen[str] | None = None

    def seconds(self, target: str, shape: str, length: int, *, at_most: float) -> float | None:
        """Seconds that one call takes, not counting the making of the text; None: it was killed after `at_most`.

        Raises `AssertionError` with the child's words when the call raises.
        """
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps([target, shape, length]) + "\n")
        child.stdin.flush()
        if not select.select([child.stdout], [], [], at_most)[0]:
            self.end()
            return None
        taken = json.loads(child.stdout.readline())
        assert isinstance(taken, float), f"{target} on {shape}, {length} characters: {taken}"
        return taken

    def _start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "tests.linear_time.runner", self._module]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT)
        self._child = child
        assert child.stdout is not None
        ready = child.stdout.readline()
        assert ready == "ready\n", f"{' '.join(command)} did not start"
        return child

    def end(self) -> None:
        """Kill the child, whatever it does."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def worker(module: str) -> Iterator[Worker]:
    """A worker that is gone afterwards."""
    made = Worker(module)
    try:
        yield made
    finally:
        made.end()


def _serve(module: str) -> None:
    """The child: a line with target, shape and length in, a line with the seconds out."""
    targets, shapes = targets_of(module), all_shapes()
    answers, sys.stdout = sys.stdout, io.StringIO()  # what a target prints is no answer
    gc.disable()  # its rounds come at any time, and take the longer the more there is
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        target, shape, length = json.loads(line)
        text = shapes[shape].make(length)
        started = time.process_time()
        try:
            targets[target].run(text)
        except Exception as exc:  # noqa: BLE001 - told to whoever asked
            taken: float | str = f"{type(exc).__name__}: {exc}"
        else:
            taken = time.process_time() - started
        sys.stdout.truncate(0)
        print(json.dumps(taken), file=answers, flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
