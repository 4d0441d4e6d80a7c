"""One connection to the daemon, and the pauses between connections."""

import asyncio
import json
import os
import random
from collections.abc import Mapping
from typing import Any, Final

from .errors import BinderError, ConnectionFailed, ConnectionLost, DaemonError

Object = dict[str, Any]

#: The longest line in bytes that the client takes. A longer value comes in parts.
MAX_LINE: Final = 1 << 20

#: The first and the longest pause before connecting again, in seconds.
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0


def socket_paths(path: str | None) -> list[str]:
    """Returns the paths where a daemon may listen, in the order to try them."""
    named = path or os.environ.get("BINDER_SOCKET")
    if named:
        return [named]
    user = os.environ.get("XDG_RUNTIME_DIR")
    name = os.environ.get("BINDER_NAME")
    directory = name if name and name != "binderd" else "binder"
    return ([f"{user}/{directory}/bus.sock"] if user else []) + [f"/run/{directory}/bus.sock"]


class Connection:
    """A connection on which `hello` was answered."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._max_request = MAX_LINE
        self.epoch = ""

    @classmethod
    async def open(cls, paths: list[str], name: str) -> "Connection":
        """Connects to the first path where a daemon listens, and says `hello`."""
        failures = []
        for path in paths:
            try:
                reader, writer = await asyncio.open_unix_connection(
                    path, limit=MAX_LINE + 2
                )
            except OSError as error:
                failures.append(f"cannot connect to {path}: {error.strerror or error}")
                continue
            connection = cls(reader, writer)
            try:
                await connection._greet(name)
            except BaseException:
                connection.close()
                raise
            return connection
        raise ConnectionFailed("; ".join(failures) + "; is binderd running?")

    async def _greet(self, name: str) -> None:
        await self.send(
            0,
            "hello",
            {
                "protocol": [1],
                "client": {"name": name},
                "optional": ["items"],
                "limits": {"line": MAX_LINE},
            },
        )
        frame = await self.receive()
        if "error" in frame:
            raise DaemonError(frame["error"])
        self.epoch = frame["result"]["epoch"]
        self._max_request = frame["result"]["limits"]["line_in"]

    def encode(self, id: int | None, method: str, params: Mapping[str, Any]) -> bytes:
        """Returns the line of a request; without an id the daemon does not answer it.

        Raises `DaemonError` (`line_too_long`) if the daemon takes no such long line. The daemon's
        own error would have no id, because it drops the line.
        """
        frame: Object = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        if id is None:
            del frame["id"]
        text = json.dumps(
            frame, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        line = text.encode() + b"\n"
        if len(line) > self._max_request:
            limit = self._max_request
            message = f"the request has {len(line)} bytes, a line has at most {limit}"
            data = {"name": "line_too_long", "retry": False, "limit": "line_in", "max": limit}
            raise DaemonError({"code": -32001, "message": message, "data": data})
        return line

    def write(self, line: bytes) -> None:
        """Sends a line without waiting until the daemon has room for it."""
        self._writer.write(line)

    async def drain(self) -> None:
        """Waits until the daemon has room for more."""
        try:
            await self._writer.drain()
        except OSError as error:
            raise ConnectionLost(f"the connection is lost: {error}") from error

    async def send(
        self, id: int | None, method: str, params: Mapping[str, Any]
    ) -> None:
        """Sends a request and waits until the daemon has room for more."""
        self.write(self.encode(id, method, params))
        await self.drain()

    async def receive(self) -> Object:
        """Waits for the next answer or notification.

        Raises `ConnectionLost` at the end of the connection. It reads only when it is called, so
        that a slow caller slows down the daemon and needs no memory.
        """
        try:
            line = await self._reader.readuntil(b"\n")
            frame: Object = json.loads(line)
        except asyncio.IncompleteReadError as error:
            raise ConnectionLost("the daemon has closed the connection") from error
        except (OSError, ValueError, asyncio.LimitOverrunError) as error:
            raise ConnectionLost(f"the connection is lost: {error}") from error
        if frame.get("method") == "closing":
            reason = frame["params"]["reason"]
            raise ConnectionLost(
                f"the daemon has closed the connection: {reason}",
                reason,
                frame["params"].get("reconnect_ms"),
            )
        return frame

    def close(self) -> None:
        """Ends the connection at once."""
        self._writer.transport.abort()


class Backoff:
    """Pauses that double, with a random part so that many clients do not return at once."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE

    def reset(self) -> None:
        """Begins with the shortest pause again, after a success."""
        self._pause = FIRST_PAUSE

    async def wait(self, error: BinderError) -> None:
        """Waits before the next attempt; raises `error` if another attempt cannot help."""
        if not error.is_temporary:
            raise error
        if isinstance(error, ConnectionLost) and error.reconnect_ms is not None:
            await asyncio.sleep(error.reconnect_ms / 1000)
            return
        await asyncio.sleep(random.uniform(self._pause / 2, self._pause))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
