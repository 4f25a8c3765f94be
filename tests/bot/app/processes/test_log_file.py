"""What the log shows of texts that it did not write."""

import logging
import sys

from bot.app.processes.log_file import SecretlessFormatter

HOSTILE = "a\n2026-11-30 ERROR bot all is lost \x1b[31m\x9b1m\u202e"


def test_no_text_in_a_line_makes_another_line_or_steers_a_terminal() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        record = logging.makeLogRecord(
            {"msg": "tool %s failed", "args": (HOSTILE,), "levelname": "ERROR", "exc_info": sys.exc_info()}
        )
    first, *rest = SecretlessFormatter().format(record).split("\n")
    assert first.endswith("tool a\\n2026-11-30 ERROR bot all is lost \\x1b[31m\\x9b1m\\u202e failed")
    assert rest[0].startswith("Traceback")
    assert all(line.isprintable() for line in rest)


def test_a_secret_on_a_line_of_its_own_is_removed_from_the_one_line() -> None:
    secret = "sk-" + "abcdefghijklmnopqrstuvwxyz0123456789"
    record = logging.makeLogRecord({"msg": "the server said %s", "args": (f"no:\n{secret}\tBearer\n{secret}",)})
    assert secret not in SecretlessFormatter().format(record)
