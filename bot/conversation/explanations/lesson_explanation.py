"""The text of `why` for a lesson: its verdicts, votes, changes, and its uses."""

from collections.abc import Sequence

from bot.conversation.messages import named, verdict_word, why_held
from bot.conversation.reply import short_id
from memory.model import Audience, Episode, EventKind, Scope
from memory.model.saved_messages import SavedMessage
from memory.rules.audience import may_see
from memory.rules.fold import UNDO
from memory.rules.retrieval.prompt import percent, shown_line
from memory.services import LessonExplanation
from memory.services.reports.explain import LessonUse, WeighedVote

_LATEST = 5
"""How many events and uses are shown in chat. Administrators see all."""


def vote_text(weighed: WeighedVote, reader: Scope | None, *, has_numbers: bool = True) -> str:
    """`ana 👍 (teacher, weighs 1.00, beyond the limit)`."""
    vote = weighed.vote
    notes = [vote.role.value, *([f"weighs {weighed.weight:.2f}"] if has_numbers else [])]
    if has_numbers and (weighed.right or weighed.wrong):
        notes.append(f"proven right {weighed.right}, wrong {weighed.wrong}")
    if vote.is_limited:
        notes.append("beyond the limit")
    if vote.node_id:
        notes.append("on this part")
    return f"{named(vote.actor, reader)} {'👍' if vote.value > 0 else '👎'} ({', '.join(notes)})"


def message_author(lesson: Episode, message: SavedMessage) -> str:
    """Who wrote the message that the lesson was made of, with a link to it."""
    link = f", {message.link}" if message.link else ""
    return f"said by {shown_line(lesson.author, 30)} in a message{link}"


def votes_text(votes: Sequence[WeighedVote], reader: Scope | None, *, has_numbers: bool = True) -> str:
    """Votes in one line."""
    return ", ".join(vote_text(vote, reader, has_numbers=has_numbers) for vote in votes) or "none"


def explain_lesson(explanation: LessonExplanation, reader: Scope | None) -> str:
    """The lesson's explanation as Markdown. What the reader may not see is counted. No reader: an administrator."""
    episode = explanation.episode
    lines = [f"**As a lesson** “{shown_line(episode.goal, 100)}” [{short_id(episode.id)}]"]
    if explanation.message is not None:
        lines.append(f"- {message_author(episode, explanation.message)}")
    lines.extend(
        f"- {each.audience.value}: {verdict_word(each.verdict)}; votes that count: {votes_text(each.votes, reader)}"
        for each in explanation.verdicts
    )
    idle = [each for each in explanation.votes if not any(each in verdict.votes for verdict in explanation.verdicts)]
    if idle:
        lines.append(f"- votes without effect: {votes_text(idle, reader)}")
    lines.extend(_decisions(explanation))
    lines.extend(_joined(explanation, reader))
    lines.append(
        f"- strength {episode.strength:.2f} when last touched, {explanation.strength_now:.2f} now; "
        f"salience {episode.salience:.2f}, {explanation.salience_now:.2f} now"
    )
    moves = explanation.moves if reader is None else explanation.moves[-_LATEST:]
    lines.extend(
        f"  - {move.event.at:%Y-%m-%d %H:%M} {move.event.kind.value}: "
        f"strength {move.strength:.2f}, salience {move.salience:.2f}"
        for move in moves
    )
    if len(moves) < len(explanation.moves):
        lines.append(f"  - and {len(explanation.moves) - len(moves)} earlier")
    totals = ", ".join(f"{name} {count}" for name, count in explanation.totals.items())
    lines.append(f"- shown as a lesson {len(explanation.uses)} times: {totals}")
    lines.extend(_uses(explanation.uses, reader))
    return "\n".join(lines)


def _decisions(explanation: LessonExplanation) -> list[str]:
    lines = []
    if explanation.episode.promoted not in (None, Audience.PERSONAL):
        lines.append(f"- shared with the {explanation.episode.promoted}")
    if explanation.episode.quarantine:
        lines.append(f"- held back: {why_held(explanation.episode)}")
    if explanation.stands_in:
        lines.append(f"- joined to [{short_id(explanation.stands_in)}], which stands for it")
    for event in explanation.decisions:
        if event.kind is not EventKind.MERGED:
            is_undo = bool(event.detail.get(UNDO))
            hidden = ("into", UNDO, "audience") if is_undo else ("into",)  # the audience is what others promoted it to
            details = ", ".join(
                f"{name} {value}" for name, value in event.detail.items() if value and name not in hidden
            )
            what = "promotion taken back" if is_undo else event.kind.value
            by = shown_line(event.actor, 30) or "nobody"
            lines.append(shown_line(f"- {what} by {by} at {event.at:%Y-%m-%d %H:%M} {details}", 160))
    return lines


def _joined(explanation: LessonExplanation, reader: Scope | None) -> list[str]:
    if not explanation.joined:
        return []
    seen = [each for each in explanation.joined if reader is None or may_see(reader, each)]
    lines = [f"- stands for {len(explanation.joined)} more that say the same"]
    lines.extend(f"  - “{shown_line(each.goal, 60)}” [{short_id(each.id)}]" for each in seen)
    return lines


def _uses(uses: Sequence[LessonUse], reader: Scope | None) -> list[str]:
    seen = [use for use in uses if reader is None or (use.asked is not None and may_see(reader, use.asked))]
    shown = seen if reader is None else seen[:_LATEST]
    lines = [
        f"  - {use.retrieval.at:%Y-%m-%d %H:%M} “{shown_line(use.retrieval.goal, 60)}” {use.item.lesson.value} "
        f"{percent(use.item.relevance)}% as number {use.item.rank}, "
        f"{use.item.signal.value if use.item.signal else 'unknown'} ({use.item.ratio:.2f})"
        for use in shown
    ]
    if len(shown) < len(uses):
        lines.append(f"  - and {len(uses) - len(shown)} more, earlier or not yours to see")
    return lines
