"""The driver of the Python client; `run` describes its lines."""

import asyncio
import dataclasses
import json
import sys
from typing import Annotated, Any

import binder


def show_line(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def error(error: binder.BinderError) -> dict[str, object]:
    answer: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, binder.DaemonError):
        answer |= {"name": error.name, "code": error.code, "data": error.data}
    if isinstance(error, (binder.ConnectionLost, binder.SubscriptionClosed)):
        answer["reason"] = error.reason
    return {"error": answer}


async def read(lines: asyncio.StreamReader) -> list[str]:
    return (await lines.readline()).decode().rstrip("\n").split(" ", 2)


async def calls(client: binder.Client, lines: asyncio.StreamReader) -> None:
    while (words := await read(lines)) != [""]:
        kind, method = words[:2]
        try:
            if kind == "many":
                number, name = method, words[2]
                await asyncio.gather(
                    *(client.command("cells.add", {"name": name}) for _ in range(int(number)))
                )
                show_line({"result": {}})
            else:
                params = json.loads(words[2])
                if kind == "call":
                    show_line({"result": await client.call(method, params)})
                else:
                    show_line({"result": await client.command(method, params)})
        except binder.BinderError as refused:
            show_line(error(refused))


async def watch(client: binder.Client, lines: asyncio.StreamReader) -> None:
    source, options, cursor = sys.argv[2:5]
    resume = binder.Cursor(**json.loads(cursor)) if cursor else None
    subscription = await client.subscribe(source, json.loads(options), resume=resume)
    show_line({"ready": True})
    while (words := await read(lines)) != [""]:
        if words[0] == "ack":
            await subscription.ack(int(words[1]))
            continue
        update = await anext(subscription)
        default = {field.name: field.default for field in dataclasses.fields(update)}
        members = dataclasses.asdict(update).items()
        shown = {name: value for name, value in members if value != default[name]}
        if update.cursor and not update.cursor.part:
            del shown["cursor"]["part"]
        show_line(shown)


VIEW = 'view "The stock."\nservices/stock/n ~> n\nadd -> stock.add name="n"'


async def provide(client: binder.Client, lines: asyncio.StreamReader) -> None:
    service = binder.Service(sys.argv[2], "A service of the driver.", jobs=int(sys.argv[3]))
    service.sources = {"n": "A number."}
    if service.name == "stock":
        service.views = {"stock": VIEW}
    released: asyncio.Queue[None] = asyncio.Queue()

    @service.method
    def echo(call: binder.Call, **params: Any) -> Any:
        return {"params": call.params, "uid": call.uid}

    @service.method
    async def add(call: binder.Call, name: Annotated[str, "Of which."], n: int = 1) -> int:
        """Adds to a number.

        The rest is not for callers.
        """
        count: int = await call.get(name, 0) + n
        call.set(name, count)
        assert await call.get(name) == count
        return count

    @service.method
    def remove(call: binder.Call, name: str) -> None:
        call.remove(name)

    @service.method
    def show(call: binder.Call, value: Any) -> None:
        call.publish("last", value)

    @service.method
    def refuse(call: binder.Call, why: str) -> None:
        call.set("n", "is not recorded")
        raise binder.Refusal(why)

    @service.method
    def fail() -> None:
        raise ValueError("boom")

    @service.method(result={"type": "integer"})
    def wrong() -> str:
        return "text"

    @service.method
    def long() -> str:
        return "x" * (2 << 20)

    async def hold(call: binder.Call, name: str) -> str:
        show_line({"begun": name})
        await released.get()
        call.set(f"held/{name}", await call.get(f"held/{name}", 0) + 1)
        return name

    service.method(hold)
    service.method(queued=True, name="order")(hold)

    async with await client.provide(service) as provider:
        show_line({"ready": True})
        ended = asyncio.create_task(provider.wait())
        while True:
            line = asyncio.create_task(read(lines))
            await asyncio.wait([ended, line], return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                await ended
                return show_line({"ended": True})
            match line.result():
                case ["go"]:
                    released.put_nowait(None)
                case ["stop"]:
                    provider.closing = asyncio.create_task(provider.close())
                case _:
                    return


async def main() -> None:
    lines = asyncio.StreamReader(limit=1 << 22)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    try:
        async with await binder.connect(name="driver") as client:
            await {"calls": calls, "watch": watch, "provide": provide}[sys.argv[1]](client, lines)
    except binder.BinderError as refused:
        show_line(error(refused))


asyncio.run(main())
