"""`goodbot query`, `stats` and `gaps`: what would be recalled for a question, what is stored, and what is missing."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

import click

from bot.app.wiring.tools import actions_in_chat
from bot.cli.session import (
    Result,
    memory_command,
    scope_in_terminal,
    settings_of,
    workspace_option,
    workspaces_named,
)
from bot.conversation.counts import count
from bot.conversation.explanations.evidence_explanation import explain_evidence
from bot.conversation.reply import short_id
from memory.errors import InvalidInput
from memory.rules.intervals import Interval
from memory.rules.retrieval.prompt import percent, shown_line
from memory.services import Memory
from memory.services.recording.spending import SpendingReport, Spent
from memory.services.settings.control_arm import LEAST, ArmComparison, ComparedMeasure

_AS_JSON = ("retrieval_id", "goal", "exemplars", "counts", "rules")
"""The fields of a recollection that `--json` prints, beside the record of its evidence."""


@click.command()
@click.argument("text")
@click.option("--workspace", default="", help="Ask in this workspace; the terminal's by default.")
@click.option("--channel", default="", help="Ask in this channel.")
@click.option("--person", default="", help="Ask as this person.")
@click.option("--direct", is_flag=True, help="Ask as in a direct message.")
@click.option("--k", type=click.IntRange(1, 50), default=4, show_default=True, help="How many at most.")
@memory_command
def query(memory: Memory, *, text: str, workspace: str, channel: str, person: str, direct: bool, k: int) -> Result:
    """Show which lessons a question would be answered with, for one person in one place. Changes nothing.

    It is recalled as in chat, by what all lessons near the question say together, but for tools of MCP servers, which
    are not connected. A channel counts as public, private or direct as it was when something last happened there.
    """
    if not text.strip():
        raise InvalidInput("there is nothing to look for: give the question as people would ask it")
    workspaces_named(memory, workspace)
    scope = scope_in_terminal(workspace, channel, person, is_direct=direct)
    if not direct:
        scope = memory.channels.last_known(scope)
    config = replace(memory.recalling.config, final_k=k)
    context = frozenset({f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"})
    actions = actions_in_chat(settings_of(), memory, scope)
    recollection = memory.recalling.recall(scope, text, context=context, config=config, actions=actions)
    evidence = recollection.evidence.record if recollection.evidence is not None else None
    lines = []
    if recollection.vector is None:
        lines.append("The embedder failed, so words alone were compared; `goodbot doctor` says why.")
    for exemplar in recollection.exemplars:
        episode = exemplar.episode
        lines.append(
            f"{exemplar.lesson.value:<6} {percent(exemplar.relevance):>3}%  [{short_id(episode.id)}]  "
            f"“{shown_line(episode.goal, 60)}” → {shown_line(episode.output, 80)}{_right_instead(episode.correction)}"
        )
    if not recollection.exemplars:
        lines.append("Nothing is near enough to be recalled.")
    if evidence is not None:
        weighed = {each: memory.audit.get(scope.workspace, each) for each in evidence.episode_ids}
        lines += explain_evidence(evidence, weighed, scope)
    lines.append(", ".join(f"{name} {value}" for name, value in asdict(recollection.counts).items()))
    as_json = {name: getattr(recollection, name) for name in _AS_JSON} | {"evidence": evidence}
    return Result(as_json, "\n".join(lines))


def _right_instead(correction: str) -> str:
    return f" (right would have been: {shown_line(correction, 80)})" if correction else ""


@click.command()
@workspace_option
@memory_command
def stats(memory: Memory, workspace: str) -> Result:
    """Count what is remembered, by workspace."""
    names = workspaces_named(memory, workspace)
    found = {name: memory.audit.statistics(name) for name in names}
    arms = {name: memory.control_arm.compare(name) for name in names}
    spent = {name: memory.spending.report(name) for name in names}
    lines = [
        line
        for name, (numbers, decided) in found.items()
        for line in (
            shown_line(name, 120),
            f"  {decided}",
            *(f"  {what:<22} {number}" for what, number in numbers.items()),
            *([f"  {saved_by_known_answers(numbers)}"] if numbers["answers.without_model"] else []),
            *(f"  {line}" for line in [*spending_lines(spent[name]), *arm_lines(arms[name])]),
        )
    ]
    as_json = {
        name: {**numbers, "decisions": decided, "spending": spent[name], "arms": arms[name]}
        for name, (numbers, decided) in found.items()
    }
    return Result(as_json, "\n".join(lines) or "Nothing is remembered yet.")


_SHOWN = 5
"""How many people, channels and models are listed, highest usage first."""


def spending_lines(report: SpendingReport) -> list[str]:
    """The costs of language models as lines; empty if none was used."""
    if not report.total.tokens:
        return []
    lines = [f"models, today (UTC)    {money(report.today)}", f"models, last 30 days   {money(report.total)}"]
    for what, every in (("person", report.people), ("channel", report.channels), ("model", report.models)):
        lines += [f"  {what} {shown_line(name, 60)}: {money(each)}" for name, each in every[:_SHOWN]]
    return lines


def money(spent: Spent) -> str:
    """An amount and its tokens; only the tokens if no price is known."""
    tokens = f"{count(spent.tokens, 'token')}, {count(spent.answers, 'answer')}"
    if spent.tokens and spent.unpriced_tokens == spent.tokens:
        return f"{tokens}; the price is not known"
    some = f"; {spent.unpriced_tokens:,} of the tokens have no known price" if spent.unpriced_tokens else ""
    return f"{spent.cost_usd:.4f} US$ ({tokens}{some})"


def saved_by_known_answers(numbers: Mapping[str, int]) -> str:
    """How many answers needed no model, as a sentence."""
    known, answers = numbers["answers.without_model"], numbers["answers"]
    return f"{known} of {count(answers, 'answer')} ({percent(known / answers)}%) known from people: no model was asked."


@click.command()
@workspace_option
@click.option(
    "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many for each workspace."
)
@memory_command
def gaps(memory: Memory, workspace: str, limit: int) -> Result:
    """Show what to teach next: questions nobody could answer, those first whose answers settle most of them."""
    names = workspaces_named(memory, workspace)
    found = {name: memory.gaps.find(name, limit=limit) for name in names}
    lines = [
        line
        for name, some in found.items()
        if some
        for line in (
            shown_line(name, 120),
            *(f"  {gap.asked:>4}  [{short_id(gap.episode.id)}]  “{shown_line(gap.episode.goal, 90)}”" for gap in some),
        )
    ]
    values = {
        name: [
            {"question": gap.episode.goal, "id": gap.episode.id, "asked": gap.asked, "like": [e.goal for e in gap.like]}
            for gap in some
        ]
        for name, some in found.items()
    }
    return Result(values, "\n".join(lines) or "Every question was answered, as far as is known.")


_Number = Callable[[float], str]


def arm_lines(arms: ArmComparison | None) -> list[str]:
    """The lines of the comparison; empty if no run went without lessons."""
    if arms is None:
        return []
    one, other = arms.with_lessons.answers, arms.without.answers
    return [
        f"control arm: {one} answers with lessons, {other} without, since the first of these (95% intervals)",
        _line("approved, of judged", arms.approved, _percent, "points", "more often"),
        _line("corrected", arms.corrected, _percent, "points", "more often"),
        _line("US$ for each answer", arms.cost, "{:.4f}".format, "US$", "more"),
    ]


def _line(what: str, measure: ComparedMeasure, number: _Number, unit: str, more: str) -> str:
    both = f"with {_shown(measure.with_lessons, number)}, without {_shown(measure.without, number)}"
    return f"  {what:<20} {both}: {_judged(measure, number, unit, more)}"


def _judged(measure: ComparedMeasure, number: _Number, unit: str, more: str) -> str:
    difference = measure.difference
    if difference is None or not measure.is_enough:
        return f"too little to tell ({measure.least} in the smaller arm; {LEAST} are needed)"
    between = f"{_signed(difference.value, number)} {unit}, {_signed(difference.low, number)} to "
    between += _signed(difference.high, number)
    if difference.holds_zero:
        return f"may be chance ({between})"
    word = more if difference.value > 0 else more.replace("more", "less")
    return f"{word} with lessons ({between})"


def _shown(interval: Interval | None, number: _Number) -> str:
    if interval is None:
        return "nothing"
    return f"{number(interval.value)} ({number(interval.low)} to {number(interval.high)})"


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def _signed(value: float, number: _Number) -> str:
    return ("+" if value > 0 else "") + number(value).removesuffix("%")
