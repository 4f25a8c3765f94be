"""The error response that all routes share, and the handlers that make it."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from bot.errors import AccessDenied
from memory.errors import (
    Conflict,
    EmbeddingFailed,
    GraderMissing,
    InvalidInput,
    JobFailed,
    MemoryFault,
    NotAdmitted,
    NotFound,
    StoreUnavailable,
)

log = logging.getLogger(__name__)

_STATUSES: dict[type[Exception], HTTPStatus] = {
    AccessDenied: HTTPStatus.FORBIDDEN,
    NotAdmitted: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    JobFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
    GraderMissing: HTTPStatus.INTERNAL_SERVER_ERROR,
}
_PARTS: dict[type[Exception], str] = {
    StoreUnavailable: "the memory cannot be used",
    EmbeddingFailed: "the embedder cannot be used",
}


class Problem(BaseModel):
    """An error. `detail` is for people, `code` for programs, `request_id` for whoever reads the log."""

    detail: str
    code: str
    request_id: str
    fields: list[dict[str, object]] = []
    """The faults of an invalid request, with their locations."""


_CODES = {413: "request_entity_too_large", 422: "unprocessable_entity"}
"""The codes of errors whose names differ between versions of Python."""


def problem(
    status: int,
    detail: str,
    request_id: str,
    *,
    fields: list[dict[str, object]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error response."""
    code = _CODES.get(status) or HTTPStatus(status).name.lower()
    body = Problem(detail=detail, code=code, request_id=request_id, fields=fields or [])
    return JSONResponse(body.model_dump(), status, headers)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Handle an error of the router, such as an unknown path or method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    if error.status_code == HTTPStatus.BAD_REQUEST:  # FastAPI's for a body that is no UTF-8
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error.detail), request.state.request_id)
    return problem(error.status_code, str(error.detail), request.state.request_id, headers=error.headers)


async def on_failure(request: Request, error: Exception) -> JSONResponse:
    """Handle an unexpected error: log it with the request's id."""
    log.error("request %s failed", request.state.request_id, exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "this went wrong; the log says why", request.state.request_id)


async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Handle an invalid body or parameter. The response does not repeat it, as it may be a secret."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    fields: list[dict[str, object]] = [
        {"where": jsonable_encoder(each["loc"]), "what": str(each["msg"])} for each in error.errors()
    ]
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return problem(status, "the request cannot be understood", request.state.request_id, fields=fields)


async def on_told_fault(request: Request, error: Exception) -> JSONResponse:
    """Handle an error whose text is for the caller: one of the memory, or a key that does not permit a request."""
    status = status_of(error)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        return unavailable(request.state.request_id, error)
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        return await on_failure(request, error)
    return problem(status, str(error), request.state.request_id)


def status_of(error: Exception) -> HTTPStatus:
    """The status for an error of the memory or the bot; 503 for what may pass."""
    found = (status for kind, status in _STATUSES.items() if isinstance(error, kind))
    return next(found, HTTPStatus.SERVICE_UNAVAILABLE)


def unavailable(request_id: str, error: Exception) -> JSONResponse:
    """The response where a part cannot be used: which, and whether waiting helps, but not where it is kept."""
    log.error("request %s failed: %s", request_id, error)
    what = next((words for kind, words in _PARTS.items() if isinstance(error, kind)), "this cannot be done")
    is_passing = not isinstance(error, MemoryFault) or error.retryable
    when = "at the moment, try again later" if is_passing else "until an administrator mends it"
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{what} {when}; the log says why", request_id)


async def on_unavailable(request: Request, error: Exception) -> JSONResponse:
    """Handle an error of the memory outside the HTTP interface."""
    assert isinstance(error, MemoryFault)  # noqa: S101 - registered for nothing else
    return unavailable(request.state.request_id, error)
