"""Replaces passwords, tokens and keys in texts before they are stored: `[redacted: password]`.

Secrets are found by the patterns below, for how people write them in a chat, and by a `SecretFinder` for vendors'
formats. Others are not found: this limits the harm of mistakes, but does not make pasting secrets safe.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from memory.model import Episode, Incoming, Step
from memory.ports.runtime import Secret, SecretFinder

R = TypeVar("R", Episode, Step, Incoming)

_MOST_CLEAN = 2_000
"""The most context elements that are remembered as free of secrets."""
MARK = "[redacted: "
"""The beginning of the text that replaces a secret."""
_LOGIN = (
    r"pass(?:word|wd|phrase|code)|pwd"
    r"|passwort|kennwort|mot de passe|contraseña|contrasena|senha|пароль|密码|密碼|パスワード"
)
"""Names of what people log in with."""
_NAME = (
    rf"{_LOGIN}|pass|secret|credentials?|token|pat"
    r"|(?:api|access|auth|secret|private|encryption|signing|client|account|bot|app|session)"
    r"[ _-]?(?:key|token|secret|password)"
)
_IS = r"(?:\s++(?:is|was|are|ist|lautet|est|es|é|это)(?:\s*+:\s++|\s++)|\s*+(?:=>|:=|==|=|:|：|是|は)\s*+)"
_ASSIGNED = re.compile(rf"(?<![^\W_])(?:{_NAME})[\"'`]?{_IS}[\"'`“”«]?(?P<secret>[^\s\"'`“”«»]{{4,}})", re.IGNORECASE)
_GIVEN = re.compile(
    r"(?<![^\W_])(?:pass(?:word|wd|phrase)|pwd|(?:api|client|access)[ _-]?(?:key|secret)"
    r"|passwort|kennwort|contraseña|пароль)"
    r"[\"'`]?\s*+[:=：]\s*+[\"'`“”«]?(?P<secret>[^\s\"'`“”«»]{4,})",
    re.IGNORECASE,
)
"""`password: swordfish`: any word after the sign is a secret, except those in `_WORDS`."""
_QUOTED = re.compile(
    rf"(?<![^\W_])(?:{_LOGIN})[\"'`]?{_IS}(?:\"(?P<double>[^\"\n]{{4,200}})\"|'(?P<single>[^'\n]{{4,200}})'"
    r"|`(?P<code>[^`\n]{4,200})`|“(?P<curved>[^”\n]{4,200})”)",
    re.IGNORECASE,
)
"""`the password is "swordfish"`: what is quoted is a secret as it stands, except what begins with `_WORDS`."""
_PHRASE = re.compile(
    r"(?<![^\W_])(?:(?:pass|seed|recovery|mnemonic)[ -]?phrase|mnemonic)"
    r"(?:\s*+[:=：]\s*+|\s++(?:is|was)\s++)(?P<secret>(?:[^\W\d_]++[ -]){3,23}[^\W\d_]++)(?![\w'’])",
    re.IGNORECASE,
)
"""`the passphrase is correct horse battery staple`: four words up to 24, as generators make them."""
_NAME_PARTS = (
    "pass", "pwd", "secret", "credent", "token", "pat", "phrase", "mnemonic",
    "kennwort", "contrase", "senha", "пароль", "密码", "密碼", "パスワード",
)  # fmt: skip
"""Each name of a secret that is no key contains one of these in lower case, to skip texts without any."""
_KEY_OF = (
    "api", "access", "auth", "secret", "private", "encryption", "signing", "client", "account", "bot", "app", "session",
)  # fmt: skip
"""The words before "key" in names. Non-ASCII texts may write them with letters that only match case-insensitively."""
_WORDS = re.compile(
    r"(?:none|null|nil|true|false|string|str|text|required|optional|unknown|missing|wrong|invalid|expired|empty|secret"
    r"|password|change(?:me)?|your|the|this|that|must|should|not|see|ask|with|from|what|when|where|why|how|use|and|for"
    r"|reset|forgot|forgotten|redacted|hidden|example|placeholder)\b",
    re.IGNORECASE,
)
_OF_A_SENTENCE = re.compile(
    r"\b(?:a|an|the|and|or|not|no|only|always|never|still|now|also|very|too|so|than|as|if|because|in|on|at|of|to|for|by"
    r"|with|from|under|behind|per|is|are|was|were|be|been|has|have|had|can|will|must|should|may|my|our|your|his|her"
    r"|their|its|it|i|we|you|they|he|she|this|that|these|which|who|what|when|where|why|how)\b",
    re.IGNORECASE,
)
"""Words that a sentence about a passphrase has ("the passphrase is known to the team"), and a passphrase has not."""
_PLACES = re.compile(
    r"(?:(?:room|desk|office|floor|drawer|cabinet|shelf|page|raum|zimmer|büro|schublade|seite)\s++\d{1,4}[a-z]?"
    r"(?![^\s.,;:!?)])|(?:under|behind|inside|beside|next|taped|printed|written|unter|hinter|neben)"
    r"\s++(?:the|a|to|on|in|my|our|your|der|dem|die|den|das)\b)",
    re.IGNORECASE,
)
"""Where a secret is kept (`password: room 34`), which is none."""
_FORMS = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL),
    ),
    ("password", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,200}:(?P<secret>[^\s/@]{1,200})@", re.IGNORECASE)),
    (
        "token",
        re.compile(r"\b(?:Bearer|Basic)\s++(?P<secret>(?=[^\s\d]*+\d)[A-Za-z0-9._~+/-]{16,}={0,2})", re.IGNORECASE),
    ),
    (
        "token",
        re.compile(
            r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|github_pat_[A-Za-z0-9_]{22,}|gh[pousr]_[A-Za-z0-9]{36,}"
            r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}"
            r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})"
        ),
    ),
    # These two may start anywhere in a run of letters. Only the first place is tried, as the run's end is the same.
    (
        "token",
        re.compile(
            r"(?<![A-Za-z0-9_-])(?>[A-Za-z0-9_-]*?(?=eyJ))"
            r"(?P<secret>eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+)?)"
        ),
    ),
    (
        "token",
        re.compile(
            r"(?<![A-Za-z0-9_-])(?>[A-Za-z0-9_-]*?(?=sk-))"
            r"(?P<secret>sk-[A-Za-z0-9_-]*?[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}[A-Za-z0-9_-]*+)"
        ),
    ),
    ("key", re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])")),
)  # fmt: skip


def by_rare_character(cues: Iterable[str]) -> dict[str, list[str]]:
    """Cues grouped by their first character that is not lower case, which most texts do not contain."""
    found: dict[str, list[str]] = {}
    for cue in cues:
        found.setdefault(next((each for each in cue if not each.islower()), ""), []).append(cue)
    return found


def cues_in(text: str, cues: Mapping[str, Iterable[str]]) -> list[str]:
    """The cues, given as by `by_rare_character`, that the text contains."""
    return [cue for rare, several in cues.items() if rare in text for cue in several if cue in text]


_CUES = by_rare_character((
    "-----BEGIN", "://", "sk-", "github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "xapp-",
    "hf_", "npm_", "AIza", "ya29.", "eyJ", "AKIA", "ASIA", "ABIA", "ACCA",
))  # fmt: skip
_CUES_IN_SMALL = ("bearer", "bas")
"""Each match of `_FORMS` contains one of `_CUES`, or one of these in lower case, to skip texts without any."""
_PLACEHOLDER = re.compile(r"[<{$\[(%]|\*+$|x+$|\.\.\.|…", re.IGNORECASE)
"""The beginning of placeholders in examples, such as `<password>` or `xxxx`."""
_SYMBOL = re.compile(r"[^\w.,;:?)\]}>/-]")


class Redactor:
    """Replaces secrets in texts, and in objects with texts. Idempotent."""

    def __init__(self, finder: SecretFinder | None = None) -> None:
        self._finder = finder
        self._done: dict[str, str] | None = None
        self._clean: set[int] = set()
        """Hashes of context elements without secrets, which are the same in nearly all runs. No texts are kept."""

    def for_run(self) -> "Redactor":
        """A redactor with a cache for the texts of one run, many of which repeat. Drop it after the run."""
        redactor = Redactor(self._finder)
        redactor._done, redactor._clean = {}, self._clean
        return redactor

    def text(self, text: str) -> str:
        """The text with every secret replaced by `[redacted: kind]`."""
        if self._done is None:
            return self._redacted(text)
        if (done := self._done.get(text)) is None:
            done = self._done[text] = self._redacted(text)
        return done

    def _redacted(self, text: str) -> str:
        if len(text) < 4:
            return text
        found = [*_known_forms(text), *(self._finder.find(text) if self._finder else ())]
        return _without(text, found) if found else text

    def value(self, value: object) -> object:
        """A JSON value with all texts in lists and mappings redacted; keys are not changed."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {name: self._under(str(name), item) for name, item in value.items()}
            case list() | tuple():
                return type(value)(self.value(item) for item in value)
            case _:
                return value

    def _under(self, name: str, item: object) -> object:
        """A mapping's value. A text under a key such as `password` is a secret, whatever it looks like."""
        if isinstance(item, str) and re.fullmatch(rf"(?:.*[_\W])?(?:{_NAME})", name, re.IGNORECASE):
            return _mark(name.lower()) if item and not item.startswith("[redacted") else item
        return self.value(item)

    def step(self, step: Step) -> Step:
        """A step with its texts redacted."""
        arguments = self.value(step.arguments)
        return _changed(
            step,
            text=self.text(step.text),
            arguments=arguments if isinstance(arguments, Mapping) else {},
            subgoals=tuple(map(self.text, step.subgoals)),
        )

    def episode(self, episode: Episode) -> Episode:
        """An episode with all texts by people, models and tools redacted."""
        return _changed(
            episode,
            goal=self.text(episode.goal),
            why=self.text(episode.why),
            thoughts=self.text(episode.thoughts),
            action_target=self.text(episode.action_target),
            output=self.text(episode.output),
            outcome_reason=self.text(episode.outcome_reason),
            correction=self.text(episode.correction),
            task_incomplete=self.text(episode.task_incomplete),
            trajectory=tuple(map(self.step, episode.trajectory)),
            context_before=self._context(episode.context_before),
            context_after=self._context(episode.context_after),
        )

    def _context(self, elements: tuple[str, ...]) -> tuple[str, ...]:
        """A node's context; elements without secrets are remembered for all runs."""
        clean, hashes = self._clean, list(map(hash, elements))
        if clean.issuperset(hashes):
            return elements
        hashed = list(zip(hashes, elements, strict=True))
        redacted = tuple([text if each in clean else self.text(text) for each, text in hashed])
        if len(clean) + len(hashes) > _MOST_CLEAN:
            clean.clear()
        clean.update(each for (each, text), now in zip(hashed, redacted, strict=True) if text == now)
        return redacted

    def message(self, message: Incoming) -> Incoming:
        """A message with its text redacted."""
        return _changed(message, text=self.text(message.text))


def _changed(of: R, **parts: Any) -> R:  # noqa: ANN401 - fields
    """The record with these fields; the same object if none differs, which is faster and most frequent."""
    changed = {name: part for name, part in parts.items() if getattr(of, name) != part}
    return replace(of, **changed) if changed else of


def _known_forms(text: str) -> list[Secret]:
    found: list[Secret] = []
    folded = text.casefold()
    has = folded.__contains__
    for kind, pattern in _FORMS if cues_in(text, _CUES) or any(map(has, _CUES_IN_SMALL)) else ():
        for match in pattern.finditer(text):
            start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
            found.append(Secret(start=start, end=end, kind=kind))
    is_key = "key" in folded and (not text.isascii() or any(map(has, _KEY_OF)))
    is_named = is_key or any(map(has, _NAME_PARTS))
    is_given = is_named and any(map(has, ":=："))
    if is_named:
        found += _quoted_or_phrases(text)
    for pattern, is_secret in ((_ASSIGNED, _looks_secret), (_GIVEN, _is_no_word))[: is_named + is_given]:
        for match in pattern.finditer(text):
            value = match["secret"].rstrip(".,;:!?)]}>")
            start = match.start("secret")
            if (
                len(value) >= 4
                and not _PLACEHOLDER.match(value)
                and is_secret(value)
                and not _PLACES.match(text, start)
            ):
                found.append(Secret(start=start, end=start + len(value), kind="password"))
    return found


def _quoted_or_phrases(text: str) -> list[Secret]:
    """Secrets of several words: in quotation marks, and passphrases."""
    spans = [match.span(match.lastgroup or 0) for match in _QUOTED.finditer(text)]
    spans += [
        match.span("secret")
        for match in _PHRASE.finditer(text)
        if not _OF_A_SENTENCE.search(text, *match.span("secret"))
    ]
    return [
        Secret(start=start, end=end, kind="password")
        for start, end in spans
        if not _PLACEHOLDER.match(text, start) and not _WORDS.match(text, start) and not _PLACES.match(text, start)
    ]


def _is_no_word(value: str) -> bool:
    return not _WORDS.match(value)


def _looks_secret(value: str) -> bool:
    """Whether it looks like a secret, not like a word of a sentence ("the password is required")."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return (has_digit and (has_letter or len(value) >= 6)) or bool(_SYMBOL.search(value)) or len(value) >= 24


def _without(text: str, found: Iterable[Secret]) -> str:
    """The text with marks for the secrets. Overlapping ones are merged, with the kind of the first; marks are kept."""
    parts: list[str] = []
    done = 0
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if secret.start >= secret.end or secret.start < 0:
            continue
        if merged and secret.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, secret.end))
        else:
            merged.append(secret)
    for secret in merged:
        if text[secret.start : secret.end].startswith("[redacted"):
            continue
        parts += [text[done : secret.start], _mark(secret.kind)]
        done = secret.end
    return "".join([*parts, text[done:]])


def _mark(kind: str) -> str:
    return f"{MARK}{kind}]"
