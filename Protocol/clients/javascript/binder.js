/**
 * A client for binderd, the daemon that keeps the live state of a machine.
 *
 *     const client = await connect(unixSocket(), { name: "porch" });
 *     await client.set("cells/lamp", true);
 *     for await (const update of await client.subscribe("cells/lamp")) {
 *       console.log(update.cursor, update.value);
 *     }
 *
 * The client reconnects by itself. A subscription then resumes after the last position that it has
 * handed out, without a gap. A command that was in flight is sent again with the same idempotency
 * key, so that it takes effect once.
 *
 * Types and documentation are in `binder.d.ts`.
 */

import { Backoff, Connection } from "./connection.js";
import { BinderError, ConnectionLost, DaemonError, OutcomeUnknown } from "./errors.js";
import { Provider } from "./provider.js";
import { Subscription } from "./subscription.js";

export * from "./errors.js";
export { Refusal, object } from "./provider.js";

/** The most calls that wait for an answer at a time; further ones wait until one is answered. */
const maxInFlight = 256;

export async function connect(transport, { name = "javascript" } = {}) {
  return new Client(transport, name, await Connection.open(transport, name));
}

class Client {
  #transport;
  #name;
  #connection; // undefined while there is none
  #failure; // why the client does not connect again
  #lastId = 0;
  #requests = new Map(); // by id, in the order in which they were sent
  #waiting = new Set(); // calls that wait for a connection, or for another call to be answered

  constructor(transport, name, connection) {
    this.#transport = transport;
    this.#name = name;
    this.#run(connection);
  }

  async call(method, params = {}, { cmd, signal } = {}) {
    if (cmd !== undefined) params = { ...params, _meta: { ...params._meta, cmd } };
    const connection = await this.#turn(signal);
    const id = ++this.#lastId;
    const line = connection.encode(id, method, params);
    let abort;
    try {
      return await new Promise((resolve, reject) => {
        const isRepeatable = cmd !== undefined;
        this.#requests.set(id, { line, epoch: connection.epoch, isRepeatable, resolve, reject });
        abort = () => {
          // An asynchronous call, such as `wait`, would otherwise go on in the daemon.
          connection.send(connection.encode(undefined, "cancel", { id })).catch(() => {});
          reject(signal.reason);
        };
        signal?.addEventListener("abort", abort);
        // If it fails, `#run` notices it too, and decides about all calls.
        connection.send(line).catch(() => {});
      });
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#requests.delete(id);
      this.#wake(1);
    }
  }

  command(method, params, { signal } = {}) {
    return this.call(method, params, { cmd: randomKey(), signal });
  }

  async get(source) {
    return (await this.call("get", { source })).value;
  }

  async set(source, value) {
    return (await this.command("set", { source, value })).seq;
  }

  async subscribe(source, options = {}, { resume } = {}) {
    const open = () => Connection.open(this.#transport, this.#name);
    const subscription = new Subscription(open, { ...options, source }, resume);
    await subscription.open(true);
    return subscription;
  }

  async provide(name, service) {
    const open = () => Connection.open(this.#transport, this.#name);
    const provider = new Provider(open, name, service);
    await provider.open();
    return provider;
  }

  close() {
    this.#end(new ConnectionLost("the client is closed"));
  }

  /** Passes answers on, and connects again, until an error that does not pass. */
  async #run(connection) {
    const backoff = new Backoff();
    for (;;) {
      let error;
      try {
        await this.#resend(connection);
        // Not for `hello`: the daemon may fail at the commands that were sent again.
        if (!this.#requests.size) backoff.reset();
        this.#connection = connection;
        this.#wake(maxInFlight);
        for (;;) {
          const frame = await connection.receive();
          this.#take(frame);
          if (frame.result !== undefined) backoff.reset();
        }
      } catch (lost) {
        error = lost;
      }
      this.#connection = undefined;
      connection.close();
      for (const request of this.#requests.values()) {
        if (!request.isRepeatable) request.reject(error);
      }
      do {
        try {
          await backoff.wait(error);
          if (this.#failure) return;
          connection = await Connection.open(this.#transport, this.#name);
          error = undefined;
        } catch (another) {
          if (!(another instanceof BinderError) || !another.isTemporary) return this.#end(another);
          error = another;
        }
      } while (error);
      if (this.#failure) return connection.close();
    }
  }

  /** Sends the commands again that were not answered, with the same `cmd`. */
  async #resend(connection) {
    for (const { line, epoch, reject } of [...this.#requests.values()]) {
      if (epoch === connection.epoch) await connection.send(line);
      else reject(new OutcomeUnknown("the journal was replaced"));
    }
  }

  /** Passes an answer to its call. Notifications are for subscriptions, and ignored here. */
  #take({ id, result, error: refusal }) {
    if (id === undefined) return;
    const error = refusal && new DaemonError(refusal);
    const request = this.#requests.get(id);
    if (id === null && error) {
      // The daemon could not read the id of a line, so that any call may be meant.
      for (const { reject } of this.#requests.values()) reject(error);
    } else if (request && !error) {
      request.resolve(result);
    } else if (request && !(error.name === "shutting_down" && request.isRepeatable)) {
      request.reject(error);
    }
  }

  /** Waits for a connection, and for room for another call. */
  async #turn(signal) {
    signal?.throwIfAborted();
    while (!this.#failure && (!this.#connection || this.#requests.size >= maxInFlight)) {
      let wake;
      await new Promise((resolve) => {
        wake = resolve;
        this.#waiting.add(wake);
        signal?.addEventListener("abort", wake);
      });
      signal?.removeEventListener("abort", wake);
      if (signal?.aborted && !this.#waiting.delete(wake)) this.#wake(1); // another one may go on
      signal?.throwIfAborted();
    }
    if (this.#failure) throw this.#failure;
    return this.#connection;
  }

  /** Lets some calls that wait look again. */
  #wake(count) {
    for (const wake of [...this.#waiting].slice(0, count)) {
      this.#waiting.delete(wake);
      wake();
    }
  }

  #end(error) {
    this.#failure ??= error;
    this.#connection?.close();
    for (const { reject } of this.#requests.values()) reject(this.#failure);
    this.#wake(Infinity);
  }
}

/** Returns an idempotency key. Browsers have `crypto.randomUUID` only on secure pages. */
function randomKey() {
  const random = () => Math.random().toString(36).slice(2);
  return `${Date.now().toString(36)}-${random()}-${random()}`;
}
