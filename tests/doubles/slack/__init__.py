"""A local stand-in for Slack: Web API, Socket Mode and signed HTTP events, for the real client libraries.

    async with SlackServer() as server:                     # `SlackThread` where there is no event loop
        start_the_bot(server.environment())                 # SLACK_API_URL, SLACK_BOT_TOKEN, SLACK_APP_TOKEN, ...
        await server.connected()
        ana, channel = server.person("ana"), server.channel("general")
        question = ana.says(channel, "what is the capital of France?")
        [answer] = await server.wait_for(lambda: server.said_by_bot(channel, question.ts))
        ana.reacts(answer, "+1::skin-tone-3")

Acts of people are plain calls that return at once; what the app makes of them is waited for with `wait_for`.
"""

from tests.doubles.slack.errors import CannotDo
from tests.doubles.slack.faults import ConnectionReset, Hang, RateLimited, Refused, ResponseLost, ServerBroken
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack.people import Enclosed, OtherBot, Person
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.workspace import Workspace

__all__ = [
    "CannotDo",
    "ConnectionReset",
    "Enclosed",
    "Hang",
    "OtherBot",
    "Person",
    "RateLimited",
    "Refused",
    "ResponseLost",
    "ServerBroken",
    "SlackServer",
    "SlackThread",
    "Workspace",
]
