"""Subscriptions that survive the loss of their connection."""

from collections import deque
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import Any, Literal, Self

from .connection import Backoff, Connection, Object
from .errors import BinderError, ConnectionLost, DaemonError, SubscriptionClosed


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in the journal to resume after.

    One event may change several sources of a pattern. `part` is how many changes of the event after
    `seq` were handed out, with `mode` `every`.
    """

    epoch: str
    seq: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the journal. `version` is its position in its stream."""

    type: str
    stream: str
    version: int
    time: str
    data: Any
    cmd: str | None = None
    who: Object | None = None


#: The type of an update: the reply to `subscribe`, or the method of a notification.
UpdateType = Literal[
    "snapshot", "next", "caught_up", "mark", "behind", "lagged", "paused"
]


@dataclass(frozen=True, slots=True)
class Update:
    """One step of a subscription.

    A `snapshot` has the present: `value`, `gone`, `values` of a pattern, or `state`. A source of
    the newest value sends one again when the client has reconnected; it replaces all before. A
    `next` has a change. `lagged` names removed events in `missed`. The other types have only
    positions, and a program may ignore them.

    Store `cursor` once the update is processed, to resume after it in a new process. It is `None`
    for sources that are not journaled.
    """

    type: UpdateType
    source: str
    cursor: Cursor | None
    seq: int | None = None
    value: Any = None
    gone: bool = False
    values: Object | None = None
    changes: list[Object] | None = None
    part: Object | None = None
    more: bool = False
    event: Event | None = None
    state: str | None = None
    error: Object | None = None
    skipped: int = 0
    delivery: int = 1
    missed: Object | None = None


_MEMBERS = {f.name for f in fields(Update)} - {"type", "source", "cursor", "event"}
_EVENT_MEMBERS = {f.name for f in fields(Event)}
_NOTIFICATIONS = {"next", "caught_up", "mark", "behind", "lagged", "paused"}
_MOVES_CURSOR = {"snapshot", "next", "caught_up", "mark", "lagged"}
_HANDLE = "s"


class Subscription:
    """An asynchronous iterator of updates. Create it with `Client.subscribe`.

    It has a connection of its own and reads a line only when the program asks for the next
    update. So a slow program needs no memory: the daemon keeps the newest value for it, or feeds
    events from the journal at its pace.

    Iteration raises `DaemonError` when the daemon ends the subscription, or refuses to resume it
    because the journal was replaced (`epoch_mismatch`, `seq_future`) or no longer has the events
    after the cursor (`seq_expired`). Section 15 of the protocol says what to do then.
    """

    def __init__(
        self, paths: list[str], name: str, params: Object, resume: Cursor | None
    ) -> None:
        self._paths = paths
        self._name = name
        self._params = params
        self._cursor = resume
        self._connection: Connection | None = None
        self._backoff = Backoff()
        self._ready: deque[Update] = deque()
        self._acknowledged = 0
        self._end: BinderError | None = None
        # Changes that the daemon sends again because they are of one event with others.
        self._repeated = 0
        is_every = params.get("mode") == "every"
        self._is_every_of_pattern = is_every and "*" in params["source"]
        # Whether the daemon resumes after a position that the client names.
        self._is_positional = (
            params["source"] == "events" or is_every
        ) and "durable" not in params

    @property
    def cursor(self) -> Cursor | None:
        """The position after which the subscription resumes."""
        return self._cursor

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        while not self._ready:
            if self._end is not None:
                raise self._end
            if self._connection is None:
                raise ConnectionLost("the subscription is not open")
            try:
                await self._receive(self._connection)
            except ConnectionLost as lost:
                await self._reconnect(lost)
        update = self._ready.popleft()
        self._cursor = update.cursor
        return update

    async def ack(self, seq: int) -> None:
        """Acknowledges an event of a durable reader, and those before it.

        It does not wait for the answer; a refusal ends the subscription. If the connection is
        lost, the acknowledgement is repeated.
        """
        self._acknowledged = max(self._acknowledged, seq)
        if self._connection is not None:
            try:
                await self._connection.send(1, "ack", {"sub": _HANDLE, "seq": seq})
            except ConnectionLost:
                pass  # The daemon delivers the event again; `_is_repeated` repeats the `ack`.

    async def close(self) -> None:
        """Ends the subscription."""
        self._fail(ConnectionLost("the subscription is closed"))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self, *, is_first: bool = True) -> None:
        """Connects and subscribes. `Client.subscribe` has done it."""
        params: Object = {**self._params, "sub": _HANDLE}
        if self._is_positional and self._cursor is not None:
            params["from"] = {"after": self._cursor.seq}
            params["epoch"] = self._cursor.epoch
            self._repeated = self._cursor.part
        connection = await Connection.open(self._paths, self._name)
        try:
            await connection.send(0, "subscribe", params)
            frame = await connection.receive()
            if "error" in frame:
                raise DaemonError(frame["error"])
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._backoff.reset()
        self._begin(frame["result"], is_first)

    def _begin(self, reply: Object, is_first: bool) -> None:
        """Takes the reply to `subscribe`."""
        last = self._cursor
        cursor = None
        if "epoch" in reply:
            cursor = Cursor(reply["epoch"], reply.get("after", reply.get("seq")))
        # A durable reader resumes after its last `ack`, which may be before the cursor.
        if "durable" not in reply or not (last and cursor and last.epoch == cursor.epoch):
            self._cursor = cursor
        if not (last and cursor and last.epoch == cursor.epoch):
            self._acknowledged = 0
        if self._repeated and cursor is not None:
            self._cursor = replace(cursor, part=self._repeated)
        if "after" in reply:
            return
        # Nothing has changed at the same position, unless parts of the value were missing. A pattern
        # may have sources that are not journaled.
        is_whole = "more" not in reply and "values" not in reply
        if is_first or cursor is None or cursor != last or not is_whole:
            self._add("snapshot", reply)

    async def _receive(self, connection: Connection) -> None:
        frame = await connection.receive()
        if "error" in frame:  # the answer to `ack`
            self._fail(DaemonError(frame["error"]))
        params = frame.get("params", {})
        method = frame.get("method")
        if params.get("sub") != _HANDLE:
            return
        if method == "fail":
            self._fail(DaemonError(params["error"]))
        elif method == "closed":
            self._fail(SubscriptionClosed(params["reason"]))
        elif method in _NOTIFICATIONS:
            for item in params.get("items", [params]):
                if not await self._is_repeated(method, item):
                    self._add(method, item)

    async def _is_repeated(self, method: str, item: Object) -> bool:
        """Whether the program has this already.

        A durable reader gets an event again if an `ack` was lost.
        """
        if method == "next" and self._repeated and self._cursor is not None:
            self._repeated -= 1
            if item["seq"] == self._cursor.seq + 1:
                return True
            self._repeated = 0
        if method != "next" or "durable" not in self._params or "share" in self._params:
            return False
        if self._cursor is None or item["seq"] > self._cursor.seq:
            return False
        if item["seq"] <= self._acknowledged:
            await self.ack(item["seq"])
        return True

    def _add(self, type: UpdateType, item: Object) -> None:
        """Prepares an update for the program."""
        members = {name: item[name] for name in _MEMBERS & item.keys()}
        event = item.get("event")
        if event is not None:
            known = _EVENT_MEMBERS & event.keys()
            members["event"] = Event(**{name: event[name] for name in known})
        cursor = self._ready[-1].cursor if self._ready else self._cursor
        if type in _MOVES_CURSOR and "seq" in item and cursor is not None:
            if type != "next" and item["seq"] <= cursor.seq:
                pass  # A durable reader that reads again is before its cursor.
            elif type != "next" or not self._is_every_of_pattern:
                cursor = Cursor(cursor.epoch, item["seq"])
            elif cursor.part and item["seq"] == cursor.seq + 1:
                cursor = replace(cursor, part=cursor.part + 1)
            else:
                cursor = Cursor(cursor.epoch, item["seq"] - 1, 1)
        source = item.get("source", self._params["source"])
        self._ready.append(Update(type, source, cursor, **members))

    async def _reconnect(self, error: BinderError) -> None:
        """Subscribes again; a permanent error ends the subscription."""
        if self._connection is not None:
            self._connection.close()
        while self._end is None:
            try:
                await self._backoff.wait(error)
            except BinderError as final:
                self._fail(final)
                return
            try:
                return await self.open(is_first=False)
            except BinderError as another:
                error = another

    def _fail(self, error: BinderError) -> None:
        self._end = self._end or error
        if self._connection is not None:
            self._connection.close()
