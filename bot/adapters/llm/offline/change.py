"""Finds a request to change a fact: "change the owner of the deploy to Bianca"."""

from collections.abc import Mapping

_VERBS = ("change", "set", "update", "make")
_COURTESY = ("please ", "can you ", "could you ", "note that ", "from now on ", "from now on, ")
_ARTICLES = ("the ", "our ", "my ", "a ", "an ")
_OF = " of "
_NOW = (" is now ", " are now ", " is from now on ", " will be ")
_LONGEST = 500


def find_change(goal: str) -> Mapping[str, str]:
    """The `thing`, the `property` and its `new_value`, by fixed phrases; empty if a goal asks for no change."""
    text = " ".join(goal.split()).rstrip(".!")
    if len(text) > _LONGEST or text.endswith("?"):
        return {}
    text = _without_courtesy(text)
    verb, _, rest = text.partition(" ")
    if verb.casefold() in _VERBS:
        what, _, value = rest.partition(" to ")
    else:
        between = next((each for each in _NOW if each in text.casefold()), "")
        at = text.casefold().find(between) if between else -1
        what, value = (text[:at], text[at + len(between) :]) if at > 0 else ("", "")
    return _change(what, value)


def _change(what: str, value: str) -> Mapping[str, str]:
    """A change of "the owner of the deploy" or "the deploy's owner" to the value."""
    name, of, thing = what.partition(_OF)
    if not of:
        owner = next((each for each in ("'s ", "’s ") if each in what), "")
        thing, _, name = what.partition(owner) if owner else ("", "", "")
    name, thing, value = _bare(name), _bare(thing), value.strip(" \"'“”")
    return {"thing": thing, "property": name, "new_value": value} if name and thing and value else {}


def _without_courtesy(text: str) -> str:
    for _ in _COURTESY:
        start = next((each for each in _COURTESY if text.casefold().startswith(each)), "")
        text = text[len(start) :]
    return text


def _bare(text: str) -> str:
    text = text.strip(" \"'“”")
    article = next((each for each in _ARTICLES if text.casefold().startswith(each)), "")
    return text[len(article) :].strip()
