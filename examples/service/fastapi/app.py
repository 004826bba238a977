"""Orders whose ids are made in this process. ../README.md tells how to run it.

Worker ids come from LEAFID_WORKER: a range of this host, `hostname:orders` in a StatefulSet, or lease servers.
"""

import logging
from contextlib import asynccontextmanager
from pathlib import Path

import leafid
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel

logging.basicConfig(level=logging.INFO)


@asynccontextmanager
async def lifespan(app: FastAPI):
    # After the fork of a server with several workers: each claims a worker id, and gives it back at a clean end.
    with leafid.Snowflake() as flake:
        flake.next()  # A wrong LEAFID_WORKER ends the start, and not the first request.
        app.state.flake = flake
        yield


app = FastAPI(title="orders", lifespan=lifespan)


class Order(BaseModel):
    item: str


@app.exception_handler(leafid.Error)
async def no_id(request: Request, error: leafid.Error) -> JSONResponse:
    if error.can_retry:
        return JSONResponse({"error": error.code}, status_code=503, headers={"Retry-After": "1"})
    logging.getLogger("orders").error("no id: %s", error)
    return JSONResponse({"error": error.code}, status_code=500)


@app.post("/orders", status_code=201)
async def create(order: Order) -> dict[str, str]:
    # A call of nanoseconds, so it may run in the event loop. Text, because JavaScript's numbers end at 2^53.
    id = app.state.flake.next()
    return {"id": str(id), "item": order.item}


@app.get("/orders/{id}")
async def made_at(id: str) -> dict[str, str | int]:
    try:
        parts = leafid.decode(id)
    except leafid.Error as error:
        raise HTTPException(404, "no such order") from error
    return {"id": id, "created": parts.time.isoformat(), "worker_id": parts.worker_id}


@app.get("/health")
async def health() -> dict[str, int]:
    app.state.flake.next()  # Fails as an order would.
    return {"worker_id": app.state.flake.worker_id}


@app.get("/", include_in_schema=False)
async def page() -> FileResponse:
    return FileResponse(Path(__file__).parents[1] / "metrics.html")


@app.get("/metrics")
async def metrics() -> Response:
    return Response(leafid.metrics(), media_type="application/openmetrics-text; version=1.0.0; charset=utf-8")
