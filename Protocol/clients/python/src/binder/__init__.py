"""A client for binderd, the daemon that keeps the live state of a machine.

    async with await binder.connect() as client:
        await client.set("cells/lamp", True)
        async with await client.subscribe("cells/lamp") as lamp:
            async for update in lamp:
                print(update.cursor, update.value)

The client reconnects by itself. A subscription then resumes after the last position that it has
handed out, without a gap. A command that was in flight is sent again with the same idempotency
key, so that it takes effect once.

JSON values are plain Python values, as the module `json` reads them.
"""

from .client import Client, connect
from .errors import (
    BinderError,
    ConnectionFailed,
    ConnectionLost,
    DaemonError,
    OutcomeUnknown,
    SubscriptionClosed,
)
from .provider import Provider
from .service import Call, Refusal, Service
from .subscription import Cursor, Event, Subscription, Update

__all__ = [
    "BinderError",
    "Call",
    "Client",
    "ConnectionFailed",
    "ConnectionLost",
    "Cursor",
    "DaemonError",
    "Event",
    "OutcomeUnknown",
    "Provider",
    "Refusal",
    "Service",
    "Subscription",
    "SubscriptionClosed",
    "Update",
    "connect",
]
