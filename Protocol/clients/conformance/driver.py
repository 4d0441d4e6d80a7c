"""The driver of the Python client; `run` describes its lines."""

import asyncio
import dataclasses
import json
import sys

import binder


def show(answer: object) -> None:
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
                show({"result": {}})
            else:
                params = json.loads(words[2])
                if kind == "call":
                    show({"result": await client.call(method, params)})
                else:
                    show({"result": await client.command(method, params)})
        except binder.BinderError as refused:
            show(error(refused))


async def watch(client: binder.Client, lines: asyncio.StreamReader) -> None:
    source, options, cursor = sys.argv[2:5]
    resume = binder.Cursor(**json.loads(cursor)) if cursor else None
    subscription = await client.subscribe(source, json.loads(options), resume=resume)
    show({"ready": True})
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
        show(shown)


async def main() -> None:
    lines = asyncio.StreamReader(limit=1 << 22)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    try:
        async with await binder.connect(name="driver") as client:
            await (calls if sys.argv[1] == "calls" else watch)(client, lines)
    except binder.BinderError as refused:
        show(error(refused))


asyncio.run(main())
