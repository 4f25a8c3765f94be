"""A small office: people, projects, rooms, suppliers, things, and the sixteen tools of its systems.

The tools are named and described tersely, as the systems of an office are. What people call these things has to be
learned. Every use of a tool is recorded, so that an outcome is judged by what was done.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle

from bot.agent.tools.registry import Tool, ToolContext
from bot.errors import ToolFailed

PEOPLE = (
    *("Priya Nair", "Tomas Lind", "Aiko Mori", "Samir Haddad", "Greta Vogel"),
    *("Luis Ortega", "Nadia Petrov", "Owen Blake", "Ines Duarte", "Kofi Mensah"),
)
PROJECTS = ("audit", "relaunch", "migration", "trade fair", "onboarding", "warehouse", "newsletter", "payroll")
ROOMS = ("Oslo", "Kyoto", "Lima", "Cairo", "Porto", "Quito", "Turin", "Malmo")
TAKEN = ROOMS[:4]
"""Rooms that are taken already."""
SUPPLIERS = ("Bellini", "Nordwind", "Vesta", "Kappa", "Tulipan", "Orbital")
THINGS = ("projector", "label printer", "flip chart", "spare laptop", "ladder", "trolley", "microphone", "scanner")

Act = tuple[str, str]
"""A tool and the thing that it was used on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One tool of the office, and how people ask for what it does."""

    tool: str
    description: str
    of: str
    """The kind of its argument: `person`, `project`, `room`, `supplier` or `thing`."""
    tells: str
    """The text of its result, with `{of}` and `{value}`."""
    values: tuple[str, ...]
    asked_as: tuple[str, ...]
    """How people ask for it, with `{of}`."""
    has_effects: bool = False
    names_person: bool = False
    """Whether its result names a person, to whom a later part may refer by "that person"."""

    @property
    def options(self) -> tuple[str, ...]:
        """Everything it can be used on."""
        return {"person": PEOPLE, "project": PROJECTS, "room": ROOMS, "supplier": SUPPLIERS, "thing": THINGS}[self.of]

    def result(self, of: str) -> str:
        """The result for one thing."""
        of_each = dict(zip(self.options, cycle(self.values), strict=False))
        return self.tells.format(of=of, value=of_each[of])


def _shifted(names: tuple[str, ...], by: int) -> tuple[str, ...]:
    return (*names[by:], *names[:by])


OPERATIONS = (
    Operation(
        tool="pmo_owner",
        description="PMO register: owner of a project.",
        of="project",
        tells="{value} leads the {of} project.",
        values=PEOPLE,
        asked_as=(
            "find out who leads the {of} project",
            "tell me who is in charge of the {of} project",
            "say who answers for the {of} project",
            "get the name of the {of} project's boss",
        ),
        names_person=True,
    ),
    Operation(
        tool="pmo_cap",
        description="PMO register: spending cap of a project.",
        of="project",
        tells="The {of} project may spend {value}.",
        values=("12,000 euros", "48,000 euros", "7,500 euros", "90,000 euros"),
        asked_as=(
            "find the budget of the {of} project",
            "say how much money the {of} project has",
            "tell me what the {of} project may cost",
            "look up what is set aside for the {of} project",
        ),
    ),
    Operation(
        tool="pmo_due",
        description="PMO register: due date of a project.",
        of="project",
        tells="The {of} project is to be done by {value}.",
        values=("4 March", "1 June", "15 September", "30 November"),
        asked_as=(
            "find the deadline of the {of} project",
            "say when the {of} project must be finished",
            "tell me until when the {of} project runs",
            "look up the final day of the {of} project",
        ),
    ),
    Operation(
        tool="pmo_rag",
        description="PMO register: traffic light of a project.",
        of="project",
        tells="The {of} project stands at {value}.",
        values=("green", "amber", "red"),
        asked_as=(
            "check how the {of} project is going",
            "say whether the {of} project is on track",
            "tell me the state of the {of} project",
            "look up the progress of the {of} project",
        ),
    ),
    Operation(
        tool="dir_ext",
        description="Directory: extension of a person.",
        of="person",
        tells="{of} answers at {value}.",
        values=("4410", "4523", "4638", "4751", "4866"),
        asked_as=(
            "look up the phone number of {of}",
            "say how I call {of}",
            "tell me how to reach {of} by telephone",
            "get the number to dial for {of}",
        ),
    ),
    Operation(
        tool="dir_seat",
        description="Directory: seat of a person.",
        of="person",
        tells="{of} is at {value}.",
        values=("2-17", "3-04", "1-22", "4-09", "2-31"),
        asked_as=(
            "find the desk of {of}",
            "say where {of} sits",
            "tell me on which floor {of} works",
            "show me the way to {of}",
        ),
    ),
    Operation(
        tool="dir_up",
        description="Directory: line manager of a person.",
        of="person",
        tells="{of} reports to {value}.",
        values=_shifted(PEOPLE, 3),
        asked_as=(
            "find the manager of {of}",
            "say who is the superior of {of}",
            "tell me the boss of {of}",
            "look up who signs for {of}",
        ),
        names_person=True,
    ),
    Operation(
        tool="hr_abs",
        description="HR: absences of a person.",
        of="person",
        tells="{of} is away {value}.",
        values=("until Monday", "this week", "on Friday", "not at all"),
        asked_as=(
            "check if {of} is on holiday",
            "say whether {of} is in this week",
            "tell me when {of} is back",
            "look up the leave of {of}",
        ),
    ),
    Operation(
        tool="fac_hold",
        description="Facilities: put a hold on a room.",
        of="room",
        tells="{of} is yours.",
        values=("",),
        asked_as=(
            "get us the {of} room",
            "send a reservation of the {of} room",
            "ask for the {of} room for our meeting",
            "find us a slot in the {of} room",
        ),
        has_effects=True,
    ),
    Operation(
        tool="fac_cap",
        description="Facilities: capacity of a room.",
        of="room",
        tells="{of} takes {value}.",
        values=("6 people", "12 people", "20 people"),
        asked_as=(
            "check how many people fit into the {of} room",
            "look up the seats of the {of} room",
            "tell me the size of the {of} room",
            "count the chairs in the {of} room",
        ),
    ),
    Operation(
        tool="fac_tkt",
        description="Facilities: service ticket for a room.",
        of="room",
        tells="A ticket is open for {of}.",
        values=("",),
        asked_as=(
            "tell somebody that the lamp in the {of} room is broken",
            "get the heating of the {of} room repaired",
            "ask for a cleaning of the {of} room",
            "send a technician to the {of} room",
        ),
        has_effects=True,
    ),
    Operation(
        tool="erp_po",
        description="ERP: purchase order to a supplier.",
        of="supplier",
        tells="The order to {of} is out.",
        values=("",),
        asked_as=(
            "get lunch from {of}",
            "ask {of} to deliver as usual",
            "send {of} our usual request",
            "get the usual at {of}",
        ),
        has_effects=True,
    ),
    Operation(
        tool="erp_term",
        description="ERP: term of a supplier's contract.",
        of="supplier",
        tells="We are bound to {of} until {value}.",
        values=("May", "the end of the year", "next spring"),
        asked_as=(
            "find the end of the contract with {of}",
            "say how long we have to stay with {of}",
            "tell me when the agreement with {of} runs out",
            "look up when we may leave {of}",
        ),
    ),
    Operation(
        tool="erp_rep",
        description="ERP: account manager for a supplier.",
        of="supplier",
        tells="{value} looks after {of}.",
        values=_shifted(PEOPLE, 5),
        asked_as=(
            "find our contact for {of}",
            "say who of us deals with {of}",
            "tell me who talks to {of}",
            "look up whom to ask about {of}",
        ),
        names_person=True,
    ),
    Operation(
        tool="inv_loc",
        description="Inventory: storage location of an item.",
        of="thing",
        tells="The {of} is in {value}.",
        values=("the basement", "cabinet 4", "the copy room", "storage B"),
        asked_as=(
            "find the {of}",
            "say where the {of} went",
            "tell me where the {of} is kept",
            "look up the place of the {of}",
        ),
    ),
    Operation(
        tool="inv_out",
        description="Inventory: check out an item.",
        of="thing",
        tells="The {of} is in your name.",
        values=("",),
        asked_as=(
            "get the {of} for me",
            "give me the {of} on loan",
            "ask for the {of} for tomorrow",
            "note that I take the {of}",
        ),
        has_effects=True,
    ),
)
BY_TOOL = {each.tool: each for each in OPERATIONS}


@dataclass(slots=True)
class Office:
    """The office during one task, with a record of what was done."""

    acts: list[Act] = field(default_factory=list[Act])
    """The successful uses of tools, in order."""
    attempts: int = 0
    """The number of all uses."""

    def begin(self) -> None:
        """Clear the record, for another task."""
        self.acts.clear()
        self.attempts = 0

    def tools(self) -> list[Tool]:
        """The tools of its systems. Those with side effects are always permitted."""
        return [self._tool(each) for each in OPERATIONS]

    def _tool(self, operation: Operation) -> Tool:
        async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
            self.attempts += 1
            of = str(arguments[operation.of])
            if operation.tool == "fac_hold" and of in TAKEN:
                raise ToolFailed(f"{of} is taken.")
            self.acts.append((operation.tool, of))
            return operation.result(of)

        return Tool(
            name=operation.tool,
            description=operation.description,
            parameters={
                "type": "object",
                "properties": {operation.of: {"type": "string", "enum": list(operation.options)}},
                "required": [operation.of],
                "additionalProperties": False,
            },
            run=run,
            has_side_effects=operation.has_effects,
        )
