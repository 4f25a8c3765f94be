"""Text in both directions: what people wrote in Slack's dialect, what the bot says in CommonMark, typed commands."""

import re

import pytest
from hypothesis import given, strategies as st

from bot.adapters.command_words import ParsedCommand, after_mention, command_in, slash_command
from bot.adapters.commonmark import INVISIBLE
from bot.adapters.slack.events import mentions, plain_text, without_mention
from bot.adapters.slack.outgoing.mrkdwn import defuse_mentions, to_mrkdwn

# From Slack -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("see <https://x.org/a?b=1&amp;c=2>", "see https://x.org/a?b=1&c=2"),
        ("see <https://x.org|the page>", "see the page (https://x.org)"),
        ("see <https://x.org/|x.org>", "see https://x.org/"),
        ("<mailto:a@b.c|a@b.c>", "a@b.c"),
        ("in <#C1|general> and <#C2>", "in #general and #a-channel"),
        ("<@U1> and <@U2|ben>", "@somebody and @ben"),
        ("<!here> <!channel> <!subteam^S1|@teachers> <!subteam^S1>", "@here @channel @teachers @a-group"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_people_s_text_is_read_as_they_see_it(text: str, expected: str) -> None:
    assert plain_text(text) == expected


@pytest.mark.parametrize(
    "text", ["<@UBOT> why?", "<@UBOT>, why?", " <@UBOT>: why?", "why? <@UBOT>", "<@UBOT|bot> why?"]
)
def test_the_mention_of_the_bot_is_no_part_of_the_question(text: str) -> None:
    assert mentions(text, "UBOT")
    assert without_mention(text, "UBOT") == "why?"


def test_other_people_s_mentions_stay() -> None:
    assert not mentions("<@UBOT2> hi", "UBOT")
    assert without_mention("<@UBOT> ask <@U2> first", "UBOT") == "ask <@U2> first"


# To Slack ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A *title*", "*A title*"),
        ("# a < b & &#60;!-- x --&#62;", "*a &lt; b &amp; &lt;!-- x --&gt;*"),
        ("**bold** _it_ ~~gone~~ `a<b`", "*bold* _it_ ~gone~ `a&lt;b`"),
        ("[label](https://x.org/?a=1&b=2)", "<https://x.org/?a=1&amp;b=2|label>"),
        ("![chart](https://x.org/c.png)", "<https://x.org/c.png|chart>"),
        (
            "[bank.com](https://x.org) `[bank.com](https://x.org)`",
            "bank.com (https://x.org) `[bank.com](https://x.org)`",
        ),
        ("[the notes](docs/notes.md) [x](!channel)", "the notes (docs/notes.md) x (!channel)"),
        ("[![build](https://x.org/b.svg)](https://x.org)", "<https://x.org|build>"),
        ("- one\n  - two\n- three", "• one\n    • two\n• three"),
        ("3. c\n4. d", "3. c\n4. d"),
        ("> said\n> so", "> said\n> so"),
        ("```python\nif a < b:\n```", "```\nif a &lt; b:\n```"),
        ("| a | b |\n|---|---|\n| 1 | 22 |", "```\na | b\n1 | 22\n```"),
        ("a & b <i>c</i>", "a &amp; b &lt;i&gt;c&lt;/i&gt;"),
        ("one\n\ntwo\nthree", "one\n\ntwo\nthree"),
    ],
)
def test_commonmark_becomes_mrkdwn(text: str, expected: str) -> None:
    assert to_mrkdwn(text) == expected


BELLS = (
    "<!channel>", "<!here>", "<!everyone>", "<!here|here>", "<@U0123ABC>", "<@U0123ABC|ana>", "<!subteam^S123|@team>",
    "<!subteam^S123>", "@everyone", "@here", "@channel", "@CHANNEL", "&lt;!channel&gt;", "＠everyone",
    "&#60;!channel&#x3E;",
    "<@U0123ABC|R&D>", "<!here|a&amp;b>", "[hi](!channel)", "[hi](<!here>)", "![hi](@U0123ABC)", "[hi](!subteam^S123)",
)  # fmt: skip


@pytest.mark.parametrize("bell", BELLS)
@pytest.mark.parametrize("around", ["{}", "`{}`", "```\n{}\n```", "[{}](https://x.org)", "**{}** now", "a{}b", "# {}"])
def test_nothing_the_model_says_rings(bell: str, around: str) -> None:
    for shown in (defuse_mentions(around.format(bell)), to_mrkdwn(around.format(bell))):
        assert re.search(r"<[!@]|&(lt|#60);[!@]|[@＠](everyone|here|channel)\b", shown, re.IGNORECASE) is None
    assert re.search(r"\]\(<?(![a-z]|@U)", defuse_mentions(around.format(bell))) is None


CODE = (
    "@group.command()\n<!--x--><!DOCTYPE><?php\nList<@NonNull, @UserId> a;\n"
    "Set<@UserId> b = f(@here.b, '<@app.route>');\n&lt;!-- &amp;"
)


@pytest.mark.parametrize(
    "fence", ["```\n{}\n```", "~~~html\n{}\n~~~", "- a\n  ```\n{}\n  ```", "x\n````\n{}\n```\n````\ny"]
)
def test_code_between_fences_keeps_its_characters(fence: str) -> None:
    text = fence.format(CODE)
    assert defuse_mentions(text) == text
    assert CODE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in to_mrkdwn(f"```\n{CODE}\n```")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("```@group.command()\n&lt;!--x--&gt;```", "```\n@group.command()\n<!--x-->\n```"),
        (
            "use ```@group.command()``` and ```ls\npwd``` then",
            "use\n```\n@group.command()\n```\nand\n```\nls\npwd\n```\nthen",
        ),
        ("so:\n```@group.command()\nx\n```\nnow", "so:\n```\n@group.command()\nx\n```\nnow"),
        ("```ls\npwd```", "```\nls\npwd\n```"),
    ],
)
def test_code_as_slack_writes_it_is_code_in_commonmark(written: str, read: str) -> None:
    assert plain_text(written) == read
    assert defuse_mentions(read) == read


@pytest.mark.parametrize(
    "text",
    [
        "```\nx\n```",
        "```python\nx\n```\ny",
        "> ```\n> x\n> ```",
        "- a\n  ```\n  x\n  ```",
        "x ``` y",
        "````\n```\n````",
        "``` ```",
    ],
)
def test_code_on_lines_of_its_own_stays_as_it_is(text: str) -> None:
    assert plain_text(text) == text


@given(st.lists(st.sampled_from(["```", "\n", " ", "x", ">", "py"]), max_size=14).map("".join))
def test_code_is_set_apart_once(text: str) -> None:
    assert plain_text(plain_text(text)) == plain_text(text)
    assert "".join(plain_text(text).split()) == "".join(text.split())


def test_after_the_code_words_are_words_again() -> None:
    assert defuse_mentions("```\n@group.x\n```\nask <@U1> @group.x") == (
        f"```\n@group.x\n```\nask @{INVISIBLE}U1 @{INVISIBLE}group.x"
    )


@given(
    st.lists(
        st.sampled_from([*BELLS, "```", "\n", "~~~", "<", ">", "!", "@", "&lt;", "&gt;", " ", "x", "here"]), max_size=12
    ).map("".join)
)
def test_no_combination_rings_either(text: str) -> None:
    assert re.search(r"<[!@][A-Z0-9a-z^]+(\|[^<>]*)?>", defuse_mentions(text)) is None
    assert re.search(r"<[!@]", to_mrkdwn(text)) is None


@given(st.text())
def test_being_harmless_twice_changes_nothing_more(text: str) -> None:
    assert defuse_mentions(defuse_mentions(text)) == defuse_mentions(text)
    assert len(defuse_mentions(text)) <= len(text) * 1.2 + 1


def test_people_still_read_the_name() -> None:
    assert defuse_mentions("ask <!subteam^S1|@team>, <@U1|ana> or @here") == (
        f"ask @{INVISIBLE}team, @{INVISIBLE}ana or @{INVISIBLE}here"
    )
    assert defuse_mentions("mail me@hereford.org or @Heretic") == "mail me@hereford.org or @Heretic"


# Commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("help", ParsedCommand("help")),
        ("Why?", ParsedCommand("why")),
        ("stop!", ParsedCommand("stop")),
        ("forget me", ParsedCommand("forget", "me")),
        ("forget me yes", ParsedCommand("forget", "me yes")),
        ("forget yes", ParsedCommand("forget", "yes")),
        ("export csv", ParsedCommand("export", "csv")),
        ("correct: It is\nBerlin.", ParsedCommand("correct", "It is\nBerlin.")),
        ("correct: ", ParsedCommand("correct")),
        ("Correct :", ParsedCommand("correct")),
        ("correct\u00a0: Berlin", ParsedCommand("correct", "Berlin")),
        ("correct：Berlin", ParsedCommand("correct", "Berlin")),
        ("correct:\n\n• Berlin", ParsedCommand("correct", "• Berlin")),
        ("correct:(Berlin)", ParsedCommand("correct", "(Berlin)")),
        ("correct: 👍", ParsedCommand("correct", "👍")),
        ("correct:)", None),
        ("correct :-)", None),
        ("correct :+1:", None),
        ("correct:👍", None),
        ("why is the sky blue?", None),
        ("help me write a letter", None),
        ("stop words in German", None),
        ("correct the following text: teh cat", None),
        ("forget it", None),
        ("", None),
    ],
)
def test_a_command_stands_alone(text: str, expected: ParsedCommand | None) -> None:
    assert command_in(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ParsedCommand("help")),
        ("Memory", ParsedCommand("memory")),
        ("forget me yes", ParsedCommand("forget", "me yes")),
        ("correct It is Berlin.", ParsedCommand("correct", "It is Berlin.")),
        ("correct: It is Berlin.", ParsedCommand("correct", "It is Berlin.")),
        ("dance now", ParsedCommand("dance", "now")),
    ],
)
def test_behind_the_slash_the_first_word_is_the_command(text: str, expected: ParsedCommand) -> None:
    assert slash_command(text) == expected


def test_commands_are_spelled_as_they_are_understood() -> None:
    assert command_in(after_mention("goodbot", "undo").removeprefix("@goodbot ")) == ParsedCommand("undo")
    assert command_in(f"{after_mention('goodbot', 'correct')} Berlin.".removeprefix("@goodbot ")) == ParsedCommand(
        "correct", "Berlin."
    )
    assert command_in(after_mention("goodbot", "forget yes").removeprefix("@goodbot ")) == ParsedCommand(
        "forget", "yes"
    )
