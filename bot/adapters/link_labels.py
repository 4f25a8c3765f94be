"""Finds links whose label shows another address than the one they lead to."""

import re
from urllib.parse import urlsplit

_LINK = re.compile(
    r"!?+\[(?P<label>(?:[^\[\]\n]++|\[[^\[\]\n]*+\])*+)\]"
    r"\((?P<target><[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()<>]*+)*+)"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+[ \t]*+\)"
)
_SCHEME = re.compile(r"\A(https?:)[/\\]*+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|(?<![\w.])www\.)(?:[^\s/?#@]{0,200}+@)?(?P<host>[\w.-]++)", re.IGNORECASE)
_NAME = re.compile(r"[\s*_~\[]*+(?P<host>(?:[^\W_][\w-]*+\.)++[^\W\d_]{2,24})(?:[:/?#]\S*)?[\s*_~\]]*+")
"""The whole label is the name of a host, perhaps with a path."""


def with_real_addresses(text: str) -> str:
    """Prose with both label and address of each link whose label is an address of another host.

    A name without `https://` or `www.` may also be that of a file: at the end of the address it is no other host.
    """
    return _LINK.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    target = found["target"].strip("<>")
    return f"{found['label']} ({target})" if _leads_elsewhere(found["label"], target) else found[0]


def _leads_elsewhere(label: str, target: str) -> bool:
    in_label = _ADDRESS.search(label)
    is_address, in_label = in_label is not None, in_label or _NAME.fullmatch(label)
    try:
        address = urlsplit(_SCHEME.sub(r"\1//", target.replace("\\", "/")))  # as browsers read it
        host = _plain(address.hostname or "")
    except ValueError:
        return is_address
    is_file = not is_address and address.path.rpartition("/")[2].casefold() == label.strip().casefold()
    return in_label is not None and bool(host) and not is_file and not _are_one(_plain(in_label["host"]), host)


def _plain(host: str) -> str:
    return host.casefold().strip(".").removeprefix("www.")


def _are_one(host: str, other: str) -> bool:
    """Whether the hosts are the same, or one belongs to the other."""
    return host == other or host.endswith(f".{other}") or other.endswith(f".{host}")
