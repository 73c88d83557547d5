"""Web frameworks that the service could have been built on, each with one route: JSON in, JSON out, nothing between.

Run by benchmarks/serving.py: python empty_routes.py NAME PORT.
"""

# mypy: ignore-errors
import sys

import msgspec


class Body(msgspec.Struct):
    """What comes in."""

    step: int
    state: int


def starlette_app():
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    decoder, encoder = msgspec.json.Decoder(Body), msgspec.json.Encoder()

    async def answer(request: Request) -> Response:
        body = decoder.decode(await request.body())
        content = encoder.encode({"action": 1, "probability": 0.2, "step": body.step})
        return Response(content, media_type="application/json")

    return Starlette(routes=[Route("/empty", answer, methods=["POST"])])


def fastapi_app():
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Asked(BaseModel):
        step: int
        state: int

    class Chosen(BaseModel):
        action: int
        probability: float
        step: int

    app = FastAPI()

    @app.post("/empty")
    async def answer(body: Asked) -> Chosen:
        return Chosen(action=1, probability=0.2, step=body.step)

    return app


def litestar_app():
    from litestar import Litestar, post

    @post("/empty", status_code=200)
    async def answer(data: Body) -> dict[str, object]:
        return {"action": 1, "probability": 0.2, "step": data.step}

    return Litestar([answer])


def run_uvicorn(app, port):
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


def run_granian(port):
    from granian import Granian

    server = Granian(
        "empty_routes:granian_app", address="127.0.0.1", port=port, interface="asgi", log_enabled=False
    )
    server.serve()


def __getattr__(name):
    if name == "granian_app":
        return starlette_app()
    raise AttributeError(name)


if __name__ == "__main__":
    name, port = sys.argv[1], int(sys.argv[2])
    if name == "granian":
        run_granian(port)
    else:
        run_uvicorn(
            {"starlette": starlette_app, "fastapi": fastapi_app, "litestar": litestar_app}[name](), port
        )
