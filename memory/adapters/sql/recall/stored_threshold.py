"""Reads the stored threshold of a workspace."""

from typing import Any

from memory.adapters.sql.tables.types import shares
from memory.adapters.sql.transaction.damage import FAULTS
from memory.model.evidence import Threshold


def stored_threshold(workspace: str, budget: Any, value: Any, confusion: Any, reliability: Any) -> Threshold | None:  # noqa: ANN401 - whatever is stored
    """A threshold from its stored values; None if they are damaged, as it can be counted again."""
    try:
        return Threshold(
            workspace=workspace,
            budget=budget,
            value=value,
            confusion=confusion,
            reliability=shares.from_stored(reliability) or {},
        )
    except FAULTS:
        return None
