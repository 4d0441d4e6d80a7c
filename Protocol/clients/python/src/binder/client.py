"""Calls of methods on a connection that is renewed when it is lost."""

import asyncio
import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

from .connection import Backoff, Connection, Object, socket_paths
from .errors import BinderError, ConnectionLost, DaemonError, OutcomeUnknown
from .provider import Provider
from .service import Service
from .subscription import Cursor, Subscription

#: The most calls that wait for an answer at a time; further ones wait until one is answered.
MAX_IN_FLIGHT: Final = 256


async def connect(path: str | None = None, *, name: str = "python") -> "Client":
    """Connects to the daemon.

    `path` is that of the socket; without it the environment decides, as for `bindctl`. `name` is
    shown to the administrator. Raises `ConnectionFailed` if no daemon answers.
    """
    paths = socket_paths(path)
    return Client(paths, name, await Connection.open(paths, name))


@dataclass(slots=True)
class _Request:
    """A call that waits for its answer."""

    line: bytes
    epoch: str
    is_repeatable: bool
    answer: asyncio.Future[Object] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def fail(self, error: BinderError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Client:
    """A client of one daemon. Create it with `connect`.

    All methods may be called by several tasks at a time. Calls share a connection; each
    subscription has one of its own, so a slow reader delays nobody else.
    """

    def __init__(self, paths: list[str], name: str, connection: Connection) -> None:
        self._paths = paths
        self._name = name
        self._connection = connection
        self._ids = itertools.count(1)
        self._requests: dict[int, _Request] = {}  # in the order in which they were sent
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._is_ready = asyncio.Event()
        self._failure: BinderError | None = None
        self._task = asyncio.create_task(self._run())

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        cmd: str | None = None,
    ) -> Object:
        """Calls a method and returns its result.

        Raises `DaemonError` if the daemon refuses, and `ConnectionLost` if the connection is lost
        before the answer. With `cmd`, an idempotency key, the call is instead sent again on the
        next connection, and the daemon runs it once. While there is no connection, a call waits
        for one; use `asyncio.timeout` to limit that. Other options, such as `expect`, are members
        of `_meta` in `params`.
        """
        params = dict(params or {})
        if cmd is not None:
            params["_meta"] = {**params.get("_meta", {}), "cmd": cmd}
        async with self._slots:
            await self._is_ready.wait()
            if self._failure is not None:
                raise self._failure
            id = next(self._ids)
            connection = self._connection
            line = connection.encode(id, method, params)
            request = _Request(line, connection.epoch, cmd is not None)
            self._requests[id] = request
            try:
                connection.write(line)
                try:
                    await connection.drain()
                except ConnectionLost:
                    pass  # `_run` notices it too, and decides about all calls.
                return await request.answer
            except asyncio.CancelledError:
                # An asynchronous call, such as `wait`, would otherwise go on in the daemon.
                connection.write(connection.encode(None, "cancel", {"id": id}))
                raise
            finally:
                del self._requests[id]

    async def command(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> Object:
        """Calls a method that changes something, so that it takes effect exactly once."""
        return await self.call(method, params, cmd=str(uuid.uuid4()))

    async def get(self, source: str) -> Any:
        """Returns the current value of a source; `None` if it was removed."""
        return (await self.call("get", {"source": source})).get("value")

    async def set(self, source: str, value: Any) -> int:
        """Sets a source, exactly once, and returns the position of the change."""
        result = await self.command("set", {"source": source, "value": value})
        seq: int = result.get("seq", 0)
        return seq

    async def subscribe(
        self,
        source: str,
        options: Mapping[str, Any] | None = None,
        *,
        resume: Cursor | None = None,
    ) -> Subscription:
        """Subscribes to a source, to a pattern such as `cells/**`, or to `events`.

        `options` are the other parameters of the method `subscribe`, for example `filter`,
        `durable` or `{"mode": "every"}`. `resume` continues after a stored cursor, for `events`
        and with `mode` `every`. Raises `DaemonError` if the daemon refuses, and
        `ConnectionFailed` if there is no daemon.
        """
        params = {**(options or {}), "source": source}
        subscription = Subscription(self._paths, self._name, params, resume)
        await subscription.open()
        return subscription

    async def provide(self, service: Service) -> Provider:
        """Provides a service, and returns when others can call it.

        Raises `DaemonError` if the daemon refuses, for example because another program provides a
        service of this name.
        """
        provider = Provider(self._paths, service)
        await provider.open()
        return provider

    async def close(self) -> None:
        """Ends the connection. Calls that wait fail with `ConnectionLost`."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _run(self) -> None:
        """Passes answers on, and connects again, until an error that does not pass."""
        backoff = Backoff()
        failure: BinderError = ConnectionLost("the client is closed")
        try:
            while True:
                error: BinderError
                try:
                    await self._resend()
                    # Not for `hello`: the daemon may fail at the commands that were sent again.
                    if not self._requests:
                        backoff.reset()
                    self._is_ready.set()
                    while True:
                        frame = await self._connection.receive()
                        self._take(frame)
                        if "result" in frame:
                            backoff.reset()
                except ConnectionLost as lost:
                    error = lost
                self._is_ready.clear()
                self._connection.close()
                for request in self._requests.values():
                    if not request.is_repeatable:
                        request.fail(error)
                while True:
                    await backoff.wait(error)
                    try:
                        self._connection = await Connection.open(
                            self._paths, self._name
                        )
                        break
                    except BinderError as another:
                        error = another
        except BinderError as final:
            failure = final
        finally:
            self._failure = failure
            self._is_ready.set()
            for request in self._requests.values():
                request.fail(failure)

    async def _resend(self) -> None:
        """Sends the commands again that were not answered, with the same `cmd`."""
        for request in list(self._requests.values()):
            if request.answer.done():
                continue
            if request.epoch != self._connection.epoch:
                request.fail(OutcomeUnknown("the journal was replaced"))
                continue
            self._connection.write(request.line)
            await self._connection.drain()

    def _take(self, frame: Object) -> None:
        """Passes an answer to its call. Notifications are for subscriptions, and ignored here."""
        if "id" not in frame:
            return
        error = DaemonError(frame["error"]) if "error" in frame else None
        request = self._requests.get(frame["id"])
        if request is None:
            # The daemon could not read the id of a line, so that any call may be meant.
            if frame["id"] is None and error is not None:
                for request in self._requests.values():
                    request.fail(error)
        elif error is None:
            if not request.answer.done():
                request.answer.set_result(frame["result"])
        elif error.name != "shutting_down" or not request.is_repeatable:
            request.fail(error)
