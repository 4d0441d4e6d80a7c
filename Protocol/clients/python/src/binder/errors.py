"""The errors of the client."""

from typing import Any


class BinderError(Exception):
    """The base class of all errors of this package."""

    @property
    def is_temporary(self) -> bool:
        """Whether the same attempt may succeed later."""
        return False


class DaemonError(BinderError):
    """The daemon has refused a request, or has ended a subscription with an error.

    `name` and `code` are stable; section 4 of the protocol lists them. `message` is for people
    and may change. `data` has further members, for example `path` of `invalid_params`.
    """

    def __init__(self, error: dict[str, Any]) -> None:
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error.get("data", {})
        self.name: str = self.data.get("name", "unknown")
        super().__init__(f"{self.name}: {self.message}")

    @property
    def is_temporary(self) -> bool:
        return self.data.get("retry") is True


class ConnectionFailed(BinderError):
    """No daemon answers at the socket."""

    @property
    def is_temporary(self) -> bool:
        return True


class ConnectionLost(BinderError):
    """The connection has ended, and a call without `cmd` may or may not have been run.

    `reason` is the daemon's own, for example `"shutdown"`; `None` if it gave none.
    `reconnect_ms` is the time after which to connect again, if the daemon named one.
    """

    def __init__(
        self, message: str, reason: str | None = None, reconnect_ms: int | None = None
    ) -> None:
        self.reason = reason
        self.reconnect_ms = reconnect_ms
        super().__init__(message)

    @property
    def is_temporary(self) -> bool:
        # The daemon closes the connection of a reader that pauses too long. The reader reads
        # again when it connects, so the cause is gone.
        return (
            self.reason in (None, "stalled", "out_queue_full")
            or self.reconnect_ms is not None
        )


class OutcomeUnknown(BinderError):
    """The journal was replaced while a command was in flight.

    The new journal may not know its `cmd`, so the command is not sent again. Look at the current
    values first.
    """


class SubscriptionClosed(BinderError):
    """Another program has ended the subscription of a durable reader.

    `reason` is `"stolen"` if another subscription holds the reader now, and `"removed"` if there
    is no such reader any more.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the subscription is closed: {reason}")
