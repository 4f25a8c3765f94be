"""Limits of messages and embeds (Discord's message resource page)."""

from collections.abc import Sequence

from tests.doubles.discord.component_limits import check_components
from tests.doubles.discord.errors import Problems, error
from tests.doubles.discord.model import File, Json, MessageFlag
from tests.doubles.discord.payloads import ATTACHMENT_LIMIT_BYTES

CONTENT, EMBED_TOTAL, NONCE = 2000, 6000, 25
MOST_EMBEDS, MOST_FIELDS, MOST_FILES = 10, 25, 10
_EMBED_TEXTS = {"title": 256, "description": 4096}
_REPEATED_PARSE = "mutually exclusive with `parse`"


def check_message(form: Json, files: Sequence[File], *, is_new: bool = True) -> None:
    """Raises 50035 with every broken limit, 50006 for nothing to show, 40005 for a file above 10 MiB."""
    flags = MessageFlag(int(form.get("flags") or 0))
    problems = Problems()
    problems.length("content", form.get("content"), CONTENT)
    problems.length("nonce", form.get("nonce"), NONCE)
    _check_embeds(problems, form.get("embeds") or ())
    check_components(problems, form.get("components") or (), v2=MessageFlag.COMPONENTS_V2 in flags)
    _check_mentions(problems, form.get("allowed_mentions") or {})
    if MessageFlag.COMPONENTS_V2 in flags:
        for name in ("content", "embeds"):
            if form.get(name):
                problems.add(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "Not with components V2")
    problems.count("files", len(files), MOST_FILES)
    problems.tell()
    if any(len(file.content) > ATTACHMENT_LIMIT_BYTES for file in files):
        raise error(40005)
    something = (str(form.get("content") or "").strip(), form.get("embeds"), form.get("components"), files)
    if is_new and not any((*something, form.get("sticker_ids"), form.get("poll"))):
        raise error(50006)


def _check_embeds(problems: Problems, embeds: Sequence[Json]) -> None:
    problems.count("embeds", len(embeds), MOST_EMBEDS)
    total = 0
    for index, embed in enumerate(embeds):
        at = f"embeds.{index}"
        for name, longest in _EMBED_TEXTS.items():
            problems.length(f"{at}.{name}", embed.get(name), longest)
        fields = embed.get("fields") or []
        problems.count(f"{at}.fields", len(fields), MOST_FIELDS)
        for number, one in enumerate(fields):
            problems.length(f"{at}.fields.{number}.name", one.get("name"), 256, 1)
            problems.length(f"{at}.fields.{number}.value", one.get("value"), 1024, 1)
        problems.length(f"{at}.footer.text", (embed.get("footer") or {}).get("text"), 2048)
        problems.length(f"{at}.author.name", (embed.get("author") or {}).get("name"), 256)
        total += _size(embed)
    if total > EMBED_TOTAL:
        problems.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TOTAL}")


def _size(embed: Json) -> int:
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    texts += [text for one in embed.get("fields") or () for text in (one.get("name"), one.get("value"))]
    return sum(len(text or "") for text in texts)


def _check_mentions(problems: Problems, allowed: Json) -> None:
    parse = allowed.get("parse") or ()
    for kind in ("users", "roles"):
        if kind in parse and allowed.get(kind):
            problems.add(
                "allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", f"`{kind}` is {_REPEATED_PARSE}"
            )
        problems.count(f"allowed_mentions.{kind}", len(allowed.get(kind) or ()), 100)
