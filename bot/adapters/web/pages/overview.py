"""The overview of a workspace: numbers and charts."""

from starlette.responses import Response

from bot.adapters.web.pages.charts import Chart, Series, bars, lines
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from memory.services import Overview


def show(visit: Visit) -> Response:
    """Show the last weeks."""
    overview = visit.memory.overviews.of(visit.workspace, public_only=visit.public_only)
    return visit.render("overview.html", overview=overview, charts=_charts(overview))


def _charts(overview: Overview) -> list[Chart]:
    labels = [f"{week.begins:%d %b}" for week in overview.weeks]

    def row(name: str, attribute: str, kind: str) -> Series:
        return Series(name, kind, tuple(getattr(week, attribute) for week in overview.weeks))

    budget = overview.decisions.budget
    wrong = tuple(week.wrong / week.answered if week.answered else None for week in overview.weeks)
    return [
        bars(
            "What became of questions",
            labels,
            [row("answered", "answered", "good"), row("asked back", "asked", "calm"), row("unknown", "unknown", "dim")],
            _whole,
        ),
        lines("Share of 👍 among reactions", labels, [row("👍", "approval_rate", "good")], _percent, top=1),
        bars("Lessons learned", labels, [row("lessons", "lessons", "good")], _whole),
        lines("Recalls that found something", labels, [row("of recalls", "hit_rate", "calm")], _percent, top=1),
        lines(
            "Answers called wrong",
            labels,
            [Series("of answers", "bad", wrong)],
            _percent,
            limit=(budget, f"error budget {budget:.0%}"),
        ),
        bars("Cost of the model", labels, [row("US$", "cost_usd", "calm")], "{:.2f}".format),
    ]


def _whole(number: float) -> str:
    return f"{number:,.0f}".replace(",", "\u202f") if number == int(number) else f"{number:g}"


def _percent(number: float) -> str:
    return f"{number:.0%}" if number == 0 or number >= 0.1 else f"{number:.1%}"


PAGE = AdminPage(name="overview", title="Overview", routes=(PageRoute(path="overview", handler=show),))
