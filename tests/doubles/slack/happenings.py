"""What happens to a workspace or to the app's installation, without a person's message."""

from tests.doubles.slack import events
from tests.doubles.slack.core import Slack
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.workspace import Workspace


def archive(slack: Slack, workspace: Workspace, channel: str, by: str) -> Delivery | None:
    """A channel is archived: the app is told, and nothing can be posted there any more."""
    place = workspace.channel(channel)
    place.archived = True
    return slack.emit(workspace, events.archived(place, by, slack.stamps.ts()), place)


def convert(slack: Slack, workspace: Workspace, channel: str, by: str, *, private: bool) -> Delivery | None:
    """A channel is made private, or public again."""
    place = workspace.channel(channel)
    place.kind = "group" if private else "channel"
    return slack.emit(workspace, events.converted(place, by, slack.stamps.ts()), place)


def rename(slack: Slack, workspace: Workspace, channel: str, by: str, name: str) -> Delivery | None:
    """A channel gets another name."""
    place = workspace.channel(channel)
    old_name, place.name = place.name, name
    return slack.emit(workspace, events.renamed(place, old_name, by, slack.stamps.ts()), place)


def share(slack: Slack, workspace: Workspace, channel: str, other_team: str, *, shared: bool) -> Delivery | None:
    """Another organisation is let into a channel, or leaves it."""
    place = workspace.channel(channel)
    place.shared = shared
    return slack.emit(workspace, events.sharing(place, other_team, slack.stamps.ts()), place)


def remove_bot(slack: Slack, workspace: Workspace, channel: str) -> Delivery | None:
    """The bot is taken out of a channel: its own leaving is the last it hears from there."""
    place = workspace.channel(channel)
    delivery = slack.emit(workspace, events.left(workspace, place, workspace.bot.id, slack.stamps.ts()), place)
    place.members.discard(workspace.bot.id)
    return delivery


def invite_bot(slack: Slack, workspace: Workspace, channel: str, by: str) -> Delivery | None:
    """The bot is invited into a channel."""
    place = workspace.channel(channel)
    place.members.add(workspace.bot.id)
    event = events.joined(workspace, place, workspace.bot.id, slack.stamps.ts(), inviter=by)
    return slack.emit(workspace, event, place)


def revoke_tokens(slack: Slack, workspace: Workspace) -> Delivery | None:
    """The bot's token stops working: every call answers `token_revoked`."""
    workspace.revoked = "token_revoked"
    return slack.emit(workspace, events.tokens_revoked(workspace))


def uninstall(slack: Slack, workspace: Workspace) -> Delivery | None:
    """The app is removed from the workspace: tokens go first, in two events."""
    revoke_tokens(slack, workspace)
    workspace.revoked = "account_inactive"
    return slack.emit(workspace, events.uninstalled())


def rate_limit_events(slack: Slack, workspace: Workspace) -> Delivery:
    """Slack says that it drops events of this workspace."""
    body = events.rate_limited(workspace, int(slack.stamps.now()) // 60 * 60)
    return slack.deliveries.send(workspace, "events_api", body, None)


def expire_stream(slack: Slack, workspace: Workspace, channel: str, ts: str) -> None:
    """About five minutes pass: Slack ends the stream by itself, without a word to the app."""
    stream = workspace.message(channel, ts).stream
    if stream is not None and stream.state == "open":
        stream.state = "expired"
        slack.watch.changed()
