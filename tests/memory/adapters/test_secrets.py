"""Vendors' keys and tokens: found as a whole, wherever they stand in a text of any length."""

import sys

import pytest
from hypothesis import given, strategies as st

from memory.adapters import secrets
from memory.adapters.secrets import FormatFinder
from memory.model import Episode
from memory.ports.runtime import Secret
from memory.rules.redaction import Redactor

_LETTERS = "aB3" * 400
_TOKENS = (
    f"glpat-{_LETTERS[:20]}",
    f"glcbt-ab_{_LETTERS[:20]}",
    f"glagent-{_LETTERS[:900]}",
    f"ghp_{_LETTERS[:36]}",
    f"sk-proj-{_LETTERS[:20]}T3BlbkFJ{_LETTERS[:20]}",
    f"pypi-AgEIcHlwaS5vcmc{_LETTERS[:700]}",
    f"eyJhbGciOiJIUzI1NiJ9.eyJ{_LETTERS}.{_LETTERS[:43]}",
    f"SG.{_LETTERS[:22]}.{_LETTERS[:43]}",
    f"AccountKey={_LETTERS[:88]}",
)


@pytest.mark.parametrize("before", ["", "x", "word " * 380, "word " * 399, "w" * 1999])
@pytest.mark.parametrize("token", _TOKENS, ids=lambda token: token.split("-")[0][:12])
def test_nothing_of_a_token_is_left(token: str, before: str) -> None:
    redacted = Redactor(FormatFinder()).text(f"{before}{token} is mine")
    assert "aB3aB3" not in redacted
    assert redacted.endswith("] is mine")


def test_the_secret_behind_its_name_is_taken_out_and_the_name_stays() -> None:
    assert Redactor(FormatFinder()).text(f"aws_key = '{_LETTERS[:40]}'") == "aws_key = '[redacted: AWS Access Key]'"


@pytest.mark.parametrize("said", ["is", "is:", "is :", "is  :", "is\n"])
def test_a_password_is_found_however_it_is_set_off(said: str) -> None:
    assert "swordfish1" not in Redactor().text(f"the password {said} swordfish1")


class _Counting(FormatFinder):
    """Remembers what it looked at."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def find(self, text: str) -> list[Secret]:
        self.texts.append(text)
        return super().find(text)


def test_what_surrounds_runs_is_looked_at_once_and_a_secret_in_it_is_found_each_time() -> None:
    finder, tool = _Counting(), "tool:calculator"
    context = (f"memory:aws_key = '{_LETTERS[:40]}'", tool)
    redactor = Redactor(finder)
    for number in range(3):
        redacted = redactor.for_run().episode(Episode(id=f"e{number}", goal="add up", context_before=context))
        assert redacted.context_before == ("memory:aws_key = '[redacted: AWS Access Key]'", tool)
    assert finder.texts.count(tool) == 1


_FORMS = (
    "-----BEGIN RSA PRIVATE KEY-----\naB3", "ftp://me:aB3@host", "BEARER aB3aB3aB3aB3aB3aB3",
    "ba\u017fic aB3aB3aB3aB3aB3aB3",
    "bas\u0130c aB3aB3aB3aB3aB3aB3", f"sk-{_LETTERS[:20]}", f"github_pat_{_LETTERS[:22]}",
    *(f"gh{kind}_{_LETTERS[:36]}" for kind in "pousr"), f"xoxb-{_LETTERS[:10]}", f"xapp-{_LETTERS[:10]}",
    f"hf_{_LETTERS[:30]}", f"npm_{_LETTERS[:36]}", f"AIza{_LETTERS[:35]}", f"ya29.{_LETTERS[:20]}",
    f"eyJ{_LETTERS[:10]}.eyJ{_LETTERS[:10]}", f"x_sk-{_LETTERS[:20]}T3BlbkFJ{_LETTERS[:20]}",
    *(f"{kind}AB3AB3AB3AB3AB3A" for kind in ("AKIA", "ASIA", "ABIA", "ACCA")),
)  # fmt: skip


@pytest.mark.parametrize("form", _FORMS)
def test_each_form_is_known_without_the_library(form: str) -> None:
    redacted = Redactor().text(f"here: {form}")
    assert "aB3" not in redacted
    assert "AB3" not in redacted


_NAMES = (
    "password", "PASSWD", "pwd", "passphrase", "passcode", "pass", "secret", "\u017fecret", "credential", "credentials",
    "token", "to\u212aen", "pat", "api key", "access_token", "private-\u212aey", "client secret", "app-password",
    "passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "senha", "пароль", "пар\u1c82ль", "ПАРОЛЬ",
    "密码", "密碼", "パスワード", "pr\u0131vate key", "AP\u0130 KEY", "ses\u017fion-key",
    "auth key", "access key", "secret_key", "encryption key", "signing-key", "client key", "account key", "bot key",
    "app key", "session key",
)  # fmt: skip


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_set_to_a_name_of_a_secret_is_found(name: str) -> None:
    assert "swordfish1" not in Redactor().text(f"my {name}: swordfish1")


@pytest.mark.parametrize(
    "where",
    ["room 34", "Room 7b.", "under the router", "taped to the fridge", "Zimmer 12, Herr Maier", "behind my desk"],
)
def test_where_a_secret_is_kept_is_none(where: str) -> None:
    text = f"The wifi password: {where}"
    assert Redactor(FormatFinder()).text(text) == text


@pytest.mark.parametrize(
    "said", ["room34", "room-34", "room 34x9!", "room", "Room, 34", "under", "under7the", "written"]
)
def test_a_secret_that_begins_like_a_place_is_found(said: str) -> None:
    text = f"The wifi password: {said}"
    assert said.split()[0].rstrip(",") not in Redactor(FormatFinder()).text(text)


@pytest.mark.parametrize(
    "said",
    [
        "the passphrase is correct horse battery staple",
        "The backup's pass phrase: correct horse battery staple, and the user is ana",
        "recovery phrase = correct-horse-battery-staple-robin-lamp",
        'the wifi password is "correct horse staple"',
        "password: `correct horse staple`",
        "our passcode is “horse staple”",
        """{"password": "correct horse", "user": "ana"}""",
        "mnemonic: correct horse battery staple robin lamp river stone window paper orange tiger",
    ],
)
def test_a_secret_of_several_words_is_found_as_a_whole(said: str) -> None:
    redacted = Redactor(FormatFinder()).text(said)
    assert "[redacted: password]" in redacted
    assert not {"correct", "horse", "battery", "staple", "lamp", "tiger"} & set(redacted.replace("-", " ").split())
    assert ("ana" in said) is ("ana" in redacted)
    assert Redactor(FormatFinder()).text(redacted) == redacted


@pytest.mark.parametrize(
    "said",
    [
        "the passphrase is known to the whole team",
        "a passphrase is long but easy to remember",
        "the passphrase is kept by Ana and Ben",
        'the token is "expired" again',
        'the secret is "keep it simple"',
        'the password is "<your password>"',
        "the recovery phrase is twelve words",
        "the passphrase was changed yesterday",
        'password: "under the router"',
    ],
)
def test_a_sentence_about_a_secret_of_several_words_is_none(said: str) -> None:
    assert Redactor(FormatFinder()).text(said) == said


@given(st.data())
def test_a_kind_is_looked_for_wherever_its_patterns_find_anything(data: st.DataObject) -> None:
    number = data.draw(st.sampled_from(range(len(secrets._detectors()))))
    found = data.draw(st.from_regex(data.draw(st.sampled_from(secrets._detectors()[number][1]))))
    assert number in secrets._possible(found)


def test_kinds_that_are_looked_for_by_a_cue_exist() -> None:
    assert secrets._CUES.keys() <= {kind for kind, _, _ in secrets._detectors()}


def test_what_a_library_hardly_uses_is_imported_when_it_is_used() -> None:
    sys.modules.pop("colorsys", None)
    with secrets._without("colorsys"):
        import colorsys as stand_in
    assert "colorsys" not in sys.modules
    assert stand_in.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert sys.modules["colorsys"] is not stand_in
    with secrets._without("colorsys"):
        import colorsys as real
    assert real is sys.modules["colorsys"] is not stand_in
