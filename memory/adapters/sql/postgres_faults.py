"""PostgreSQL's errors in the words of `memory.errors` (postgresql.org/docs/current/errcodes-appendix.html)."""

from memory.errors import Conflict, InvalidInput, MemoryFault, NotADatabase, StoreFull, StoreReadOnly, StoreUnavailable

_SHOWN = 200
"""Characters of the server's words that are repeated."""


def sqlstate(error: BaseException | None) -> str:
    """The five characters by which PostgreSQL names an error; empty where the server said nothing."""
    return getattr(error, "sqlstate", None) or ""


def postgres_fault(error: Exception, where: object) -> MemoryFault:
    """The error to raise instead."""
    code = sqlstate(error)
    return _of_input(code, error) or _of_access(code, error, where) or _of_now(code, error, where)


def _of_input(code: str, error: Exception) -> MemoryFault | None:
    """What the caller gave cannot be kept or looked up."""
    if code == "22003":
        return InvalidInput("A number is too large for the database. Give a smaller one.")
    if code == "54000":
        return InvalidInput("A name or an id is too long for the database. Shorten it and try again.")
    if code in ("22021", "22P05") or (not code and "NUL" in str(error)):
        return InvalidInput("A text has a character that the database cannot look up (NUL). Type it again.")
    return None


def _of_access(code: str, error: Exception, where: object) -> MemoryFault | None:
    """The address, the account or the database itself has to be changed."""
    match code or _refusal(str(error)):
        case "28000" | "28P01":
            return NotADatabase(f"The database {where} refused the user or the password. Correct DATABASE_URL.")
        case "3D000":
            return NotADatabase(f"There is no database {where}. Create it (`createdb`), or correct DATABASE_URL.")
        case "42501":
            return StoreReadOnly(f"The user of DATABASE_URL may not do this in {where} ({_first_line(error)}).")
        case "XX001" | "XX002":
            return NotADatabase(f"The database {where} is damaged ({_first_line(error)}). Restore it from a backup.")
        case _:
            return None


def _refusal(words: str) -> str:
    """The code of an error of connecting, which comes without one."""
    if "FATAL" not in words:
        return ""
    if "database" in words and "does not exist" in words:
        return "3D000"
    return "28000" if any(each in words for each in ("authentication failed", "pg_hba.conf", 'role "')) else ""


def _of_now(code: str, error: Exception, where: object) -> MemoryFault:
    """It may be otherwise in a moment."""
    match code:
        case "25006":
            return StoreUnavailable(f"The server of {where} takes no writes: it is a standby. Try again in a moment.")
        case "53100":
            return StoreFull(f"The disk of the database {where} is full. Free some space and try again.")
        case "53300":
            return StoreUnavailable(f"The server of {where} has no connection left. Raise its max_connections.")
        case "57014":
            return StoreUnavailable(f"The database {where} took too long and was interrupted. Try again in a moment.")
        case "55P03" | "40001" | "40P01":
            return StoreUnavailable(f"The database {where} is locked by another process. Try again in a moment.")
        case _ if code.startswith("23"):
            return Conflict(f"The database {where} refused a contradicting write ({code}). Nothing was changed.")
        case "" | "57P01" | "57P02" | "57P03" | "08000" | "08003" | "08006":
            return StoreUnavailable(f"The database {where} cannot be reached. Try again in a moment.")
        case _:
            return StoreUnavailable(f"The database {where} failed ({_first_line(error)}). Run `goodbot doctor`.")


def _first_line(error: Exception) -> str:
    """What the server said first; what follows may repeat somebody's words."""
    return str(error).partition("\n")[0][:_SHOWN]
