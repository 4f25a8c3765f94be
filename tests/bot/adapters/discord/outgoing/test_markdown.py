"""From CommonMark to what Discord shows, and back from what people wrote: by example and by law."""

import re

import pytest
from hypothesis import given, strategies as st

from bot.adapters.commonmark import INVISIBLE, size
from bot.adapters.discord.outgoing.markdown import defuse_mentions, one_line, to_discord, to_discord_quietly
from bot.adapters.discord.outgoing.posting import LIMIT, in_parts
from bot.adapters.discord.plain_text import mentions, plain_text, without_mention


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold** *it* `code` ~~gone~~", "**bold** *it* `code` ~~gone~~"),
        ("__strong__ and snake__case__name", "**strong** and snake__case__name"),
        ("`__init__` stays", "`__init__` stays"),
        ("# One\n## Two\n### Three", "# One\n## Two\n### Three"),
        ("#### Four ####", "**Four**"),
        ("Title\n=====\nText", "# Title\nText"),
        ("Title\n---\nText", "## Title\nText"),
        ("above\n\n---\n\nbelow", "above\n\n──────────\n\nbelow"),
        ("+ one\n- two\n* three", "- one\n- two\n* three"),
        ("- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"),
        (">>> nested", "> nested"),
        ("-# small print", "\\-# small print"),
        ("a || b || c", "a \\|\\| b \\|\\| c"),
        ("![a cat](https://x.org/c.png)", "[a cat](https://x.org/c.png)"),
        ("![](https://x.org/c.png)", "[image](https://x.org/c.png)"),
        ("one<br>two", "one\ntwo"),
        ("~~~python\nx = 1\n~~~", "```python\nx = 1\n```"),
        ("````\n```\ninner\n```\n````", f"```\n``{INVISIBLE}`\ninner\n``{INVISIBLE}`\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("1. ```bash\n   ls\n   ```\n   Then <@1>", f"1. ```bash\nls\n```\n   Then <{INVISIBLE}@1>"),
        ("- a\n  - b\n\n    ```py\n    if x:\n        y\n    ```", "- a\n  - b\n\n    ```py\nif x:\n    y\n```"),
        ("> ```py\n>     x\n> ```", "> ```py\n>     x\n> ```"),
        ("```py\n    ```\nx\n```\n||", f"```py\n    ``{INVISIBLE}`\nx\n```\n\\|\\|"),
        ("```\n@everyone <@1>\n```", "```\n@everyone <@1>\n```"),
        ("| a | b |\n|---|:-:|\n| 1 | two |\n\nafter", "```\na | b\n1 | two\n```\n\nafter"),
        ("<https://x.org> stays", "<https://x.org> stays"),
        (
            "[bank.com](https://x.org) `[bank.com](https://x.org)`",
            "bank.com (https://x.org) `[bank.com](https://x.org)`",
        ),
    ],
)
def test_each_form_becomes_what_discord_has(text: str, shown: str) -> None:
    assert to_discord(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://x.org/a_(b).", "See <https://x.org/a_(b)>."),
        ("(https://x.org/?q=1)", "(<https://x.org/?q=1>)"),
        (
            '[a](https://x.org/a_(b)) and [b](https://y.org "B")',
            '[a](<https://x.org/a_(b)>) and [b](<https://y.org> "B")',
        ),
        ("**https://x.org**", "**<https://x.org>**"),
        ("<https://x.org>, `https://x.org`", "<https://x.org>, `https://x.org`"),
        ("```\nhttps://x.org\n```\nhttps://x.org", "```\nhttps://x.org\n```\n<https://x.org>"),
        ("[https://x.org](https://x.org)", "[https://x.org](<https://x.org>)"),
        ("no links", "no links"),
    ],
)
def test_private_answers_show_no_previews(text: str, shown: str) -> None:
    assert to_discord_quietly(text) == shown


@pytest.mark.parametrize(
    "ping", ["@everyone", "@here", "<@123>", "<@!123>", "<@&123>", "<#123>", "<t:123:R>", "</x:1>"]
)
def test_nothing_in_it_rings_a_bell(ping: str) -> None:
    for text in (ping, f"**{ping}**", f"# {ping}", f"> {ping}", f"- {ping} and {ping}", f"[{ping}](https://x.org)"):
        assert ping not in to_discord(text)
        assert to_discord(text).replace(INVISIBLE, "") == text


pieces = st.sampled_from(
    ["word", "@everyone", "<@1>", "**b**", "__b__", "`c`", "||", "|", "\n", "\n\n", "# ", "-# ", "> ", "---", "===",
     "```", "```\n", "~~~\n", "| a | b |\n|---|---|\n", "👍🏽", "[l](https://x.org)", " ", "\\", "- ", "+ "]
)  # fmt: skip
texts = st.lists(pieces, max_size=60).map("".join)


@given(texts)
def test_outside_of_code_no_mention_survives_whatever_the_text(text: str) -> None:
    fence = False
    for line in to_discord(text).split("\n"):
        if re.match(r"^[ >]*(?:[-*] +)*```[^`]*$", line):
            fence = not fence
        elif not fence:
            bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
            assert "@everyone" not in bare
            assert "<@1>" not in bare
    assert not fence


@given(texts.map(lambda text: text * 40))
def test_every_part_fits_into_a_message_as_it_is_sent(text: str) -> None:
    assert [size(to_discord(part)) for part in in_parts(text) if size(to_discord(part)) > LIMIT] == []


@given(st.text(), st.integers(min_value=2, max_value=80))
def test_one_line_is_one_harmless_line_of_limited_length(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert "\n" not in line
    assert len(line) <= longest
    assert defuse_mentions(line) == line.replace("@everyone", f"@{INVISIBLE}everyone")


# What people wrote ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<@7> hello", "@ana hello"),
        ("<@!7>, in <#8> with <@&9>", "@ana, in #general with @staff"),
        ("<@99> is unknown", "@somebody is unknown"),
        ("a <:parrot:123> and <a:party:456>", "a :parrot: and :party:"),
        ("</goodbot memory:123> please", "/goodbot memory please"),
        ("1 < 2 > 0 & <b>", "1 < 2 > 0 & <b>"),
        ("type ```py\nx = 1``` now", "type\n```py\nx = 1\n```\nnow"),
        ("```ls -l```", "```\nls -l\n```"),
        ("```sh\nls\n```", "```sh\nls\n```"),
    ],
)
def test_people_s_words_are_read_as_they_see_them(text: str, read: str) -> None:
    assert plain_text(text, {"7": "ana", "8": "general", "9": "staff"}) == read


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<@5> hello", "hello"),
        ("<@!5>: hello", "hello"),
        ("  <@5>, hello <@5>!", "hello!"),
        ("hello <@5>", "hello"),
        ("<@5>", ""),
        ("<@55> hello", "<@55> hello"),
    ],
)
def test_the_bot_s_own_mention_is_taken_out(text: str, rest: str) -> None:
    assert without_mention(text, 5) == rest
    assert mentions(text, 5) is (text != "<@55> hello")
