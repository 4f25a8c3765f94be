"""Slack as a chat platform, through slack-bolt: Socket Mode or signed requests, reactions, buttons, modals, streams."""

from bot.adapters.slack.messenger import SlackMessenger

__all__ = ["SlackMessenger"]
