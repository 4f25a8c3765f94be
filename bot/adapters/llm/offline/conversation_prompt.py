"""Parses the conversation in a prompt: the message to understand, and the question before it."""

import re

from bot.adapters.llm.offline.prompt_parser import lines_within, unescaped

_MESSAGE_BEGINS, _MESSAGE_ENDS = "<last-message>\n", "\n</last-message>"
_SAYING = "Said as: "
_REMARKS = ("👍", "👎", "🗣")
"""How messages that are feedback, not questions, begin once they are understood."""
_LINE = re.compile(r'- (?P<who>asker|person|you|meant)(?: "[^"]*")?(?P<reply> \(replied to now\))?: (?P<text>.*)')


def read_last_message(prompt: str) -> str | None:
    """The message to understand; None if the prompt asks for something else."""
    begin = prompt.rfind(_MESSAGE_BEGINS)
    if begin < 0 or not prompt.endswith(_MESSAGE_ENDS):
        return None
    return unescaped(prompt[begin + len(_MESSAGE_BEGINS) : -len(_MESSAGE_ENDS)])


def read_last_question(prompt: str) -> str:
    """The question that the message continues, rewritten to stand alone; empty without one.

    It is the one whose answer is replied to, else the last. Feedback and preferences are no questions.
    """
    asked = answered = ""
    for line in _chat_lines(lines_within("conversation", prompt)):
        if line["who"] != "you":
            is_remark = line["who"] == "meant" and line["text"].startswith(_REMARKS)
            asked = "" if is_remark else line["text"]
            continue
        answered = asked or answered
        if answered and line["reply"]:
            break
    return answered


def read_followed(prompt: str) -> str:
    """The question that a node's goal continues; empty if the goal was not rewritten."""
    before = prompt.rpartition("\n<goal>\n")[0]
    if not any(line.startswith(_SAYING) for line in lines_within("situation", before)):
        return ""
    return read_last_question(before)


def _chat_lines(lines: list[str]) -> list[dict[str, str]]:
    """The messages, with their indented continuation lines."""
    found: list[dict[str, str]] = []
    for line in lines:
        if match := _LINE.fullmatch(line):
            found.append({name: value or "" for name, value in match.groupdict().items()})
        elif found and line.startswith("  "):
            found[-1]["text"] += f"\n{line[2:]}"
    return [{**each, "text": unescaped(each["text"])} for each in found]
