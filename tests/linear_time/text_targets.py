"""Everything in the memory and at the bot's edges that reads people's text, the language models apart."""

import asyncio
import io
import itertools
import json
import logging
from collections.abc import Callable
from contextlib import suppress

from pydantic_ai.messages import ModelResponse, TextPart

from bot.adapters import attachments, command_words, commonmark, naming
from bot.adapters.discord import plain_text as discord_plain
from bot.adapters.discord.outgoing import markdown as discord_markdown, posting as discord_posting
from bot.adapters.link_labels import with_real_addresses
from bot.adapters.llm.written_calls import text_of
from bot.adapters.slack import events as slack_events
from bot.adapters.slack.outgoing import blocks, mrkdwn, streaming
from bot.adapters.terminal import commands, interactive, reactions, screen
from bot.adapters.terminal.answer_list import AnswerList
from bot.adapters.terminal.piped_lines import PipedLines
from bot.app.processes.log_file import SecretlessFormatter
from bot.cli import output
from bot.conversation.answers import unknown_answers
from bot.conversation.feedback import feedback_in_words, handler, note_in_words, remarks
from bot.conversation.listening import follow_up
from bot.errors import CommandRefused
from bot.model import BotMessage
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.secrets import FormatFinder
from memory.library import import_
from memory.model import Audience, Episode, Exemplar, Lesson, Verdict
from memory.model.entry import ActionCall
from memory.model.teaching import emoji_spellings
from memory.rules import consolidation, quarantine
from memory.rules.evidence.named_action import named_action
from memory.rules.redaction import Redactor
from memory.rules.retrieval import adapter, consensus, prompt, similarity
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.use_detection import KeywordDetector, OverlapDetector, polarity, vocabulary, words as feedback_words
from memory.rules.use_detection.similarity import SimilarityDetector
from memory.rules.verdict import is_of_oneself
from memory.services.reports.gaps import has_words
from tests.doubles.emoji import DEFAULT_EMOJI
from tests.linear_time.target import Target

_LESSON = "The password of the guest network is not on the board; it is room 5, page 12, in the well-known folder."


def _episode(*, goal: str, output: str = "", correction: str = "", action: str = "answer") -> Episode:
    return Episode(goal=goal, output=output, correction=correction, action=action)


def _detect(
    lesson: Lesson = Lesson.REPEAT,
    *,
    output: str = _LESSON,
    correction: str = "",
    question: str = "where?",
    answer: str,
) -> object:
    episode = _episode(goal="where is the guest network?", output=output, correction=correction, action="answer")
    exemplar = Exemplar(
        episode=episode,
        verdict=Verdict.SUCCESS if lesson is Lesson.REPEAT else Verdict.FAILURE,
        audience=Audience.PERSONAL,
        context_score=1.0,
        intent_score=0.9,
        relevance=0.9,
    )
    similar = SimilarityDetector(detector=OverlapDetector(), similarity=lambda one, other: 0.5)
    return similar.detect(exemplar, question, answer, "answer")


_LANGUAGES = vocabulary.all_languages()


def _answer(text: str) -> BotMessage:
    return BotMessage(workspace="w", channel="c", text=text, is_answer=True, lessons=(text, "short"))


def _named(text: str) -> object:
    async def name_of(person: str) -> str:
        return text

    message = BotMessage(workspace="w", channel="c", text=text, people=("U1", "U2"))
    return asyncio.run(naming.by_name(message, name_of))


def _react(text: str) -> object:
    """Every emoji of a line, or every word as if it were one, put on and taken off again."""
    answers = AnswerList()
    answers.add("m")
    every = reactions.reactions_in(text) or text.split()
    put = [each for each in every if answers.react("m", "ana", each)]
    return [answers.unreact("m", "ana", each) for each in put]


def _parse(line: str) -> object:
    try:
        return commands.parse(line)
    except CommandRefused as refusal:
        return refusal


def _read_lines(text: str) -> object:
    async def read() -> int:
        lines = PipedLines(io.BytesIO(text.encode(errors="replace")))
        for count in itertools.count():
            with suppress(CommandRefused):
                if await lines.read("ana") is None:
                    return count
        raise AssertionError("the lines have no end")

    return asyncio.run(read())


def _log(text: str) -> object:
    return SecretlessFormatter("%(message)s").format(logging.makeLogRecord({"msg": text}))


def _rendered(text: str) -> object:
    from rich.console import Console

    Console(file=io.StringIO(), force_terminal=True, width=80).print(interactive._markdown(text))
    return None


def _table(text: str) -> object:
    output.print_table(["one", "two"], [[text, text]])
    return None


def _rule(text: str) -> object:
    lessons = [_episode(goal=f"{text} {number}", output=text, correction=text, action="answer") for number in (1, 2)]
    return [consolidation.rule_line(rule, lessons, 2) for rule in consolidation.rules_of("w", lessons, 2)]


_TARGETS: dict[str, Callable[[str], object]] = {
    # memory/rules/use_detection
    "words.clauses": feedback_words.clauses,
    "words.terms": lambda text: feedback_words.terms(text, _LANGUAGES),
    "words.says_something": feedback_words.says_something,
    "words.has_words": feedback_words.has_words,
    "gaps.has_words": has_words,
    "words.content_words": feedback_words.content_words,
    "vocabulary.fold": vocabulary.fold,
    "vocabulary.languages_of": lambda text: vocabulary.languages_of([text, text]),
    "polarity.simplified": lambda text: polarity.simplified(text, _LANGUAGES),
    "polarity.Denials": lambda text: polarity.Denials(text, _LANGUAGES),
    "polarity.admits_ignorance": lambda text: polarity.admits_ignorance(text, _LANGUAGES),
    "polarity.stance": lambda text: polarity.yes_or_no(text, _LANGUAGES),
    "detector, question": lambda text: _detect(question=text, answer=_LESSON),
    "detector, lesson and answer": lambda text: _detect(output=text, answer=f"not {text[: len(text) // 2]} 7 {text}"),
    "detector, mistake and correction": lambda text: _detect(
        Lesson.AVOID,
        output=text,
        correction=text[len(text) // 2 :],
        question="where is it?",
        answer=f"{text} 12 rooms",
    ),
    "keyword detector, answer": lambda text: KeywordDetector().match(_LESSON, text),
    "keyword detector, lesson": lambda text: KeywordDetector().match(text, _LESSON),
    # memory/rules/retrieval
    "similarity.word_similarity": lambda text: similarity.word_similarity(text, text[::-1]),
    "prompt.neutralise": prompt.neutralise,
    "prompt.escapes": prompt.escapes,
    "prompt.indented": prompt.indented,
    "prompt.shown_line": lambda text: prompt.shown_line(text, 80),
    "prompt.lesson_lines": lambda text: prompt.lesson_lines(
        1, Lesson.AVOID, place=text, score=0.5, action=text, target=text, reason=text, correction=text
    ),
    "AnswerWords.says_the_same_as": lambda text: AnswerWords.of(text).says_the_same_as(AnswerWords.of(text[::-1])),
    "named_action": lambda text: named_action(text, ["clock", text[:100]]),
    "consensus.is_same_question": lambda text: consensus.is_same_question(
        _episode(goal=text), _episode(goal=text[::-1]), lambda one, other: 0.5
    ),
    "consensus.is_answered_anew": lambda text: consensus.is_answered_anew(
        _episode(goal=text), _episode(goal=text[::-1]), {}
    ),
    "adapter.action_signature": lambda text: adapter.action_signature("click", element_text=text, value=text),
    # the rest of the memory
    "Redactor.text": Redactor().text,
    "Redactor.text with formats": Redactor(FormatFinder()).text,
    "Redactor.value": lambda text: Redactor().value({text: text, "a": [text]}),
    "FormatFinder.find": FormatFinder().find,
    "verdict.is_of_oneself": lambda text: is_of_oneself(_episode(goal=text, output=text)),
    "verdict.is_of_oneself, my": lambda text: is_of_oneself(_episode(goal=text, output=f"my {text}")),
    "verdict.is_of_oneself, the": lambda text: is_of_oneself(_episode(goal="my", output=f"the {text}")),
    "quarantine.flags": lambda text: quarantine.flags(text, limit=4000),
    "emoji_spellings": emoji_spellings,
    "EmojiMap.value": DEFAULT_EMOJI.value,
    "rules": _rule,
    "ActionCall.parse": ActionCall.parse,
    "ActionCall.parse, arguments": lambda text: ActionCall.parse(f"fill({text})"),
    "ActionCall.parse, quoted": lambda text: ActionCall.parse(f"fill('{text}, b)"),
    "importing.read_export": lambda text: import_.read_export(json.dumps([{"goal": text, text: 1}])),
    "HashingEmbedder": lambda text: HashingEmbedder().embed([text]),
    # bot/conversation
    "follow_up.asks": follow_up.asks_something,
    "follow_up.asks, after words": lambda text: follow_up.asks_something(f"and of {text}"),
    "remarks.is_greeting": remarks.is_greeting,
    "remarks.is_greeting, after words": lambda text: remarks.is_greeting(f"good morning, bot {text}"),
    "remarks.is_remark": remarks.is_remark,
    "remarks.is_remark, after words": lambda text: remarks.is_remark(f"ok ah {text}"),
    "feedback_in_words.read, question and answer": lambda text: feedback_in_words.feedback_in("no, Ana", text, text),
    "feedback_in_words.read": lambda text: feedback_in_words.feedback_in(text[:600]),
    "feedback_in_words.read, after a refusal": lambda text: feedback_in_words.feedback_in(
        f"no, {text[:500]}", text, text
    ),
    "feedback_in_words.read, after thanks": lambda text: feedback_in_words.feedback_in(
        f"thanks {text[:500]} it worked"
    ),
    "note_in_words.note_in": lambda text: note_in_words.note_in(text[:4000]),
    "note_in_words.note_in, plain": lambda text: note_in_words.note_in(f"remember {text[:3900]} is here now"),
    "note_in_words.note_in, a thing": lambda text: note_in_words.note_in(f"remember that the {text[:3900]} is here"),
    "note_in_words.note_in, no thing": lambda text: note_in_words.note_in(f"remember that the {text[:3900]} b c"),
    "feedback_in_words.answer_after_refusal": feedback_in_words.answer_after_refusal_in,
    "feedback_in_words.answer_after_refusal, name": lambda text: feedback_in_words.answer_after_refusal_in(
        f"Ben {text[:590]}"
    ),
    "feedback_in_words.supplied": lambda text: feedback_in_words.supplied_answer_in(text, "where is it?"),
    "feedback_in_words.supplied, of oneself": lambda text: feedback_in_words.supplied_answer_in(
        "my boss is Tess", f"who is my {text}?"
    ),
    "feedback_in_words.supplied, a question": lambda text: feedback_in_words.supplied_answer_in(
        "it's in the attic", text
    ),
    "feedback_in_words.supplied, after words": lambda text: feedback_in_words.supplied_answer_in(
        f"it's {text[:590]}", "who?"
    ),
    "feedback.dismisses_bot": handler.dismisses_bot,
    "feedback.dismisses_bot, to somebody": lambda text: handler.dismisses_bot(f"not you, @{text}"),
    "written.text_of": lambda text: text_of(ModelResponse(parts=[TextPart(content=text)])),
    "unknown_answers.unknown": lambda text: unknown_answers.unknown_message(text, ""),
    "unknown_answers.asks_to_do": unknown_answers.asks_to_do,
    "unknown_answers.asks_to_do, after words": lambda text: unknown_answers.asks_to_do(f"please remind me of {text}"),
    # bot/adapters
    "commonmark.split, 100": lambda text: commonmark.split(text, 100),
    "commonmark.split, 2000": lambda text: commonmark.split(text, 2000),
    "commonmark.split, 10000": lambda text: commonmark.split(text, 10_000),
    "link_labels": lambda text: with_real_addresses(f"[{text}](https://x.org) [a]({text})"),
    "link_labels, alone": with_real_addresses,
    "attachments.made_of": lambda text: attachments.file_from_content("a", "text/plain", text.encode(errors="replace")),
    "naming.by_name": _named,
    "words.command_in": command_words.command_in,
    "words.command_in, purge": lambda text: command_words.command_in(f"purge {text}"),
    "words.command_in, correct": lambda text: command_words.command_in(f"correct: {text}"),
    "words.slash_command": command_words.slash_command,
    "words.slash_command, note": lambda text: command_words.slash_command(f"remember that the {text}"),
    "Slack, harmless": mrkdwn.defuse_mentions,
    "Slack, to_mrkdwn": mrkdwn.to_mrkdwn,
    "Slack, to_mrkdwn of code": lambda text: mrkdwn.to_mrkdwn(f"- a\n  ```\n{text}\n> b"),
    "Slack, message_blocks": lambda text: blocks.message_blocks(_answer(text)),
    "Slack, fallback_text": lambda text: blocks.fallback_text(text, 20_000),
    "Slack, sections": blocks.sections,
    "Slack, streamed pieces": lambda text: list(streaming._pieces(text)),
    "Slack, letters": streaming._letters,
    "Slack, plain": slack_events.plain_text,
    "Slack, as_command": lambda text: slack_events.as_command(f"purge {text}"),
    "Slack, mentions": lambda text: slack_events.mentions(text, "U1"),
    "Slack, without_mention": lambda text: slack_events.without_mention(text, "U1"),
    "Discord, to_discord": discord_markdown.to_discord,
    "Discord, to_discord of code": lambda text: discord_markdown.to_discord(f"- a\n  ```\n{text}\n> b"),
    "Discord, quietly": discord_markdown.to_discord_quietly,
    "Discord, one_line": lambda text: discord_markdown.one_line(text, 200),
    "Discord, in_parts": discord_posting.in_parts,
    "Discord, without_small_print": discord_posting.without_small_print,
    "Discord, plain": lambda text: discord_plain.plain_text(text, {"1": text}),
    "Discord, as_command": lambda text: discord_plain.as_command(f"purge {text}", {}),
    "Discord, mentions": lambda text: discord_plain.mentions(text, 1, 2),
    "Discord, without_mention": lambda text: discord_plain.without_mention(text, 1, 2),
    "terminal, parse": _parse,
    "terminal, parse a command": lambda text: _parse(f"/{text}"),
    "terminal, parse an argument": lambda text: [_parse(f"/{name} {text}") for name in ("react", "why", "as")],
    "terminal, reactions_in": reactions.reactions_in,
    "terminal, AnswerList": _react,
    "terminal, lines": _read_lines,
    "terminal, one_line": screen.one_line,
    "terminal, Markdown": interactive._markdown,
    "terminal, Markdown on screen": _rendered,
    # bot/app and bot/cli
    "log line": _log,
    "table": _table,
}

TARGETS = tuple(Target(name, run) for name, run in _TARGETS.items())
