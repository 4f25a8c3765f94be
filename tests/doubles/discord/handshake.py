"""What the gateway does with the app's frames: heartbeat, identify, resume, request members."""

from tests.doubles.discord import payloads
from tests.doubles.discord.gateway import Connection, Gateway, Session
from tests.doubles.discord.ids import shard_of
from tests.doubles.discord.model import HIGHEST_INTENT_BIT, PRIVILEGED, Guild, Intent, Json
from tests.doubles.discord.state import State

HEARTBEAT, IDENTIFY, RESUME, REQUEST_MEMBERS = 1, 2, 6, 8
RECONNECT, INVALID_SESSION, HEARTBEAT_ACK = 7, 9, 11
DECODE_ERROR, NOT_AUTHENTICATED, AUTHENTICATION_FAILED, ALREADY_AUTHENTICATED = 4002, 4003, 4004, 4005
INVALID_SEQUENCE, INVALID_SHARD, INVALID_INTENTS, DISALLOWED_INTENTS = 4007, 4010, 4013, 4014


class Handshake:
    """Answers frames as Discord does, close codes included."""

    def __init__(self, state: State, gateway: Gateway) -> None:
        self._state = state
        self._gateway = gateway
        self.resume_url = ""

    def handle(self, connection: Connection, frame: Json) -> None:
        """One frame of the app. Presence and voice updates are accepted and ignored."""
        op, data = frame.get("op"), frame.get("d")
        if op == HEARTBEAT:
            connection.send(_frame(HEARTBEAT_ACK, None))
        elif op == IDENTIFY:
            self._identify(connection, data or {})
        elif op == RESUME:
            self._resume(connection, data or {})
        elif connection.session is None:
            connection.close(NOT_AUTHENTICATED)
        elif op == REQUEST_MEMBERS:
            self._send_members(connection.session, data or {})
        elif op not in (3, 4):
            connection.close(DECODE_ERROR)

    def _identify(self, connection: Connection, data: Json) -> None:
        if refusal := self._refusal(connection, data):
            connection.close(refusal)
            return
        shard_id, shard_count = data.get("shard") or (0, 1)
        intents = Intent(data["intents"])
        self._gateway.identified.append(data)
        session = self._gateway.open((shard_id, shard_count), intents, connection)
        guilds = [g for g in self._state.guilds.values() if g.has_bot and shard_of(g.id, shard_count) == shard_id]
        session.push("READY", self._ready(session, guilds))
        for guild in guilds:
            if Intent.GUILDS in intents:
                session.push("GUILD_CREATE", guild_created(self._state, guild, intents))

    def _refusal(self, connection: Connection, data: Json) -> int:
        """The close code that ends an identify; 0 when it is fine."""
        shard_id, shard_count = data.get("shard") or (0, 1)
        intents = data.get("intents")
        if connection.session:
            return ALREADY_AUTHENTICATED
        if data.get("token") != self._state.token:
            return AUTHENTICATION_FAILED
        if not 0 <= shard_id < shard_count:
            return INVALID_SHARD
        if not isinstance(intents, int) or intents < 0 or intents >> (HIGHEST_INTENT_BIT + 1):
            return INVALID_INTENTS
        return DISALLOWED_INTENTS if Intent(intents) & PRIVILEGED & ~self._state.granted else 0

    def _ready(self, session: Session, guilds: list[Guild]) -> Json:
        application = payloads.application(self._state)
        return {
            "v": 10,
            "user": {**payloads.user(self._state.bot), "verified": True, "mfa_enabled": False, "email": None},
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": self.resume_url,
            "shard": list(session.shard),
            "application": {"id": application["id"], "flags": application["flags"]},
            "private_channels": [],
            "session_type": "normal",
        }

    def _resume(self, connection: Connection, data: Json) -> None:
        session = self._gateway.sessions.get(data.get("session_id", ""))
        if data.get("token") != self._state.token:
            connection.close(AUTHENTICATION_FAILED)
        elif session is None or not session.can_resume:
            connection.send(_frame(INVALID_SESSION, False))
        elif not isinstance(data.get("seq"), int) or data["seq"] > session.sequence:
            connection.close(INVALID_SEQUENCE)
        else:
            session.connection, connection.session = connection, session
            for frame in session.missed_since(data["seq"], self._gateway.replays_again):
                connection.send(frame)
            self._gateway.resumed.append(session.id)
            session.push("RESUMED", {})

    def _send_members(self, session: Session, data: Json) -> None:
        guild_id, wanted = str(data["guild_id"]), {str(one) for one in data.get("user_ids") or ()}
        query = str(data.get("query") or "").lower()
        found = [
            member
            for (guild, person), member in self._state.members.items()
            if guild == guild_id
            and (person in wanted if wanted else self._state.people[person].name.lower().startswith(query))
        ]
        chunk = {
            "guild_id": guild_id,
            "members": [payloads.member(self._state, member) for member in found],
            "chunk_index": 0,
            "chunk_count": 1,
            "nonce": data.get("nonce"),
            "not_found": sorted(wanted - {member.person_id for member in found}),
        }
        session.push("GUILD_MEMBERS_CHUNK", chunk)


def guild_created(state: State, guild: Guild, intents: Intent) -> Json:
    """A guild for one session: all members with the privileged intent, else only the bot."""
    everyone = [person for guild_id, person in state.members if guild_id == guild.id]
    return payloads.guild(state, guild, everyone if Intent.GUILD_MEMBERS in intents else [state.bot.id])


def reconnect(gateway: Gateway) -> None:
    """Ask everyone connected to come back and resume (op 7)."""
    for connection in gateway.connections:
        connection.send(_frame(RECONNECT, None))


def invalidate(gateway: Gateway, resumable: bool) -> None:
    """Tell everyone connected that the session is invalid (op 9)."""
    for session in gateway.live():
        if session.connection:
            session.connection.send(_frame(INVALID_SESSION, resumable))
        if not resumable:
            del gateway.sessions[session.id]


def _frame(op: int, data: object) -> Json:
    return {"op": op, "t": None, "s": None, "d": data}
