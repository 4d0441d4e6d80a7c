"""Services that a program provides: their methods, declared by the signatures of functions."""

import asyncio
import inspect
import signal
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .connection import Object

if TYPE_CHECKING:
    from .provider import Provider

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: The longest line about a method, in bytes.
_MAX_DOC = 256

_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    types.NoneType: "null",
}


class Refusal(Exception):
    """The answer of a method that refuses: the caller gets the message."""


class Call:
    """A call of a method, for a function with a parameter of this type.

    The values of a service are the sources `services/SERVICE/NAME`. What a call sets is recorded in
    the same commit as its answer; if the method fails or refuses, nothing is.
    """

    def __init__(
        self,
        service: str,
        params: Object,
        caller: Object,
        read: Callable[[str], Awaitable[Any]],
    ) -> None:
        self._service = service
        self._read = read
        self._events: dict[str, Object] = {}
        self._live: list[Object] = []
        #: The parameters by name.
        self.params = params
        #: The user and the process of the caller.
        self.uid: int = caller["uid"]
        self.pid: int = caller["pid"]

    async def get(self, name: str, default: Any = None) -> Any:
        """Returns the value of `services/SERVICE/NAME`, as this call and those before have set it."""
        entry = self._events.get(name)
        if entry is not None:
            value = entry.get("value")
        else:
            value = await self._read(f"services/{self._service}/{name}")
        return default if value is None else value

    def set(self, name: str, value: Any) -> None:
        """Sets `services/SERVICE/NAME`, in the journal."""
        self._events[name] = {"source": f"{self._service}/{name}", "value": value}

    def remove(self, name: str) -> None:
        """Removes the value of `services/SERVICE/NAME`."""
        self._events[name] = {"source": f"{self._service}/{name}"}

    def publish(self, name: str, value: Any) -> None:
        """Shows a value as `live/SERVICE/NAME`, which the journal does not keep; `None` removes it."""
        self._live.append({"source": f"{self._service}/{name}", "value": value})

    def reply(self, value: Any) -> Object:
        """Returns the members of the reply."""
        events = list(self._events.values())
        lists = {"events": events, "publish": self._live}
        return {"value": value, **{name: list for name, list in lists.items() if list}}


@dataclass(frozen=True, slots=True)
class _Method:
    function: Callable[..., Any]
    declaration: Object
    #: The name of the parameter that gets the `Call`.
    call: str | None

    async def run(self, call: Call) -> Any:
        arguments = dict(call.params)
        if self.call is not None:
            arguments[self.call] = call
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**arguments)
        return await asyncio.to_thread(self.function, **arguments)


@dataclass
class Service:
    """A service with its methods.

        stock = binder.Service("stock", "What is in the store.")

        @stock.method
        async def add(call: binder.Call, thing: str, n: int = 1) -> int:
            '''Adds things; returns how many there are.'''
            count = await call.get(thing, 0) + n
            call.set(thing, count)
            return count

        stock.run()

    The daemon checks parameters and results by the annotations. Calls run one after the other, so a
    method may read a value, decide, and set it. With more `jobs` so many run at a time.
    """

    name: str
    doc: str = ""
    #: A line about each source below `services/NAME/`, by name or pattern.
    sources: Mapping[str, str] = field(default_factory=dict)
    #: The texts of its views by name, `SERVICE` or `SERVICE.NAME`; see binder.view(5).
    views: Mapping[str, str] = field(default_factory=dict)
    #: The most calls that run at a time.
    jobs: int = 1
    #: The time in which a call is answered, in seconds.
    timeout: float = 30
    #: The deliveries of a queued call after which it is parked.
    max_deliveries: int = 5
    methods: dict[str, _Method] = field(default_factory=dict, init=False)

    @overload
    def method(self, function: _Function) -> _Function: ...

    @overload
    def method(
        self,
        *,
        name: str | None = ...,
        queued: bool = ...,
        params: Object | None = ...,
        result: Object | None = ...,
    ) -> Callable[[_Function], _Function]: ...

    def method(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        queued: bool = False,
        params: Object | None = None,
        result: Object | None = None,
    ) -> Any:
        """Makes a function a method of the service, as a decorator.

        Its parameters, their types and defaults are those of the method, its docstring the
        documentation; `Annotated[int, "How many."]` documents a parameter. A function that is not
        `async` runs in a thread. With `queued` a call waits in the journal until it is answered,
        also while the program is away. `params` and `result` are JSON Schemas in place of those of
        the annotations.
        """

        def add(function: Any) -> Any:
            called: str = name or function.__name__
            if called in self.methods:
                raise ValueError(f"{self.name} has two methods '{called}'")
            self.methods[called] = _declare(function, queued, params, result)
            return function

        return add if function is None else add(function)

    @property
    def declaration(self) -> Object:
        """The parameters of `provide`."""
        return {
            "service": self.name,
            "doc": self.doc,
            "methods": {name: method.declaration for name, method in self.methods.items()},
            "sources": dict(self.sources),
            "views": dict(self.views),
            "call_ms": round(self.timeout * 1000),
            "max_deliveries": self.max_deliveries,
        }

    def run(self, path: str | None = None) -> None:
        """Provides the service until SIGINT or SIGTERM, after which it finishes the calls it has.

        Raises `ConnectionFailed` if no daemon answers, and `DaemonError` if it refuses.
        """
        asyncio.run(self._run(path))

    async def _run(self, path: str | None) -> None:
        from .client import connect

        async with await connect(path, name=self.name) as client:
            provider = await client.provide(self)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, _close_once, loop, provider)
            await provider.wait()


def _close_once(loop: asyncio.AbstractEventLoop, provider: "Provider") -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)  # a second signal ends the program at once
    provider.closing = loop.create_task(provider.close())


def _declare(
    function: Callable[..., Any], queued: bool, params: Object | None, result: Object | None
) -> _Method:
    hints = typing.get_type_hints(function, include_extras=True)
    properties: Object = {}
    required: list[str] = []
    call = None
    takes_others = False
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if hint is Call:
            call = name
        elif parameter.kind is parameter.VAR_KEYWORD:
            takes_others = True
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"parameter '{name}' has no name for callers")
        else:
            properties[name] = _schema(hint)
            if parameter.default is parameter.empty:
                required.append(name)
    if params is None:
        params = {"type": "object", "properties": properties, "required": required}
        if not takes_others:
            params["additionalProperties"] = False
    declaration: Object = {"doc": _doc(function), "params": params}
    if result is None and "return" in hints and not queued:
        result = _schema(hints["return"]) or None
    if result is not None:
        declaration["result"] = result
    if queued:
        declaration["delivery"] = "queued"
    return _Method(function, declaration, call)


def _doc(function: Callable[..., Any]) -> str:
    """Returns the first paragraph of the docstring."""
    text = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    return text.encode()[:_MAX_DOC].decode(errors="ignore")


def _schema(hint: Any) -> Object:
    """Returns the JSON Schema of an annotation; empty for any value."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        schema = _schema(arguments[0])
        docs = [text for text in arguments[1:] if isinstance(text, str)]
        return {**schema, "description": docs[0]} if docs else schema
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return _union([_schema(one) for one in arguments], hint)
    if hint is Any:
        return {}
    if typing.is_typeddict(hint):
        members = typing.get_type_hints(hint, include_extras=True)
        return {
            "type": "object",
            "properties": {name: _schema(one) for name, one in members.items()},
            "required": sorted(hint.__required_keys__),
        }
    kind = _TYPES.get(origin or hint)
    if kind is None:
        raise TypeError(f"{hint} has no JSON Schema; use types of JSON, or params= and result=")
    schema = {"type": kind}
    if kind == "array" and arguments and (items := _schema(arguments[0])):
        schema["items"] = items
    return schema


def _union(schemas: list[Object], hint: Any) -> Object:
    """Returns the schema of one or another type, which may differ in their name only."""
    if {} in schemas:
        return {}
    merged: Object = {}
    for schema in schemas:
        for name, value in schema.items():
            if name != "type" and name in merged:
                raise TypeError(f"{hint} has no JSON Schema; use params= or result=")
            merged.setdefault(name, value)
    kinds = [schema.get("type") for schema in schemas]
    if None in kinds:
        raise TypeError(f"{hint} has no JSON Schema; use params= or result=")
    merged["type"] = kinds
    return merged
