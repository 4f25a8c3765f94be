"""The terminal between pipes: a clean transcript in order, and every wrong line named."""

import asyncio
import io
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.terminal import Streams, standard_streams
from bot.adapters.terminal.piped_lines import PipedLines
from bot.adapters.terminal.screen import PlainScreen
from bot.errors import MessengerUnavailable
from bot.model import (
    Attachment,
    Choice,
    MessageRef,
    PersonCommand,
    PersonCorrection,
    PersonEvent,
    PersonMessage,
    PersonReaction,
)
from memory.model import Role, Visibility
from tests.doubles.terminal import SETTINGS, FedPipe, Recorded, nothing_to_wait_for, piped, said


async def chat(text: str | bytes, *, folder: Path = Path(), teacher: bool = False) -> tuple[list[PersonEvent], str]:
    """Pipe lines in; every message is answered with itself, reversed. What the bot heard, and the transcript."""
    raw = text.encode() if isinstance(text, str) else text
    messenger, out = piped(io.BytesIO(raw), folder=folder, teacher=teacher)
    events: list[PersonEvent] = []

    async def sink(event: PersonEvent) -> None:
        events.append(event)
        if isinstance(event, PersonMessage):
            await messenger.post(said(event.text[::-1]))
        elif isinstance(event, PersonCommand) and event.name == "export":
            await messenger.hand_over(
                said("1 lesson.", is_answer=False),
                Attachment(name="../lessons.json", content=b"[]", media_type="application/json"),
            )

    async with asyncio.timeout(20):
        await messenger.run(sink)
    return events, out.getvalue()


# The transcript ---------------------------------------------------------------------------------------------------


async def test_a_transcript_is_plain_text_in_order() -> None:
    messenger, out = piped(io.BytesIO("capital of France?\n👍".encode()), greeting="memory in /tmp/a.db")

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonMessage):
            await messenger.post(said("**Paris**\x1b[31m\n", lessons=("REPEAT:\nParis",)))
        elif isinstance(event, PersonReaction):
            ref = MessageRef(workspace=SETTINGS.workspace, channel=SETTINGS.channel, message_id=event.message_id)
            await messenger.mark(ref, "🧠", True)
            await messenger.mark(ref, "🧠", False)
            await messenger.post(said("Thanks.", is_answer=False, private_to="ben"))

    await messenger.run(sink)
    assert out.getvalue() == (
        "-- memory in /tmp/a.db\n"
        "you: capital of France?\n"
        "[1] **Paris**[31m\n"
        "    used lesson: REPEAT: Paris\n"
        "you: 👍\n"
        "-- 🧠 [1] became a lesson\n"
        "-- [1] is no longer a lesson\n"
        "(to ben) Thanks.\n"
        "-- 👍 on [1]\n"
    )


async def test_the_next_line_waits_for_the_answer_when_progress_says_so() -> None:
    pipe = FedPipe("first\n👍\n".encode(), b"second\n", b"")
    messenger, _ = piped(pipe, wait=None)
    order: list[str] = []
    answers: set[asyncio.Task[None]] = set()

    async def answer(text: str) -> None:
        await messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "thinking")
        for _ in range(20):
            await asyncio.sleep(0)
        await messenger.post(said(text))
        order.append(f"answered {text}")
        await messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "")

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonMessage):
            order.append(f"heard {event.text}")
            answers.add(asyncio.create_task(answer(event.text)))
        elif isinstance(event, PersonReaction):
            order.append(f"{event.emoji} on {event.message_id}")

    async with asyncio.timeout(10):
        await messenger.run(sink)
    first, _ = messenger.answers
    assert order == [
        "heard first", "answered first", f"👍 on {first.message_id}", "heard second", "answered second",
    ]  # fmt: skip


async def test_the_next_line_waits_for_the_bot_to_be_at_rest() -> None:
    order: list[str] = []

    async def wait() -> None:
        order.append("waited")

    messenger, _ = piped(io.BytesIO(b"one\n/memory\n/as ana\n"), wait=wait)

    async def sink(event: PersonEvent) -> None:
        order.append(type(event).__name__)

    await messenger.run(sink)
    assert order == ["PersonMessage", "waited", "PersonCommand", "waited"]


async def test_closing_ends_a_wait_for_an_answer_that_never_comes() -> None:
    messenger, _ = piped(FedPipe(b"hello\n"), wait=None)

    async def sink(event: PersonEvent) -> None:
        await messenger.close()

    async with asyncio.timeout(10):
        await messenger.run(sink)


async def test_choices_are_shown_as_what_to_type_and_mean_the_same_when_typed() -> None:
    offered = (
        Choice(label="Archive 1", command="archive", argument="0a1b2c3d page 1"),
        Choice(label="Next\npage", command="memory", argument="page 2"),
    )
    messenger, out = piped(io.BytesIO(b"/memory\n/archive 0a1b2c3d page 1\n"))
    heard: list[tuple[str, str]] = []

    async def sink(event: PersonEvent) -> None:
        assert isinstance(event, PersonCommand)
        heard.append((event.name, event.argument))
        if event.name == "memory":
            await messenger.post(replace(said("Lessons.", is_answer=False), choices=offered))

    await messenger.run(sink)
    assert "Lessons.\n    /archive 0a1b2c3d  Archive 1\n    /memory page 2     Next page\n" in out.getvalue()
    assert heard == [("memory", ""), ("archive", "0a1b2c3d page 1")]


async def test_choices_with_long_ids_are_typed_as_numbers() -> None:
    offered = (Choice(label="Undo", command="undo", argument="0661378a57906b378b0dcc95"),)
    messenger, out = piped(io.BytesIO(b"/parts\n1\n"))
    heard: list[tuple[str, str]] = []

    async def sink(event: PersonEvent) -> None:
        assert isinstance(event, PersonCommand)
        heard.append((event.name, event.argument))
        if event.name == "parts":
            await messenger.post(replace(said("Noted.", is_answer=False), choices=offered))

    await messenger.run(sink)
    assert "Noted.\n    1  Undo\n" in out.getvalue()
    assert heard[-1] == ("undo", "0661378a57906b378b0dcc95")


async def test_the_options_of_a_question_are_numbered_where_it_names_them() -> None:
    offered = (
        Choice(label="Under the pot. (the key?)", command="choose", argument="0a1b2c3d 1", words="Under the pot."),
        Choice(label="Tell the time: Oslo", command="choose", argument="0a1b2c3d 2"),
        Choice(label="Something else", command="choose", argument="0a1b2c3d 3"),
        Choice(label="None of these", command="choose", argument="0a1b2c3d none"),
    )
    messenger, out = piped(io.BytesIO(b"the key?\n2\n"))
    heard: list[str] = []

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonMessage):
            question = "Which one?\n\n- “Under the pot.” (for “the key?”)\n- Tell the time: Oslo\n- not an option"
            await messenger.post(replace(said(question), choices=offered, run_id="0a1b2c3d"))
        elif isinstance(event, PersonCommand):
            heard.append(event.argument)

    await messenger.run(sink)
    assert out.getvalue() == (
        "you: the key?\n"
        "[1] Which one?\n\n1. “Under the pot.” (for “the key?”)\n2. Tell the time: Oslo\n- not an option\n"
        "    3  Something else\n"
        "    4  None of these\n"
        "you: 2\n"
    )
    assert heard == ["0a1b2c3d 2"]


async def test_help_lists_what_this_person_may_use() -> None:
    _, out = await chat("/help\n/as ana\n/help\n", teacher=True)
    mine, _, anas = out.partition("you are ana now")
    assert ("/purge" in mine, "/purge" in anas) == (True, False)


# Events -----------------------------------------------------------------------------------------------------------


async def test_people_and_roles() -> None:
    events, out = await chat("one\n/as ana\ntwo\n/as you\nthree\n/as\n", teacher=True)

    people = [(event.scope.person, event.role) for event in events if isinstance(event, PersonMessage)]
    assert people == [("you", Role.TEACHER), ("ana", Role.MEMBER), ("you", Role.TEACHER)]
    assert out.count("you speak for yourself, a teacher") == 2
    scope = events[0].scope
    assert (scope.workspace, scope.channel, scope.place) == ("terminal:local", "terminal", "#terminal")
    assert scope.visibility is Visibility.PUBLIC


async def test_without_the_flag_everybody_is_a_member() -> None:
    events, _ = await chat("one\n")
    assert events[0].role is Role.MEMBER


async def test_commands_and_corrections_name_the_answer_they_are_about() -> None:
    events, _ = await chat("one\ntwo\n/why 1\n/why\n/correct three\n/forget all of it\n")

    why_first, why, correction, forget = events[2:]
    ids = ["id-0003", "id-0006"]  # event, message, answer; event, message, answer
    assert isinstance(why_first, PersonCommand)
    assert (why_first.name, why_first.message_id) == ("why", ids[0])
    assert isinstance(why, PersonCommand)
    assert why.message_id == ""
    assert isinstance(correction, PersonCorrection)
    assert (correction.text, correction.message_id) == ("three", ids[1])
    assert isinstance(forget, PersonCommand)
    assert (forget.name, forget.argument) == ("forget", "all of it")


async def test_a_correction_before_any_answer_leaves_the_choice_to_the_bot() -> None:
    [event], _ = await chat("/correct Paris\n")
    assert isinstance(event, PersonCorrection)
    assert event.message_id == ""


async def test_reactions_by_number_with_repeats_and_removals() -> None:
    events, out = await chat("one\ntwo\n👍\n👍🏽\n/react tada 1\n/unreact\n/unreact\n/unreact :tada: 1\n/unreact 1\n")

    reactions = [(e.emoji, e.message_id, e.added) for e in events if isinstance(e, PersonReaction)]
    first, second = "id-0003", "id-0006"
    assert reactions == [
        ("👍", second, True),
        ("👍🏽", second, True),
        ("tada", first, True),
        ("👍", second, False),
        ("tada", first, False),
    ]
    assert "-- 👍🏽 is already on [2]\n" in out
    assert "-- there is no emoji by you on [2], so nothing to take back\n" in out


async def test_two_emoji_on_one_line_are_two_reactions() -> None:
    events, _ = await chat("one\n👍🎉\n")
    assert [event.emoji for event in events if isinstance(event, PersonReaction)] == ["👍", "🎉"]


# Wrong input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("👍", "there is no answer on this screen yet"),
        ("/why 1", "there is no answer on this screen yet"),
        ("one\n/react 👍 99", "there is no answer [99]; the only answer here is [1]"),
        ("one\ntwo\n/react 👍 0", "there is no answer [0]; there are [1] to [2]"),
        ("one\n/why 7", "there is no answer [7]"),
        ("one\n/unreact 👍", "there is no 👍 by you on [1]"),
        ("/nope", "there is no command /nope, so nothing was sent"),
    ],
)
async def test_wrong_lines_are_explained_and_send_nothing(lines: str, expected: str) -> None:
    events, out = await chat(lines)
    assert f"-- {expected}" in out
    assert all(isinstance(event, PersonMessage) for event in events)
    assert [event.text for event in events if isinstance(event, PersonMessage)] == [
        line for line in lines.splitlines() if line in ("one", "two")
    ]


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (b"caf\xe9", "line 2 is not UTF-8 text (byte 4); it was not sent. Convert the input to UTF-8"),
        (
            b"x" * 1_000_000,
            "line 2 has 1,000,000 bytes, more than the 32,000 characters that are allowed; it was not sent",
        ),
        (b"y" * 32_001, "the message has 32,001 characters, more than the 32,000 that are allowed; it was not sent"),
        (b"\x7fELF\x00", "the message holds a control character (U+007F) and looks like binary data; it was not sent"),
    ],
)
@pytest.mark.parametrize("end", [b"\nafter", b"\r\nafter\r\n"])
async def test_a_line_that_is_no_text_is_named_and_the_others_are_kept(bad: bytes, expected: str, end: bytes) -> None:
    events, out = await chat(b"before\n" + bad + end)
    assert [event.text for event in events if isinstance(event, PersonMessage)] == ["before", "after"]
    assert f"-- {expected}\n" in out


async def test_a_bad_last_line_without_an_end_is_named_too() -> None:
    _, out = await chat(b"before\n" + b"x" * 500_000)
    assert "line 2 has 500,000 bytes" in out


async def test_a_byte_order_mark_is_not_part_of_the_first_message() -> None:
    events, _ = await chat("\ufeffhello\n")
    assert [event.text for event in events if isinstance(event, PersonMessage)] == ["hello"]


async def test_empty_lines_and_no_input_at_all_mean_nothing() -> None:
    assert await chat("\n  \n\n") == ([], "")
    assert await chat("") == ([], "")


async def test_quitting_ends_the_chat_before_the_rest() -> None:
    events, out = await chat("one\n/quit\ntwo\n")
    assert len(events) == 1
    assert "two" not in out


async def test_characters_cut_by_the_chunks_of_a_pipe_are_put_together() -> None:
    whole = "é👍🏽 ü\nnext".encode()
    lines = PipedLines(FedPipe(*(whole[i : i + 1] for i in range(len(whole))), b""))
    assert [await lines.read("ana") for _ in range(3)] == ["é👍🏽 ü", "next", None]


async def test_an_input_that_cannot_be_read_is_the_port_s_error(tmp_path: Path) -> None:
    class Directory:
        def read(self, size: int, /) -> bytes:
            raise IsADirectoryError(21, "Is a directory")

    with pytest.raises(MessengerUnavailable, match="cannot read the input: Is a directory") as caught:
        await PipedLines(Directory()).read("ana")
    assert isinstance(caught.value.__cause__, IsADirectoryError)


async def test_an_output_that_is_gone_is_the_port_s_error() -> None:
    gone = io.StringIO()
    gone.close()
    with pytest.raises(MessengerUnavailable, match="cannot write to the terminal"):
        await PlainScreen(gone, echo=True).notice("hello")


# Exports ----------------------------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    """The files in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def test_an_export_is_saved_and_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("mine", encoding="utf-8")
    events, out = await chat("/export a.json\n/export a.json\n/export\n", folder=tmp_path)

    assert [event.argument for event in events if isinstance(event, PersonCommand)] == ["json", "json", ""]
    assert names(tmp_path) == ["a-2.json", "a-3.json", "a.json", "lessons.json"]
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "a-2.json").read_bytes() == b"[]"
    assert (tmp_path / "a-2.json").stat().st_mode & 0o077 == 0
    assert f"1 lesson.\n-- saved to {tmp_path / 'a-2.json'}\n" in out


async def test_an_export_that_cannot_be_saved_says_why(tmp_path: Path) -> None:
    _, out = await chat("/export no/such/folder/a.csv\n", folder=tmp_path)
    where = tmp_path / "no/such/folder/a.csv"
    assert f"-- cannot save {where}: No such file or directory; give another place with /export FILE\n" in out
    assert names(tmp_path) == []


# Ends of the process ----------------------------------------------------------------------------------------------


class _Ends(io.TextIOWrapper):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="ascii")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def fileno(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("typed", "shown", "environ", "expected"),
    [
        (True, True, {"TERM": "xterm"}, (True, True, False)),
        (True, True, {"NO_COLOR": "1"}, (True, False, False)),
        (True, True, {"TERM": "dumb"}, (False, False, False)),
        (True, False, {}, (False, False, False)),
        (False, True, {}, (False, False, True)),
    ],
)
def test_only_a_person_at_both_ends_gets_colour_and_a_prompt(
    monkeypatch: pytest.MonkeyPatch,
    typed: bool,
    shown: bool,
    environ: dict[str, str],
    expected: tuple[bool, bool, bool],
) -> None:
    output = _Ends(shown)
    monkeypatch.setattr("sys.stdin", _Ends(typed))
    monkeypatch.setattr("sys.stdout", output)
    streams = standard_streams(environ)

    assert (streams.interactive, streams.color, streams.echo) == expected
    streams.stdout.write("👍")
    streams.stdout.flush()
    assert output.buffer.getvalue() == b"?"  # type: ignore[attr-defined]  # a BytesIO, see _Ends


async def test_lines_typed_into_a_redirected_chat_are_not_repeated() -> None:
    out = io.StringIO()
    await PlainScreen(out, echo=Streams(stdin=FedPipe(), stdout=out, echo=False).echo).typed("ana", "hello")
    assert out.getvalue() == ""


def test_the_platform_is_the_terminal() -> None:
    messenger, _ = piped(FedPipe(), wait=nothing_to_wait_for)
    assert isinstance(messenger, Recorded)
    assert messenger.platform == "terminal"
