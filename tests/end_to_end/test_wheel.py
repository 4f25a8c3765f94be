"""What people install: the wheel holds everything, and works without the checkout."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests import CHECKOUT
from tests.doubles.process import GOODBOT, Home

pytestmark = [pytest.mark.process, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The built wheel and the folder it was installed into, beside the libraries of this environment."""

    wheel: Path
    folder: Path

    def home(self, folder: Path) -> Home:
        """A place to work where this installation is found instead of the checkout."""
        return Home(folder, PYTHONPATH=str(self.folder))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    built, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    _python("build", "--wheel", "--no-isolation", "--outdir", str(built), str(CHECKOUT))
    (wheel,) = built.glob("goodbot-*-py3-none-any.whl")
    _python("pip", "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return Installed(wheel=wheel, folder=folder)


def _python(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_holds_code_types_migrations_settings_and_licence(installed: Installed) -> None:
    with ZipFile(installed.wheel) as wheel:
        names = set(wheel.namelist())
        (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
        settings = wheel.read("bot/goodbot.toml")
        scripts = wheel.read(f"{info}/entry_points.txt").decode()
        metadata = wheel.read(f"{info}/METADATA").decode()
    assert {"bot/py.typed", "memory/py.typed", f"{info}/licenses/LICENSE"} <= names
    assert {name.partition("/")[0] for name in names} == {"bot", "memory", info}
    assert not [name for name in names if "__pycache__" in name]
    assert settings == (CHECKOUT / "config" / "goodbot.toml").read_bytes()
    assert "goodbot = bot.__main__:main" in scripts
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    sources = {path.relative_to(CHECKOUT).as_posix() for top in ("bot", "memory") for path in _files(CHECKOUT / top)}
    assert sources <= names
    assert any(name.startswith("memory/migrations/versions/0001") for name in names)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_an_installed_bot_is_whole(installed: Installed, tmp_path: Path) -> None:
    home = installed.home(tmp_path)
    found = home.run(program=(sys.executable, "-c", "import bot, memory; print(bot.__file__, memory.__file__)"))
    assert str(CHECKOUT) not in found.out
    assert found.out.count(str(installed.folder)) == 2
    migrated = home.run("migrate", "--json")
    assert (migrated.code, migrated.err) == (0, "")
    typed = "who waters the plants?\n👎\n/correct Ana does.\nwho waters the plants?\nwhat is 15% of 80?\n👍\n"
    talked = home.run("chat", given=typed)
    assert (talked.code, talked.err) == (0, "")
    assert "[2] Ana does.\n    used lesson:" in talked.out
    done = home.run_all(
        {"list": ("episodes", "list"), "doctor": ("doctor",), "check": ("rebuild", "--check")}, program=GOODBOT
    )
    assert {name: (each.code, each.err) for name, each in done.items()} == dict.fromkeys(done, (0, ""))
    assert "15% of 80 = 12" in done["list"].out


@pytest.mark.skipif(sys.platform == "win32", reason="another name there")
def test_the_console_script_is_the_same(installed: Installed, tmp_path: Path) -> None:
    done = installed.home(tmp_path).run("--version", program=(str(installed.folder / "bin" / "goodbot"),))
    assert (done.code, done.err) == (0, "")
    name, version = done.out.split()
    assert name == "goodbot"
    assert f"-{version}-py3" in installed.wheel.name
