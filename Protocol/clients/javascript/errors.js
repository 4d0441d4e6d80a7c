/** The base class of all errors of this module. */
export class BinderError extends Error {
  /** Whether the same attempt may succeed later. */
  get isTemporary() {
    return false;
  }
}

/**
 * The daemon has refused a request, or has ended a subscription with an error.
 *
 * `name` and `code` are stable; section 4 of the protocol lists them. `message` is for people and
 * may change. `data` has further members, for example `path` of `invalid_params`.
 */
export class DaemonError extends BinderError {
  constructor({ code, message, data = {} }) {
    super(message);
    this.name = data.name ?? "unknown";
    this.code = code;
    this.data = data;
  }

  get isTemporary() {
    return this.data.retry === true;
  }
}

/** No daemon answers. */
export class ConnectionFailed extends BinderError {
  name = "ConnectionFailed";

  get isTemporary() {
    return true;
  }
}

/**
 * The connection has ended, and a call without `cmd` may or may not have been run.
 *
 * `reason` is the daemon's own, for example `"shutdown"`. `reconnectMs` is the time after which
 * to connect again, if the daemon named one.
 */
export class ConnectionLost extends BinderError {
  name = "ConnectionLost";

  constructor(message, { reason, reconnectMs, cause } = {}) {
    super(message, { cause });
    this.reason = reason;
    this.reconnectMs = reconnectMs;
  }

  get isTemporary() {
    // The daemon closes the connection of a reader that pauses too long. The reader reads again
    // when it connects, so the cause is gone.
    return [undefined, "stalled", "out_queue_full"].includes(this.reason) || this.reconnectMs !== undefined;
  }
}

/**
 * The journal was replaced while a command was in flight.
 *
 * The new journal may not know its `cmd`, so the command is not sent again. Look at the current
 * values first.
 */
export class OutcomeUnknown extends BinderError {
  name = "OutcomeUnknown";
}

/**
 * Another program has ended the subscription of a durable reader.
 *
 * `reason` is `"stolen"` if another subscription holds the reader now, and `"removed"` if there is
 * no such reader any more.
 */
export class SubscriptionClosed extends BinderError {
  name = "SubscriptionClosed";

  constructor(reason) {
    super(`the subscription is closed: ${reason}`);
    this.reason = reason;
  }
}
