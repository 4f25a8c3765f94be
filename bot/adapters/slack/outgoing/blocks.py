"""Builds Slack's blocks: messages, the buttons under an answer, the question after a 👎, modals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.adapters import forms
from bot.adapters.command_words import ParsedCommand
from bot.adapters.slack.outgoing.mrkdwn import defuse_mentions, escaped, to_mrkdwn
from bot.model import BotMessage, Choice
from memory.model import Audience

Block = dict[str, Any]

VOTE = "goodbot_vote"
VOTE_UP, VOTE_DOWN = "up", "down"
TELL, RETRY, NOT_NOW = "goodbot_tell", "goodbot_retry", "goodbot_not_now"
CORRECTION_VIEW, TEACHING_VIEW, ANSWER_VIEW = "goodbot_correction", "goodbot_teaching", "goodbot_answer"
TEACH_SHORTCUT, WHY_SHORTCUT = "goodbot_teach", "goodbot_why"

PART_LIMIT = 10_000
"""Longest part of an answer, in UTF-16 units. A `markdown` block takes 12,000 characters and a whole message fails near
13,200 (bolt-js#2509); defusing mentions may lengthen a text by a fifth, lessons and buttons take the rest."""

_INPUT_LIMIT = 3000
_SECTION_LIMIT = 3000
_LESSON_LIMIT = 400
_FALLBACK_LIMIT = 3000
"""A notification needs no more; Slack advises at most 4,000 characters of `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReference:
    """The answer that a button or modal is about. It is stored in the button or modal, so it survives restarts."""

    channel: str
    ts: str
    thread: str = ""
    by: Sequence[str] = ("", "")
    """Whose messages the form for a lesson was filled in with: the question's author, and the answer's."""

    def packed(self) -> str:
        """The reference as text, for a button's value or a modal's private metadata."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def unpacked(cls, text: str) -> "AnswerReference":
        """The reference from the text made by `packed`."""
        return cls(**json.loads(text))


# Messages ---------------------------------------------------------------------------------------------------------


def message_blocks(message: BotMessage) -> list[Block]:
    """The blocks of a message: its text as CommonMark and, under an answer's last part, used lessons and thumbs.

    A notice has buttons only if one person alone sees it, or if they are for all, as a press replaces the message by
    the reply to the presser. An answer's buttons are for everybody who sees it.
    """
    is_seen_alone = bool(message.private_to) or message.channel.startswith("D")
    has_choices = not message.is_answer and (is_seen_alone or message.is_for_all)
    choices = choice_blocks(message.choices) if has_choices else []
    return [{"type": "markdown", "text": defuse_mentions(message.text) or " "}, *under_answer(message), *choices]


def under_answer(message: BotMessage) -> list[Block]:
    """The blocks after the text."""
    blocks: list[Block] = []
    if message.note:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": escaped(message.note)}]})
    if message.lessons:
        used = [f"↳ used lesson: {escaped(defuse_mentions(lesson)[:_LESSON_LIMIT])}" for lesson in message.lessons[:10]]
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": line} for line in used]})
    if message.is_answer and message.choices:
        blocks += choice_blocks(message.choices)
    elif message.is_answer and message.is_last:
        blocks.append({"type": "context_actions", "elements": [_thumbs()]})
    return blocks


def fallback_text(text: str, limit: int = _FALLBACK_LIMIT) -> str:
    """The text for notifications, and for clients that show no blocks.

    It is cut before it is parsed, because parsing a whole part would block the event loop for too long.
    """
    return to_mrkdwn(text[:limit])[:limit] or "…"


def _thumbs() -> Block:
    return {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": {
            "text": plain_text_object("Right"),
            "value": VOTE_UP,
            "accessibility_label": "This answer is right",
        },
        "negative_button": {
            "text": plain_text_object("Wrong"),
            "value": VOTE_DOWN,
            "accessibility_label": "This answer is wrong",
        },
    }


def question_blocks(question: str, answer: AnswerReference) -> list[Block]:
    """The private question to a person who reacted 👎."""
    offered = (("Correct it", TELL), ("Try again", RETRY), ("Not now", NOT_NOW))
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": to_mrkdwn(question)[:_SECTION_LIMIT]}},
        {"type": "actions", "elements": [button(label, act, answer.packed()) for label, act in offered]},
    ]


# Commands as buttons under a private message. A button holds all it needs, so it works after a restart ---------------

CHOICE = "goodbot_choice_"
"""Prefix of the action ids of choices in messages; a number follows."""
HOME_CHOICE = "goodbot_home_choice_"
"""The same on App Home."""

_IN_BLOCK = 25
_MOST_BLOCKS = 4
_LONGEST_LABEL = 75
_LONGEST_TITLE = 150
"""25 elements in a block of actions, 50 blocks in a message, 75 characters on a button (Slack's "Block Kit")."""


def choice_blocks(choices: Sequence[Choice], begin: str = CHOICE) -> list[Block]:
    """The choices as buttons. `begin` is the prefix of their action ids."""
    shown = choices[: _IN_BLOCK * _MOST_BLOCKS]
    buttons = [
        button(
            choice.label[:_LONGEST_LABEL] or "…",
            f"{begin}{number}",
            json.dumps([choice.command, choice.argument], separators=(",", ":")),
        )
        | ({"style": "danger"} if choice.is_danger else {})
        for number, choice in enumerate(shown)
    ]
    return [
        {"type": "actions", "elements": buttons[start : start + _IN_BLOCK]}
        for start in range(0, len(buttons), _IN_BLOCK)
    ]


def pressed_command(action: Mapping[str, Any]) -> ParsedCommand:
    """The command behind a pressed button."""
    command, argument = json.loads(str(action["value"]))
    return ParsedCommand(str(command), str(argument))


# Modals -----------------------------------------------------------------------------------------------------------


def correction_view(answer: AnswerReference) -> Block:
    """The modal for a correction; all its fields are optional."""
    reasons = {
        "type": "radio_buttons",
        "action_id": forms.REASON,
        "options": [_option(r.capitalize(), r) for r in forms.REASONS],
    }
    again = {"type": "checkboxes", "action_id": forms.AGAIN, "options": [_option("Try again now", "yes")]}
    return _modal(
        "What was wrong?",
        CORRECTION_VIEW,
        answer.packed(),
        [
            _input("What was wrong?", forms.REASON, reasons, optional=True),
            _input("What would have been right?", forms.BETTER, _text_input(forms.BETTER, ""), optional=True),
            _input("And now?", forms.AGAIN, again, optional=True),
        ],
    )


def teaching_view(place: AnswerReference, question: str, answer: str) -> Block:
    """The modal for a lesson: question, answer, audience."""
    audiences = [
        _option("Just me", Audience.PERSONAL),
        _option("This channel", Audience.CHANNEL),
        _option("The whole workspace", Audience.WORKSPACE),
    ]
    choice = {
        "type": "radio_buttons",
        "action_id": forms.AUDIENCE,
        "options": audiences,
        "initial_option": audiences[0],
    }
    return _modal(
        "Teach the bot",
        TEACHING_VIEW,
        place.packed(),
        [
            _input("When somebody asks", forms.QUESTION, _text_input(forms.QUESTION, question)),
            _input("the right answer is", forms.ANSWER, _text_input(forms.ANSWER, answer)),
            _input("Whom is it for? Others get it when a teacher approves it.", forms.AUDIENCE, choice),
        ],
    )


def answer_view(place: AnswerReference, label: str, answer: str = "") -> Block:
    """The modal for the answer to an unanswered question, or of a waiting lesson, whose id is `place.ts`."""
    text = _text_input(forms.ANSWER, answer)
    field = _input(label[:_LONGEST_TITLE] or "What would have been right?", forms.ANSWER, text)
    return _modal("Teach the bot", ANSWER_VIEW, place.packed(), [field])


def entered_values(view: Mapping[str, Any]) -> dict[str, str]:
    """The entered texts and choices of a submitted modal, by field; empty fields are left out."""
    fields: dict[str, str] = {}
    for name, block in view["state"]["values"].items():
        state = block.get(name, {})
        chosen: Mapping[str, Any] = state.get("selected_option") or next(iter(state.get("selected_options") or ()), {})
        if text := str(chosen.get("value") or state.get("value") or "").strip():
            fields[name] = text
    return fields


def filled_in(view: Mapping[str, Any]) -> dict[str, str]:
    """The texts that a submitted modal was filled in with, by field."""
    found = {block.get("block_id", ""): block.get("element") or {} for block in view.get("blocks") or ()}
    return {name: str(element["initial_value"]) for name, element in found.items() if element.get("initial_value")}


def sections(text: str, most: int = 30) -> list[Block]:
    """Text as sections, at most `most`, cut between lines."""
    parts, current = list[str](), ""
    for line in to_mrkdwn(text).split("\n"):
        if current and len(current) + len(line) + 1 > _SECTION_LIMIT:
            parts.append(current)
            current = ""
        current = f"{current}\n{line}"[:_SECTION_LIMIT] if current else line[:_SECTION_LIMIT]
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": part}} for part in (*parts, current) if part.strip()
    ][:most]


# Parts ------------------------------------------------------------------------------------------------------------


def _modal(title: str, callback_id: str, metadata: str, inputs: Sequence[Block]) -> Block:
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "title": plain_text_object(title),
        "submit": plain_text_object("Send"),
        "close": plain_text_object("Cancel"),
        "blocks": list(inputs),
    }


def _input(label: str, name: str, element: Block, *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "optional": optional,
        "label": plain_text_object(label),
        "element": element,
    }


def _text_input(name: str, initial: str) -> Block:
    element: Block = {"type": "plain_text_input", "action_id": name, "multiline": True, "max_length": _INPUT_LIMIT}
    return element | ({"initial_value": initial[:_INPUT_LIMIT]} if initial else {})


def _option(label: str, value: str) -> Block:
    return {"text": plain_text_object(label), "value": str(value)}


def button(label: str, action_id: str, value: str = "") -> Block:
    """A button with a value, which its payload returns."""
    return {"type": "button", "text": plain_text_object(label), "action_id": action_id} | (
        {"value": value} if value else {}
    )


def plain_text_object(text: str) -> Block:
    """Slack's object for plain text."""
    return {"type": "plain_text", "text": text}
