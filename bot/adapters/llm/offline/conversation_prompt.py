"""Parses the request for what a message means: the message, and the last question before it with its answer."""

import re
from dataclasses import dataclass

from bot.adapters.llm.offline.prompt_parser import lines_within, unescaped

_MESSAGE_BEGINS, _MESSAGE_ENDS = "<last-message>\n", "\n</last-message>"
_SAYING = "Said as: "
_REMARKS = ("👍", "👎", "🗣")
"""How what was no question is understood."""
_LINE = re.compile(r'- (?P<who>asker|person|you|meant)(?: "[^"]*")?(?P<reply> \(replied to now\))?: (?P<text>.*)')


@dataclass(frozen=True, slots=True, kw_only=True)
class LastQuestion:
    """A question somebody put to the bot, whole, and what it answered."""

    goal: str
    answer: str


def read_last_message(prompt: str) -> str | None:
    """The message to be understood; None if this is another request."""
    begin = prompt.rfind(_MESSAGE_BEGINS)
    if begin < 0 or not prompt.endswith(_MESSAGE_ENDS):
        return None
    return unescaped(prompt[begin + len(_MESSAGE_BEGINS) : -len(_MESSAGE_ENDS)])


def read_last_question(prompt: str) -> LastQuestion | None:
    """The question the conversation in a prompt goes on from: the one that is replied to, else the last.

    What judged an answer, or said how to answer, asks nothing.
    """
    asked, answered = "", None
    for line in _chat_lines(lines_within("conversation", prompt)):
        if line["who"] != "you":
            is_remark = line["who"] == "meant" and line["text"].startswith(_REMARKS)
            asked = "" if is_remark else line["text"]
            continue
        if asked:
            answered = LastQuestion(goal=asked, answer=line["text"])
        if answered and line["reply"]:
            break
    return answered


def read_followed(prompt: str) -> str:
    """The question that a node's goal goes on from; empty where the goal is what the person said."""
    before = prompt.rpartition("\n<goal>\n")[0]
    if not any(line.startswith(_SAYING) for line in lines_within("situation", before)):
        return ""
    last = read_last_question(before)
    return last.goal if last else ""


def _chat_lines(lines: list[str]) -> list[dict[str, str]]:
    """What was said, each with its continuation lines, which are set in."""
    found: list[dict[str, str]] = []
    for line in lines:
        if match := _LINE.fullmatch(line):
            found.append({name: value or "" for name, value in match.groupdict().items()})
        elif found and line.startswith("  "):
            found[-1]["text"] += f"\n{line[2:]}"
    return [{**each, "text": unescaped(each["text"])} for each in found]
