"""The map of a workspace's knowledge: lessons by meaning, and questions that nobody could answer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from memory.model import Audience, Episode, Verdict
from memory.rules.map_layout import HEIGHT, WIDTH, Group, name_of
from memory.services import KnowledgeMap

LISTED = 6
"""How many lessons of a group are listed below the map."""
_NOBODY = "nobody yet"
_KINDS = {
    "right": "good",
    "wrong": "bad",
    "disputed": "warn",
    Audience.WORKSPACE.value: "good",
    Audience.CHANNEL.value: "calm",
    Audience.PERSONAL.value: "warn",
    _NOBODY: "dim",
}
_VERDICTS = {Verdict.SUCCESS: "right", Verdict.FAILURE: "wrong", Verdict.DISPUTED: "disputed"}
_COLOURS = ("verdict", "audience")
GAP = "gap"
_CHARACTER, _LINE = 7.5, 18.0
"""The approximate width of a character and the height of a line of a group's name on the map."""


@dataclass(frozen=True, slots=True)
class Point:
    """A lesson or gap on the map."""

    episode: Episode
    x: float
    y: float
    kind: str
    """The colour's name in the style sheet; `gap` for an unanswered question."""
    label: str
    """The meaning of the colour."""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group of points on the map."""

    group: Group
    name: str
    """The name, shortened for the map."""
    name_y: float
    """The foot of its name: above the circle, or below it where it would cover another name."""
    counts: tuple[tuple[str, int], ...]
    """The number of its points by label."""
    typical: tuple[Episode, ...]
    """Its most typical lessons; unanswered questions if it has no lessons."""


def show(visit: Visit) -> Response:
    """Show the map, its groups, and what to teach next."""
    found = visit.memory.maps.of(visit.workspace, public_only=visit.public_only)
    colour = visit.query.get("colour", "")
    colour = colour if colour in _COLOURS else _COLOURS[0]
    points = _points(found, visit.shown(*found.points), colour)
    legend = Counter((point.label, point.kind) for point in points)
    return visit.render(
        "map.html",
        width=WIDTH,
        height=HEIGHT,
        colour=colour,
        colours=_COLOURS,
        points=points,
        dot=round(min(max(found.layout.room * 0.85, 2.5), 8.0), 1),
        groups=shown_groups(found.layout.groups, points),
        legend=sorted(legend.items(), key=lambda each: (each[0][1] == GAP, -each[1])),
        lessons=len(found.lessons),
        gaps=len(found.gaps),
        is_whole=found.is_whole,
        next=found.next,
        may_teach=visit.role >= WebRole.TEACHER,
    )


def _points(found: KnowledgeMap, episodes: Sequence[Episode], colour: str) -> list[Point]:
    labels = [*(_label(each, colour) for each in found.lessons), *(GAP for _ in found.gaps)]
    return [
        Point(episode, x, y, _KINDS.get(word, GAP), "nobody could answer" if word == GAP else word)
        for episode, (x, y), word in zip(episodes, found.layout.places, labels, strict=True)
    ]


def _label(lesson: Episode, colour: str) -> str:
    """The label of a lesson's colour."""
    if colour == "verdict":
        return _VERDICTS.get(lesson.verdict, "disputed")
    verdicts = lesson.verdicts
    wide = ((Audience.WORKSPACE, verdicts.workspace), (Audience.CHANNEL, verdicts.channel))
    decided = [audience for audience, verdict in wide if verdict.is_validated]
    if decided:
        return decided[0].value
    return Audience.PERSONAL.value if verdicts.personal.is_validated else _NOBODY


def shown_groups(groups: Sequence[Group], points: Sequence[Point]) -> list[ShownGroup]:
    """The groups with their names, so that no name covers an earlier one if it has room below its circle."""
    shown: list[ShownGroup] = []
    for group in groups:
        name = name_of(group.words) or "without words"
        above, below = group.y - group.radius - 9, group.y + group.radius + 4 + _LINE
        free = [y for y in (above, below) if not any(_covers(group.x, y, name, other) for other in shown)]
        shown.append(_shown(group, name, round(free[0] if free else above, 1), points))
    return shown


def _covers(x: float, y: float, name: str, other: ShownGroup) -> bool:
    """Whether a name would cover another group's name."""
    width = (len(name) + len(other.name)) / 2 * _CHARACTER
    return abs(x - other.group.x) < width and abs(y - other.name_y) < _LINE


def _shown(group: Group, name: str, name_y: float, points: Sequence[Point]) -> ShownGroup:
    inside = [points[place] for place in group.members]
    lessons = [point for point in inside if point.kind != GAP]
    first_words: dict[str, Episode] = {}
    for point in lessons or inside:
        first_words.setdefault(point.episode.goal.casefold().strip(), point.episode)
    return ShownGroup(
        group=group,
        name=name,
        name_y=name_y,
        counts=tuple(Counter(point.label for point in inside).most_common()),
        typical=tuple(first_words.values())[:LISTED],
    )


PAGE = AdminPage(name="map", title="Map", routes=(PageRoute(path="map", handler=show),))
