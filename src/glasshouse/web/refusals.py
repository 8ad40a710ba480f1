"""Refusals: how the server answers what it does not do.

Always holds: a refusal is answered in words with the status that fits it, never with a traceback, and never with what
the caller sent: that may be a token. Only a director reads what may name files or servers of this machine.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from glasshouse.errors import (
    BadWorld,
    GlasshouseError,
    ModelFailed,
    ModelMisconfigured,
    ModelUnreachable,
    StoreError,
    UnknownName,
)
from glasshouse.web.access import Denied, retry_seconds

problems_told_max: Final = 8
"""How many problems of one request are told."""
problem_chars_max: Final = 200
"""The name of a field in a refusal is cut here."""


class Refusal(BaseModel):
    """Why something was not done."""

    error: str = Field(description="The name of the error.")
    message: str = Field(description="The reason, and what to do.")
    help: str = Field(
        "",
        description="The page of the docs, and its section, on this error. Empty for errors of the request.",
    )


_STATUS: Final[tuple[tuple[type[Exception], int], ...]] = (
    (UnknownName, 404),
    (StoreError, 503),
    (ModelUnreachable, 503),
    (ModelFailed, 503),
    (ModelMisconfigured, 503),
    (GlasshouseError, 409),
)
"""The first that fits decides."""
_OF_THIS_MACHINE: Final = (StoreError, BadWorld, ModelUnreachable, ModelFailed, ModelMisconfigured)
"""Errors whose texts may name files or servers."""


def refusal(status: int, error: str, message: str, help_page: str = "") -> Response:
    """An answer that says why not. A text that no encoding has is written with question marks."""
    body = {"error": error, "message": message.encode("utf-8", "replace").decode(), "help": help_page}
    headers = {"retry-after": str(retry_seconds)} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return Response(msgspec.json.encode(body), status, headers, media_type="application/json")


def add_refusals(served: FastAPI) -> None:
    """Have an app answer its errors in words."""
    served.add_exception_handler(GlasshouseError, _refused)
    served.add_exception_handler(Denied, _denied)
    served.add_exception_handler(RequestValidationError, _invalid)
    served.add_exception_handler(HTTPException, _http)


async def _denied(_request: Request, denied: Exception) -> Response:
    assert isinstance(denied, Denied)
    return refusal(denied.status, "Denied", str(denied))


async def _refused(request: Request, wrong: Exception) -> Response:
    status = next(status for error, status in _STATUS if isinstance(wrong, error))
    message = message_for(wrong, getattr(request.state, "role", ""))
    return refusal(
        status, type(wrong).__name__, message, wrong.help if isinstance(wrong, GlasshouseError) else ""
    )


def message_for(wrong: Exception, role: str) -> str:
    """Why not, as a role may read it."""
    if role == "director" or not isinstance(wrong, _OF_THIS_MACHINE):
        return str(wrong)
    return "Something that this needs cannot be used now. Ask whoever runs this server."


async def _invalid(_request: Request, wrong: Exception) -> Response:
    """What the caller sent does not fit. Names of fields are told, values are not."""
    assert isinstance(wrong, RequestValidationError)
    problems = [_problem(problem) for problem in wrong.errors()[:problems_told_max]]
    return refusal(422, "Invalid", "; ".join(problems) or "The request does not fit.")


def _problem(problem: dict[str, Any]) -> str:
    _, *field = problem["loc"]
    where = ".".join(map(str, field))[:problem_chars_max]
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


async def _http(_request: Request, wrong: Exception) -> Response:
    assert isinstance(wrong, HTTPException)
    answer = refusal(
        wrong.status_code, HTTPStatus(wrong.status_code).phrase.replace(" ", ""), str(wrong.detail)
    )
    answer.headers.update(wrong.headers or {})
    return answer


_REASONS: Final = {
    401: "No token, or one that grants nothing.",
    403: "The role may not do that, or the command comes from another site.",
    404: "Nothing is called that.",
    408: "The body did not arrive.",
    409: "The world refuses it as it is now; nothing has changed.",
    413: "The body is too large.",
    415: "A command is sent as JSON.",
    421: "The server is not called that.",
    422: "The request does not fit.",
    429: "The client has too much open at once.",
    503: "The server is full, or its store or a model cannot be used.",
}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals that a route may answer with, for its documentation."""
    return {status: {"model": Refusal, "description": _REASONS[status]} for status in sorted(statuses)}


EVERY: Final = answers(401, 421, 429, 503)
"""Every route may answer with these."""
READS: Final = answers(404, 409, 422)
"""What a route that reads may answer with besides."""
COMMANDS: Final = answers(403, 404, 408, 409, 413, 415, 422)
"""What a command may be answered with besides."""
