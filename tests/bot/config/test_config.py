"""Settings: one documented file, three sources in order, and messages that name what is wrong."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bot.config import Settings, load_settings
from bot.config.sources import SHORT_NAMES, find_config_file, known_names
from bot.errors import ConfigError
from tests import CHECKOUT

SHIPPED = (CHECKOUT / "config" / "goodbot.toml").read_text(encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A working directory without a settings file."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def load(place: Path, environ: dict[str, str] | None = None, *, text: str | None = None) -> Settings:
    """Settings from a file of this text and these variables."""
    if text is not None:
        (place / "goodbot.toml").write_text(text, encoding="utf-8")
    return load_settings(environ or {}, config_path=None, cwd=place, data_dir=place / "data")


# The shipped file -------------------------------------------------------------------------------------------------


def test_the_shipped_file_holds_exactly_the_defaults() -> None:
    document = tomllib.loads(SHIPPED)

    assert Settings.model_validate(document) == Settings()
    assert {f"{s}.{key}" for s, keys in document.items() for key in keys} == set(known_names())
    assert list(document) == list(Settings.sections())


def test_every_setting_is_explained_by_a_comment_above_it() -> None:
    lines = SHIPPED.splitlines()
    assignments = [i for i, line in enumerate(lines) if re.match(r"\w+ = ", line)]

    assert len(assignments) == len(known_names())
    bare = [lines[i] for i in assignments if not re.match(r"# .*\w.*[.:]$", lines[i - 1])]
    assert bare == []


def test_numbers_state_their_unit_or_range() -> None:
    block: list[str] = []
    missing: list[str] = []
    for line in SHIPPED.splitlines():
        if line.startswith("#"):
            block.append(line)
        elif re.match(r"\w+ = [\d.]+$", line):
            is_weight = line.startswith("weight_")  # one range for all of them, above the first
            if not is_weight and not re.search(r"\d+ to|, 0 |add up to 1|Share of|quorum_up to", " ".join(block)):
                missing.append(line)
            block = []
        else:
            block = []
    assert missing == []


def test_short_names_are_explained_in_the_file() -> None:
    assert [name for name in SHORT_NAMES if name not in SHIPPED] == []


# Where values come from -------------------------------------------------------------------------------------------


def test_without_anything_the_defaults_hold_and_files_go_to_the_data_directory(place: Path) -> None:
    settings = load(place)

    assert settings.recall == Settings().recall
    assert settings.storage.database_url.get_secret_value() == f"sqlite:///{place / 'data' / 'goodbot.db'}"
    assert settings.storage.place == str(place / "data" / "goodbot.db")
    assert settings.log.file == str(place / "data" / "goodbot.log")
    assert not (place / "data").exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_holds_memory_and_what_belongs_to_this_machine_lies_in_the_data_directory(
    tmp_path: Path, scheme: str
) -> None:
    url = f"{scheme}://me:hunter2@db.example.org:5432/bot?sslmode=require"
    storage = load_settings({"DATABASE_URL": url}, config_path=None, cwd=tmp_path, data_dir=tmp_path / "data").storage
    assert storage.place == "db.example.org:5432/bot"
    assert storage.beside == tmp_path / "data" / "postgresql-db-example-org-5432-bot"
    assert not storage.is_file


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(place: Path) -> None:
    text = "[recall]\nfinal_k = 7\nmin_similarity = 0.5\n"
    settings = load(place, {"GOODBOT_RECALL_FINAL_K": "9"}, text=text)

    assert (settings.recall.final_k, settings.recall.min_similarity, settings.recall.candidates) == (9, 0.5, 64)


def test_the_file_is_chosen_in_order(place: Path) -> None:
    named, asked, deep, flat = (
        place / name for name in ("named.toml", "asked.toml", "config/goodbot.toml", "goodbot.toml")
    )
    deep.parent.mkdir()
    for path in (named, asked, deep, flat):
        path.write_text("", encoding="utf-8")

    assert find_config_file({"GOODBOT_CONFIG": "named.toml"}, config_path=None, cwd=place) == named
    assert find_config_file({"GOODBOT_CONFIG": "named.toml"}, config_path=asked, cwd=place) == asked
    assert find_config_file({"GOODBOT_CONFIG": ""}, config_path=asked, cwd=place) == asked
    assert find_config_file({"GOODBOT_CONFIG": " named.toml\n"}, config_path=None, cwd=place) == named
    assert find_config_file({"GOODBOT_CONFIG": " "}, config_path=None, cwd=place) == deep
    assert find_config_file({}, config_path=None, cwd=place) == deep
    deep.unlink()
    assert find_config_file({}, config_path=None, cwd=place) == flat
    flat.unlink()
    assert find_config_file({}, config_path=None, cwd=place) is None


@pytest.mark.parametrize(
    ("variable", "text", "section", "key", "expected"),
    [
        ("GOODBOT_MODEL", "openai:gpt-5-mini", "model", "name", "openai:gpt-5-mini"),
        ("OPENAI_BASE_URL", "http://localhost:1/v1", "model", "openai_base_url", "http://localhost:1/v1"),
        ("GOODBOT_AGENT_MAX_SECONDS", "30", "agent", "max_seconds", 30.0),
        ("GOODBOT_MODEL_TEMPERATURE", ".5", "model", "temperature", 0.5),
        ("GOODBOT_TEACHING_EMOJI_FAILURE", "👎, nope", "teaching", "emoji_failure", ("👎", "nope")),
        ("GOODBOT_TEACHING_EMOJI_FAILURE", '["a,b", "c"]', "teaching", "emoji_failure", ("a,b", "c")),
        ("GOODBOT_TERMINAL_PERSON", "42", "terminal", "person", "42"),
        ("SLACK_API_URL", "http://localhost:1/api", "slack", "api_url", "http://localhost:1/api/"),
        ("GOODBOT_SLACK_TEACHERS", "U1, S2", "slack", "teachers", ("U1", "S2")),
        ("DISCORD_API_URL", "http://localhost:1/api/v10/", "discord", "api_url", "http://localhost:1/api/v10"),
        ("GOODBOT_DISCORD_TEACHERS", "1, 2", "discord", "teachers", ("1", "2")),
        ("GOODBOT_TERMINAL_PERSON", " ana\n", "terminal", "person", "ana"),
        ("GOODBOT_TERMINAL_PERSON", " ", "terminal", "person", "you"),
    ],
)
def test_variables_are_read_as_the_setting_s_type(
    place: Path, variable: str, text: str, section: str, key: str, expected: object
) -> None:
    value = getattr(getattr(load(place, {variable: text}), section), key)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize("dotted", sorted(known_names()))
def test_every_setting_has_a_variable_and_an_empty_one_counts_as_not_set(place: Path, dotted: str) -> None:
    section, key = known_names()[dotted]
    variable = f"GOODBOT_{section}_{key}".upper()

    assert load(place, {variable: ""}) == load(place)
    with pytest.raises(ConfigError, match=rf"did you mean {variable}\?"):
        load(place, {f"{variable}Q": "1"})


def test_the_long_name_wins_over_the_short_one(place: Path) -> None:
    environ = {"DATABASE_URL": "sqlite:///a.db", "GOODBOT_STORAGE_DATABASE_URL": "sqlite:///b.db"}
    assert load(place, environ).storage.place == "b.db"


def test_other_programs_variables_and_those_of_other_parts_are_left_alone(place: Path) -> None:
    names = ("PATH", "PORT", "SLACK_TEAM_ID", "SLACK_WEBHOOK_URL")
    more = ("DISCORD_CLIENT_ID", "DISCORD_WEBHOOK_URL")
    assert load(place, dict.fromkeys(names + more, "x")) == load(place)


def test_relative_files_are_made_absolute(place: Path) -> None:
    settings = load(place, text='[knowledge]\nfolder = "docs"\n[log]\nfile = "bot.log"\n')
    assert (settings.knowledge.folder, settings.log.file) == (str(place / "docs"), str(place / "bot.log"))


def test_a_byte_order_mark_before_the_file_is_fine(place: Path) -> None:
    assert load(place, text="\ufeff[recall]\nfinal_k = 3\n").recall.final_k == 3


def test_settings_are_frozen(place: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(place).recall.final_k = 3


# What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[recal]\nfinal_k = 3", r"\[recal\] \(in .*goodbot.toml\): there is no such section; did you mean recall\?"),
        (
            "[recall]\nfinal = 3",
            r"recall\.final \(in .*toml\): there is no such setting; did you mean recall\.final_k\?",
        ),
        ("recall = 3", r"recall \(in .*\): must be a section"),
        ("[recall]\nfinal_k = 99", r"recall\.final_k \(in .*\): allowed is a whole number from 1 to 50; found 99"),
        ("[recall]\nfinal_k = true", r"recall\.final_k .* a whole number from 1 to 50; found True"),
        ("[recall]\nfinal_k = 2.0", r"recall\.final_k .* a whole number"),
        ("[recall]\nerror_budget = 0", r"recall\.error_budget .* a number from 0\.01 to 0\.5; found 0"),
        ("[recall]\nmin_similarity = nan", r"recall\.min_similarity .* a number from 0 to 1; found nan"),
        ("[recall]\ncontext_weight = 0.5", r"\[recall\] .*must add up to 1, and add up to 0\.85"),
        ("[recall]\nfinal_k = 50\ncandidates = 8", r"candidates \(8\) must not be smaller than final_k \(50\)"),
        ("[teaching]\nquorum_up = 3", r"quorum_down \(2\) must not be smaller than quorum_up \(3\)"),
        ('[teaching]\nemoji_failure = ["👍🏽"]', "👍 cannot be in both"),
        ('[teaching]\nemoji_failure = ["a", 2]', r"teaching\.emoji_failure .* a list of texts"),
        ("[teaching]\nemoji_failure = [2026-01-01]", r"teaching\.emoji_failure .* a list of texts"),
        ('[model]\ntool_calls = "spoken"', r'"native" or "text"; found \'spoken\''),
        ('[model]\nname = "ofline"', r'must be "offline" or "PROVIDER:NAME".*did you mean offline\?; found \'ofline\''),
        ('[model]\nname = "openai:"', r'model\.name .* must be "offline"'),
        ('[model]\nopenai_base_url = "localhost"', r"openai_base_url .* must start with http"),
        ('[embedder]\nname = "packged"', r"did you mean packaged\?"),
        ('[embedder]\nname = ""', r"embedder\.name .* a text that is not empty"),
        ('[terminal]\nperson = ""', r"terminal\.person .* a text of 1 to 40 characters"),
        ('[terminal]\nperson = "a/b"', r"terminal\.person .* without a slash"),
        ('[terminal]\nworkspace = "slack:T1"', r'terminal\.workspace .* must be "terminal:NAME"'),
        ('[slack]\nteachers = ["ana"]', r"slack\.teachers .* ids of people .* which ana is not"),
        ('[slack]\napi_url = "slack.com"', r"slack\.api_url .* must start with http"),
        ('[slack]\ncommand = "goodbot"', r"slack\.command .* begins with a slash"),
        ('[discord]\nteachers = ["ana"]', r"discord\.teachers .* digits only; ana is none"),
        ('[discord]\napi_url = "discord.com"', r"discord\.api_url .* must start with http"),
        ('[discord]\ncommand = "/goodbot"', r"discord\.command .* without a slash"),
        ('[log]\nlevel = "loud"', r'log\.level .* "debug" or "info"'),
    ],
)
def test_a_wrong_file_is_refused_with_name_origin_and_remedy(place: Path, text: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        load(place, text=text)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"GOODBOT_RECALL_MIN_SIMILARTY": "1"}, r"SIMILARTY .*did you mean GOODBOT_RECALL_MIN_SIMILARITY\?"),
        ({"GOODBOT_MODLE": "offline"}, r"GOODBOT_MODLE \(environment variable\).*did you mean GOODBOT_MODEL\?"),
        ({"goodbot_model": "offline"}, r"goodbot_model .*did you mean GOODBOT_MODEL\?"),
        ({"GOODBOT_AGENT_MAX_DEPTH": "deep"}, r"agent\.max_depth \(environment variable GOODBOT_AGENT_MAX_DEPTH\)"),
        ({"GOODBOT_AGENT_MAX_DEPTH": "1.5"}, "a whole number from 1 to 10; found '1.5'"),
        ({"GOODBOT_AGENT_MAX_COST_USD": "inf"}, r"a number from 0.0001 to 1000"),
        ({"SLACK_BOT_TOKEN": '"xoxb-1"\n'}, r"- SLACK_BOT_TOKEN \(environment variable\): has quotes around its value"),
        ({"GOODBOT_SLACK_TEACHERS": "'U1, U2'"}, r"SLACK_TEACHERS .*write it without them"),
        ({"GOODBOT_FOO": " ", "GOODBOT_LOG_LEVEL": "loud"}, r"found 'loud'$"),
        ({"DATABASE_URL": "oracle://x"}, r"storage\.database_url \(environment variable DATABASE_URL\).*sqlite:///"),
        ({"GOODBOT_CONFIG": "nowhere.toml"}, r"nowhere\.toml, named by .*GOODBOT_CONFIG, does not exist"),
    ],
)
def test_a_wrong_variable_is_refused(place: Path, environ: dict[str, str], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        load(place, environ)


def test_everything_wrong_is_reported_at_once(place: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(place, {"GOODBOT_X": "1", "GOODBOT_AGENT_MAX_DEPTH": "x"}, text="[nope]\n[log]\nlevel = 1\n")
    assert len(str(caught.value).splitlines()) == 1 + 4


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"[recall\n", "not valid TOML.*line 1"), (b"# \xff\n", r"not UTF-8 text \(byte 2\)"), (None, "cannot read")],
)
def test_an_unreadable_file_is_refused(place: Path, content: bytes | None, expected: str) -> None:
    path = place / "goodbot.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=expected):
        load(place)


def test_a_file_asked_for_on_the_command_line_must_exist(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"x\.toml, named by --config, does not exist"):
        load_settings({}, config_path=Path("x.toml"), cwd=place, data_dir=place)


# Secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown", "for_others"),
    [
        ("postgresql://me:hu/s?h#@db:5/bot?a=1", "db:5/bot", "postgresql://me@db:5/bot?a=1"),
        ("postgres://me:hush@a:1,b:2/bot", "a:1,b:2/bot", "postgresql://me@a:1,b:2/bot"),
        ("postgresql:///bot?host=/run/x&password=hush", "bot", "postgresql:///bot?host=/run/x"),
    ],
)
def test_the_address_of_a_server_is_shown_without_its_password(
    place: Path, url: str, shown: str, for_others: str
) -> None:
    storage = load(place, {"DATABASE_URL": url}).storage
    assert (storage.place, storage.without_password) == (shown, for_others)


def test_secrets_are_not_shown_by_settings(place: Path) -> None:
    environ = {"OPENAI_API_KEY": "sk-hush", "DATABASE_URL": "sqlite://me:hush@host/x.db?key=hush"}
    settings = load(place, environ)

    assert settings.model.openai_api_key.get_secret_value() == "sk-hush"
    assert "hush" not in f"{settings!r} {settings} {settings.model_dump_json()} {settings.storage.place}"


@given(secret=st.text(alphabet="hushHUSH", min_size=12, max_size=40))
def test_secrets_are_not_shown_by_errors(secret: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("secret")
    text = f'[model]\nopenai_api_key = ["{secret}"]\n'
    with pytest.raises(ConfigError) as caught:
        load(place, {"DATABASE_URL": f"postgres://me:{secret}@host/db"}, text=text)

    assert secret not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("1", True), ("0", False)])
def test_a_switch_is_set_by_the_environment(place: Path, text: str, value: bool) -> None:
    assert load(place, {"GOODBOT_RECALL_PROPOSALS": text}).recall.proposals is value


def test_what_is_no_switch_is_told_what_is_allowed(place: Path) -> None:
    with pytest.raises(ConfigError, match="true or false"):
        load(place, {"GOODBOT_RECALL_PROPOSALS": "perhaps"})
