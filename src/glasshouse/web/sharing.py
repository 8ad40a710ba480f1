"""Sharing over HTTP: a run as one file to download.

Always holds: only a director gets a file with thoughts; whoever else asks for one gets the spectator's.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from glasshouse.web.reading import AsRole, Source
from glasshouse.web.refusals import READS

router = APIRouter(prefix="/api/v1", responses=READS)

Number = Annotated[int, Query(ge=1, le=2**53)]


def packing_of(request: Request) -> asyncio.Lock:
    """Held while a run is packed: a long one takes seconds of the server's time, however many ask for it."""
    packing: asyncio.Lock = request.app.state.packing
    return packing


@router.get("/runs/{run_id}/share.html", response_class=HTMLResponse)
async def share(
    source: Source,
    role: AsRole,
    packing: Annotated[asyncio.Lock, Depends(packing_of)],
    run_id: str,
    *,
    minds: Annotated[bool, Query(description="With everybody's thoughts. For directors.")] = False,
    first: Annotated[Number, Query(alias="from", description="Begin at this event.")] = 1,
    last: Annotated[Number | None, Query(alias="to", description="End at this event.")] = None,
) -> Response:
    """A run as one HTML file that opens from disk."""
    async with packing:
        made = await source.terrarium.share(
            run_id, minds=minds and role == "director", first=first, last=last
        )
    headers = {
        "content-disposition": f'attachment; filename="{made.name}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
    return Response(made.content, media_type="text/html; charset=utf-8", headers=headers)
