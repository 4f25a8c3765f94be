"""The prompts, in files beside this one. Every episode keeps the digest of all of them."""

import re
from collections.abc import Mapping
from hashlib import blake2b
from importlib.resources import files

_HEADING = re.compile(r"^## (\w+)\n", re.MULTILINE)


def _read() -> Mapping[str, str]:
    """The text of each file by its name without the suffix."""
    every = (each for each in files(__name__).iterdir() if each.name.endswith(".md"))
    return {each.name.removesuffix(".md"): each.read_text(encoding="utf-8").strip() for each in every}


PROMPTS = _read()


def digest_of(prompts: Mapping[str, str]) -> str:
    """A digest of prompts: 12 hexadecimal digits."""
    whole = "\0".join(f"{name}\0{prompts[name]}" for name in sorted(prompts))
    return blake2b(whole.encode(), digest_size=6).hexdigest()


DIGEST = digest_of(PROMPTS)


def sections_of(name: str) -> Mapping[str, str]:
    """The parts of a prompt by their headings."""
    _, *parts = _HEADING.split(PROMPTS[name])
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
