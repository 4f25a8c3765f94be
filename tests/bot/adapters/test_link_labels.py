"""Links whose label names another host than the one they lead to."""

import pytest

from bot.adapters.link_labels import with_real_addresses


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "See [https://bank.example/in](https://evil.example/x).",
            "See https://bank.example/in (https://evil.example/x).",
        ),
        ("[bank.com](https://evil.example)", "bank.com (https://evil.example)"),
        ("[bank.com/login](<https://evil.example/a b>)", "bank.com/login (https://evil.example/a b)"),
        ("[**bank.com**](https://evil.example 'Bank')", "**bank.com** (https://evil.example)"),
        ("[[bank.com]](https://evil.example)", "[bank.com] (https://evil.example)"),
        ("![www.bank.com](https://evil.example/i.png)", "www.bank.com (https://evil.example/i.png)"),
        ("[go to www.bank.com now](//bank.com@evil.example/)", "go to www.bank.com now (//bank.com@evil.example/)"),
        ("[http://notbank.com](https://bank.com)", "http://notbank.com (https://bank.com)"),
        ("[https://bank.com](https://[evil)", "https://bank.com (https://[evil)"),
        (r"[https://bank.com](https://evil.com\\@bank.com)", r"https://bank.com (https://evil.com\\@bank.com)"),
        ("[bank.com](https:/evil.com)", "bank.com (https:/evil.com)"),
        ("[bank.com](https://evil.com (Bank))", "bank.com (https://evil.com)"),
    ],
)
def test_the_real_address_stands_beside_a_label_that_shows_another(text: str, shown: str) -> None:
    assert with_real_addresses(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "[docs](https://x.org) and [https://x.org/a_(b)](https://x.org/a_(b))",
        "[github.com](https://www.github.com/x), [www.x.org](https://docs.x.org), [http://X.org.](https://x.org)",
        "[README.md](https://github.com/a/README.md)",
        "[v1.2](https://x.org), [e.g](https://x.org), [2.5 Gb](https://x.org), [the file a.py here](https://x.org)",
        "[ana@bank.com](mailto:ana@bank.com), [bank.com](/local), [notes](docs/notes.md)",
        "https://x.org, [bank.com] (https://evil.example), [bank.com](https://evil.example",
    ],
)
def test_other_links_stay(text: str) -> None:
    assert with_real_addresses(text) == text
