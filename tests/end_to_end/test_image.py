"""The container's recipe, checked by doing what it says in a folder instead of a container."""

import os
import re
import shlex
import shutil
import site
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import httpx2
import pytest
from platformdirs import user_cache_path

from bot.config import load_settings
from tests import CHECKOUT
from tests.doubles.packaged_embedder import packaged_embedder
from tests.doubles.process import Chat
from tests.doubles.seats import both_platforms, environment

pytestmark = pytest.mark.slow

RECIPE = CHECKOUT / "config" / "Dockerfile"
KEY = "a key that nobody guesses"


@dataclass(frozen=True)
class Step:
    """One instruction."""

    what: str
    text: str


def steps() -> list[list[Step]]:
    """The instructions of each stage."""
    text = re.sub(r"\\\n", " ", "".join(f"{line}\n" for line in RECIPE.read_text().splitlines() if line[:1] != "#"))
    found: list[list[Step]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        what, _, rest = line.partition(" ")
        if what == "FROM":
            found.append([])
        found[-1].append(Step(what, rest.strip()))
    return found


def of(stage: list[Step], what: str) -> list[str]:
    return [step.text for step in stage if step.what == what]


def variables(stage: list[Step]) -> dict[str, str]:
    return dict(pair.split("=", 1) for text in of(stage, "ENV") for pair in shlex.split(text))


def test_it_runs_the_bot_as_a_user_that_is_not_root_and_keeps_what_it_writes() -> None:
    last = steps()[-1]
    (user,) = of(last, "USER")
    assert int(user) >= 1000
    assert of(last, "RUN") == [f"useradd --uid {user} --home-dir /data --create-home --shell /usr/sbin/nologin goodbot"]
    assert of(last, "ENTRYPOINT") + of(last, "CMD") == ['["goodbot"]', '["run"]']
    settings = load_settings(variables(last), config_path=None, cwd=Path("/"), data_dir=Path("/elsewhere"))
    kept = Path(of(last, "VOLUME")[0])
    assert Path(settings.storage.place).parent == Path(settings.log.file).parent == kept
    assert of(last, "EXPOSE") == [str(settings.web.port)]
    assert settings.embedder.name == "packaged"


def test_the_builder_is_sent_what_it_copies_and_nothing_else() -> None:
    rules = [line for line in Path(f"{RECIPE}.dockerignore").read_text().splitlines() if line[:1] not in ("#", "")]

    def is_sent(path: str) -> bool:
        told = [not rule.startswith("!") for rule in rules if _matches(path, rule.lstrip("!"))]
        return not (told and told[-1])

    copied = {name for text in of(steps()[0], "COPY") for name in text.split()[:-1]}
    assert all(is_sent(name) and (CHECKOUT / name).exists() for name in copied)
    refused = (".git/config", ".env", "goodbot.db", "tests/conftest.py", "bot/cli/__pycache__/root.pyc", ".venv/x")
    assert not [name for name in refused if is_sent(name)]
    assert is_sent("bot/cli/root.py")


def _matches(path: str, rule: str) -> bool:
    if rule.startswith("**/"):
        return rule.removeprefix("**/") in path.split("/")
    return fnmatch(path, rule) or path.startswith(f"{rule}/")


@pytest.fixture
def place() -> Iterator[Path]:
    """In the place of a container's root: a folder that every user may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.process
def test_what_it_does_makes_a_bot_that_is_ready_with_its_embedder(place: Path) -> None:
    build, last = steps()
    packaged_embedder().embed(["ready?"])
    # Its export is made once for all tests; making it is tested elsewhere.
    shutil.copytree(user_cache_path("goodbot", appauthor=False), place / "opt/goodbot/embedder")
    known = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "PYTHONDONTWRITEBYTECODE": "1",
        # The libraries are those of this environment instead of what would be downloaded.
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "false",
    }

    def here(text: str) -> str:
        return re.sub(r"(^|[\s='\"]|sqlite:///)/(opt|src|tmp|data)\b", rf"\1{place}/\2", text)

    _do(build, place, known, here)
    data, user = place / "data", None
    data.mkdir()
    if os.geteuid() == 0:
        user = int(of(last, "USER")[0])
        os.chown(data, user, user)
    told = {name: here(value) for name, value in variables(last).items()}
    told["PATH"] = told["PATH"].replace("$PATH", os.environ["PATH"])
    with both_platforms() as seats:
        given = {**environment(*seats), "GOODBOT_API_KEY": KEY, "GOODBOT_WEB_PORT": "0", "HOME": str(data)}
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        command = [*become, str(place / "opt/goodbot/bin/goodbot"), "run"]
        with Chat(command, data, {**known, **told, **given}) as process:
            process.wait_for_error("serving at")
            for seat in seats:
                seat.until_connected()
            (url,) = re.findall(r"serving at (\S+)", process.told())
            ready = httpx2.get(f"{url}/readyz", timeout=60).json()
            if user:
                assert Path(f"/proc/{process.pid}").stat().st_uid == user
    assert ready["ready"], ready
    assert all(part["ready"] for part in ready["parts"].values()), ready
    assert "MiniLM" in ready["parts"]["embedder"]["state"]
    assert {"goodbot.db", "goodbot.log"} <= {each.name for each in data.iterdir()}


def _copy(source: Path, target: Path, *, into: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        (target if into else target.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _do(build: list[Step], place: Path, known: dict[str, str], here: Callable[[str], str]) -> None:
    """What the first stage says; `known` are its variables, and `here` turns paths into those below `place`."""
    for step in build:
        match step:
            case Step("COPY", text):
                *sources, target = text.split()
                for source in sources:
                    _copy(CHECKOUT / source, Path(here(target)), into=target.endswith("/"))
            case Step("ENV", text):
                known.update({name: here(value) for name, value in variables([step]).items()})
            case Step("RUN", text):
                done = subprocess.run(here(text), shell=True, env=known, capture_output=True, text=True, check=False)
                assert done.returncode == 0, (text, done.stdout, done.stderr)
                for packages in (place / "opt").glob("*/lib/python*/site-packages"):
                    (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()))
