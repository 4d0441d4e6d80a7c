"""The connection on which a program provides a service."""

import asyncio
import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from .connection import Backoff, Connection, Object
from .errors import BinderError, ConnectionLost, DaemonError
from .service import Call, Refusal, Service

_log: Final = logging.getLogger("binder")

#: The longest message of an error, in characters.
_MAX_MESSAGE: Final = 500
#: The most replies that are kept for calls that the daemon may deliver again.
_MAX_REPLIES: Final = 256

#: A queued call: the journal, and the position in it.
_Key = tuple[str, str]


@dataclass(slots=True)
class _Waiting:
    """A call that the daemon has delivered."""

    id: str
    frame: Object
    #: The number of the connection on which it came.
    link: int
    epoch: str
    deadline: float

    @property
    def is_queued(self) -> bool:
        return self.id.startswith("q")

    @property
    def key(self) -> _Key:
        return (self.epoch, self.id)


class Provider:
    """A service that is provided, until it is closed or the daemon refuses it.

    If the connection is lost, it provides the service again. A queued call that it works on, or has
    answered without a receipt, is not run twice: when the daemon delivers it again, it gets the
    answer. Direct calls have ended with the connection.
    """

    def __init__(self, paths: list[str], service: Service) -> None:
        self._paths = paths
        self._service = service
        self._connection: Connection | None = None
        self._link = 0
        self._ids = itertools.count(1)
        #: What to do with the answers to requests.
        self._answers: dict[int, Callable[[Object | BinderError], None]] = {}
        self._calls: asyncio.Queue[_Waiting] = asyncio.Queue()
        #: The queued calls that run, and the replies that the daemon may not have.
        self._running: set[_Key] = set()
        self._replies: dict[_Key, Object] = {}
        #: The queued calls that were delivered on this connection.
        self._delivered: set[_Key] = set()
        self._busy = 0
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_closing = False
        #: The task that closes the provider after a signal.
        self.closing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connects and provides. `Client.provide` has done it."""
        await self._connect()
        workers = [self._work() for _ in range(self._service.jobs)]
        self._tasks = [asyncio.create_task(one) for one in [self._read(), *workers]]

    async def wait(self) -> None:
        """Waits until the provider is closed; raises the error that has ended it."""
        await asyncio.shield(self._end)

    async def close(self) -> None:
        """Takes no more calls, finishes those that it has, and ends the connection."""
        if self._connection is not None and not self._end.done():
            self._is_closing = True
            withdrawn = asyncio.get_running_loop().create_future()
            self._request(
                "withdraw", {"service": self._service.name}, lambda _: _settle(withdrawn)
            )
            await withdrawn
            async with self._changed:
                await self._changed.wait_for(lambda: self._is_idle or self._end.done())
        await self._finish(None)
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _is_idle(self) -> bool:
        return not self._busy and self._calls.empty() and not self._answers

    async def _finish(self, error: BinderError | None) -> None:
        if not self._end.done():
            if error is None:
                self._end.set_result(None)
            else:
                self._end.set_exception(error)
                self._end.exception()  # Nobody may wait for it.
        self._lose(ConnectionLost("the provider is closed"))
        await self._notify()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    # The connection

    async def _connect(self) -> None:
        connection = await Connection.open(self._paths, self._service.name)
        try:
            await connection.send(0, "provide", self._service.declaration)
            frame = await connection.receive()
            while "id" not in frame:
                frame = await connection.receive()
            if "error" in frame:
                raise DaemonError(frame["error"])
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._link += 1
        await self._notify()

    async def _read(self) -> None:
        """Takes calls and answers, and connects again, until an error that does not pass."""
        backoff = Backoff()
        try:
            while True:
                error: BinderError
                try:
                    while True:
                        if self._connection is None:
                            raise ConnectionLost("the connection is lost")
                        self._take(await self._connection.receive())
                        backoff.reset()
                        await self._notify()
                except ConnectionLost as lost:
                    error = lost
                self._lose(error)
                await self._notify()
                if self._is_closing:
                    return await self._finish(None)
                while self._connection is None:
                    await backoff.wait(error)
                    try:
                        await self._connect()
                    except BinderError as another:
                        error = another
        except BinderError as final:
            await self._finish(final)

    def _lose(self, error: BinderError) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._delivered.clear()
        # The daemon has ended direct calls, and delivers queued ones again.
        while not self._calls.empty():
            self._calls.get_nowait()
        answers, self._answers = self._answers, {}
        for answer in answers.values():
            answer(error)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _request(
        self, method: str, params: Object, answer: Callable[[Object | BinderError], None]
    ) -> None:
        """Sends a request; `answer` is called once, also if the connection is lost.

        Raises `DaemonError` and `ValueError` if it cannot be sent at all.
        """
        connection = self._connection
        if connection is None:
            return answer(ConnectionLost("the connection is lost"))
        id = next(self._ids)
        line = connection.encode(id, method, params)
        self._answers[id] = answer
        connection.write(line)

    async def _get(self, source: str) -> Any:
        """Returns a value, also if the connection is lost meanwhile; `None` if there is none."""
        while True:
            async with self._changed:
                await self._changed.wait_for(
                    lambda: self._connection is not None or self._end.done()
                )
            if self._end.done():
                raise ConnectionLost("the provider is closed")
            answer: asyncio.Future[Object | BinderError] = (
                asyncio.get_running_loop().create_future()
            )
            self._request("get", {"source": source}, lambda got: _settle(answer, got))
            got = await answer
            if isinstance(got, DaemonError):
                if got.name == "not_found":
                    return None
                raise got
            if isinstance(got, dict):
                return got.get("value")

    def _take(self, frame: Object) -> None:
        if "id" in frame:
            answer = self._answers.pop(frame["id"], None)
            if answer is not None:
                answer(DaemonError(frame["error"]) if "error" in frame else frame["result"])
        elif frame.get("method") == "call" and self._connection is not None:
            params = frame["params"]
            end = time.monotonic() + self._service.timeout
            epoch = self._connection.epoch
            self._deliver(_Waiting(params["call"], params, self._link, epoch, end))

    def _deliver(self, call: _Waiting) -> None:
        if not call.is_queued:
            return self._calls.put_nowait(call)
        self._delivered.add(call.key)
        if call.key in self._replies:
            self._reply(call, self._replies[call.key])
        elif call.key not in self._running:
            self._calls.put_nowait(call)

    # Calls

    async def _work(self) -> None:
        while True:
            call = await self._calls.get()
            # The daemon has given up a direct call.
            if not call.is_queued and time.monotonic() > call.deadline:
                continue
            self._busy += 1
            self._running.add(call.key)
            try:
                await self._run(call)
            finally:
                self._running.discard(call.key)
                self._busy -= 1
            await self._notify()

    async def _run(self, waiting: _Waiting) -> None:
        params = waiting.frame
        name = params["method"].split(".", 1)[1]
        call = Call(self._service.name, params["params"], params["caller"], self._get)
        try:
            reply = call.reply(await self._service.methods[name].run(call))
        except Refusal as refusal:
            reply = {"error": str(refusal)[:_MAX_MESSAGE]}
        except Exception as error:
            _log.exception("%s failed", params["method"])
            reply = {"error": f"{type(error).__name__}: {error}"[:_MAX_MESSAGE]}
        if waiting.is_queued:
            self._replies[waiting.key] = reply
            # Another program may have answered the call meanwhile; then nobody asks for the reply.
            if len(self._replies) > _MAX_REPLIES:
                del self._replies[next(iter(self._replies))]
            if waiting.key not in self._delivered:
                return  # It is sent when the daemon delivers the call again.
        elif waiting.link != self._link:
            return
        self._reply(waiting, reply)

    def _reply(self, call: _Waiting, reply: Object) -> None:
        def answered(answer: Object | BinderError) -> None:
            if isinstance(answer, ConnectionLost):
                return
            self._replies.pop(call.key, None)
            # The caller may have gone away meanwhile: `not_found`.
            if isinstance(answer, DaemonError) and answer.name != "not_found":
                _log.error("the reply to %s was refused: %s", call.frame["method"], answer)

        try:
            self._request("reply", {"call": call.id, **reply}, answered)
        except (DaemonError, TypeError, ValueError) as error:
            # It is too long, or not JSON.
            _log.error("the reply to %s cannot be sent: %s", call.frame["method"], error)
            message = f"the result cannot be sent: {error}"[:_MAX_MESSAGE]
            self._request("reply", {"call": call.id, "error": message}, answered)


def _settle(future: "asyncio.Future[Any]", value: Any = None) -> None:
    if not future.done():
        future.set_result(value)
