"""Discord's REST errors, by the names the official list gives them."""

from tests.doubles.discord.model import Json


class ApiError(Exception):
    """Answered as JSON. `code` is Discord's own; `errors` the tree of an invalid form."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    def body(self) -> Json:
        """As it is sent."""
        tree: Json = {} if self.errors is None else {"errors": self.errors}
        return {"message": self.message, "code": self.code, **tree}


KNOWN: dict[int, tuple[int, str]] = {
    0: (401, "401: Unauthorized"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    20028: (429, "The write action you are performing on the channel has hit the write rate limit."),
    30010: (403, "Maximum number of reactions reached (20)"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50013: (403, "Missing Permissions"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    130000: (503, "API resource is currently overloaded. Try again a little later"),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
}
"""Code -> its HTTP status and text."""


def error(code: int) -> ApiError:
    """One of the known errors."""
    status, message = KNOWN[code]
    return ApiError(status, code, message)


class Problems:
    """Collects what is wrong with a form, then tells it all at once (50035)."""

    def __init__(self) -> None:
        self._tree: Json = {}

    def add(self, path: str, code: str, message: str) -> None:
        """`path` is dotted, as in `embeds.0.title`."""
        node = self._tree
        for key in path.split("."):
            node = node.setdefault(key, {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def length(self, path: str, text: object, longest: int, shortest: int = 0) -> None:
        """Text must have so many characters; None stands for none."""
        size = len(str(text)) if text is not None else 0
        if size > longest:
            self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {longest} or fewer in length.")
        if size < shortest:
            code = "BASE_TYPE_REQUIRED" if text is None else "BASE_TYPE_BAD_LENGTH"
            self.add(path, code, f"Must be between {shortest} and {longest} in length.")

    def count(self, path: str, number: int, most: int, least: int = 0) -> None:
        """A list must have so many entries."""
        if not least <= number <= most:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")

    def tell(self) -> None:
        """Raise if anything was added."""
        if self._tree:
            status, message = KNOWN[50035]
            raise ApiError(status, 50035, message, self._tree)
