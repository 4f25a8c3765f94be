"""What the README shows works as it stands there."""

import re
from pathlib import Path

import pytest

from tests.process import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs_and_finds_what_it_stored() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    ana = names["ana"]
    found = ana.retrieve("how do I deploy the site?", k=3)  # type: ignore[attr-defined]  # made by the example
    assert (found[0].goal, found[0].output) == ("deploy the site", "ran make deploy")
    assert [episode.status.value for episode in ana.retrieve("restart the queue")][:1] == ["success"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("link", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (CHECKOUT / link).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:memory|bot|tests|config)/[\w/]+\.\w+)`", README))))
def test_files_it_names_exist(path: str) -> None:
    assert Path(CHECKOUT / path).is_file()


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m (tests\.benchmarks\.\w+|tests\.\w+)", README))))
def test_benchmarks_it_names_exist(module: str) -> None:
    assert (CHECKOUT / Path(*module.split("."))).with_suffix(".py").is_file()
