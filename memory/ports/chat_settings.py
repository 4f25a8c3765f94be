"""Settings that were changed in chat, in a store."""

from typing import Protocol

from memory.model.chat_setting import ChatSetting


class ChatSettingTable(Protocol):
    """At most one value of a name for each channel, and one for the whole workspace."""

    def put(self, setting: ChatSetting) -> None:
        """Keep it; it replaces the value before."""
        ...

    def drop(self, workspace: str, channel: str, name: str) -> None:
        """Nothing is set there any more."""
        ...

    def get(self, workspace: str, channel: str, name: str) -> ChatSetting | None:
        """What is set at this very place."""
        ...

    def within(self, workspace: str, channel: str) -> list[ChatSetting]:
        """What is set for the workspace, and, where it is not empty, for this channel."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Forget who it was that changed something."""
        ...
