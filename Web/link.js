/**
 * The page's one connection to the daemon: calls, subscriptions and views share it.
 *
 * It connects again by itself. Subscriptions then resume after the last position that was handed out.
 * Reads that were not answered are sent again, and commands with the same `cmd`.
 */

import { Backoff, Connection } from "./client/connection.js";
import { ConnectionFailed, ConnectionLost, DaemonError, OutcomeUnknown } from "./client/errors.js";
import { webSocket } from "./client/websocket.js";
import { Turn } from "./turns.js";

/** The longest line in bytes: a pattern with very many values is one line. */
const maxLine = 8 << 20;

/** The code with which binder-web closes a WebSocket that the daemon does not admit. */
const denied = 4003;

/** The methods that change nothing, neither in the daemon nor in its connection: they can be sent again. */
const reads = new Set(["bindings.list", "describe", "get", "history", "journal.info", "metrics", "ping", "rpc.discover", "stats", "types.list", "whoami"]);

/** The statuses of HTTP after which another attempt would not help. */
const finalStatuses = new Set([400, 401, 403, 404, 421]);

/** Why the daemon has closed the connection, where another attempt would not help. */
const endings = {
  permission_denied: "you have no role that may connect",
  kicked: "an administrator has ended this connection",
};

/** States of the link. */
export const states = { connecting: "connecting", online: "online", offline: "offline", refused: "refused" };

/** Emits `state` when its state changes. */
export class Link extends EventTarget {
  /** The answer to `hello`; undefined before the first connection. */
  hello;

  /** One of `states`. */
  state = states.connecting;

  /** Why it is offline or refused, in words. */
  reason = "";

  /** When the connection was lost. */
  lostAt;

  /** How far the clock of the machine is ahead of this one, in milliseconds. */
  clockOffset = 0;

  /** The silence after which it asks whether the other side is there, and the time for an answer, in milliseconds. */
  periods = { silence: 20_000, answer: 10_000 };

  #connection;
  #transport;
  #socket; // of the connection, or of one on which hello is not answered yet
  #silence; // the timer that ends with what comes
  #isSilent = false; // whether no answer came in time
  #lastId = 0;
  #requests = new Map(); // by id, in the order in which they were sent
  #subscriptions = new Map(); // by handle
  #views = new Set();
  #wake = () => {};

  constructor(address, key) {
    super();
    const protocols = ["binder", ...(key ? [`key.${key}`] : [])];
    const open = webSocket(address, { protocols, maxWaiting: 4 * maxLine });
    this.#transport = async () => {
      this.#socket = await open();
      this.#wait();
      return this.#socket;
    };
    this.#run();
  }

  /** The identity of the client: `uid`, `role` and so on. */
  get peer() {
    return this.hello?.peer;
  }

  /** Whether there is a connection now. */
  get isConnected() {
    return this.#connection !== undefined;
  }

  /** The present time of the machine, in milliseconds. */
  now() {
    return Date.now() + this.clockOffset;
  }

  /**
   * Calls a method. While there is no connection, it waits for one; a read that a lost connection hits is
   * sent again. `take(result)` is called before any notification that follows the answer.
   */
  call(method, params = {}, { cmd, take } = {}) {
    if (cmd !== undefined) params = { ...params, _meta: { ...params._meta, cmd } };
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const isRead = reads.has(method);
      const request = { id, method, params, take, isRead, isRepeatable: isRead || cmd !== undefined, resolve, reject };
      this.#requests.set(id, request);
      if (this.#connection) this.#send(request);
    });
  }

  /** Calls a method that changes something: it takes effect once, also if the connection is lost. */
  command(method, params) {
    return this.call(method, params, { cmd: randomKey() });
  }

  /**
   * Subscribes. `take(type, update)` gets `snapshot` with the reply, then the notifications; `fail`
   * with a `DaemonError` is the last one. After a lost connection comes another `snapshot`, or for
   * `events` and `mode:"every"` what was missed.
   */
  subscribe(params, take) {
    const subscription = new Subscription(`s${++this.#lastId}`, params, take);
    this.#subscriptions.set(subscription.handle, subscription);
    if (this.#connection) this.#subscribe(subscription);
    return {
      close: () => {
        subscription.isClosed = true;
        if (!this.#subscriptions.delete(subscription.handle)) return;
        if (this.#connection) this.call("unsubscribe", { sub: subscription.handle }).catch(() => {});
      },
    };
  }

  /**
   * Registers somebody who has views: `take(method, params)` gets their notifications, `reopen()` is
   * called after each new connection, on which no view is open.
   */
  addViews(owner) {
    this.#views.add(owner);
    return () => this.#views.delete(owner);
  }

  /** Tries to connect now instead of after the pause. If there is a connection, asks whether it still holds. */
  retry() {
    this.#wake();
    if (this.#connection) this.#ask();
  }

  // Silence

  /** Waits for what comes; after some silence, asks. */
  #wait() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#ask(), this.periods.silence);
  }

  /** Asks whether the other side is there. If nothing comes in time, the connection is given up. */
  #ask() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#isSilent = true;
      this.#socket.close();
    }, this.periods.answer);
    if (this.#connection) this.call("ping").catch(() => {});
  }

  // Connecting

  async #run() {
    const backoff = new Backoff();
    for (;;) {
      let error;
      let connection;
      try {
        connection = await Connection.open(this.#transport, "browser", { line: maxLine });
        backoff.reset();
        await this.#begin(connection);
        await this.#takeAll(connection);
      } catch (lost) {
        error = this.#isSilent ? new ConnectionLost("no answer comes") : lost;
      }
      clearTimeout(this.#silence);
      this.#isSilent = false;
      connection?.close();
      this.#connection = undefined;
      for (const [id, request] of this.#requests) {
        // A request that was sent and may not be repeated is lost.
        if (!request.isSent || request.isRepeatable) continue;
        this.#requests.delete(id);
        request.reject(error);
      }
      if (!(await this.#mayRetry(error))) return;
      this.#change(states.offline, describe(error));
      await Promise.race([backoff.wait(temporary(error)), new Promise((resolve) => (this.#wake = resolve))]);
    }
  }

  /** Takes what comes. Very much at once is taken in parts, so that the page reacts meanwhile. */
  async #takeAll(connection) {
    const turn = new Turn();
    for (;;) {
      const frame = await connection.receive();
      turn.begin();
      this.#take(frame);
      if (turn.isOver) await turn.next();
    }
  }

  async #begin(connection) {
    const before = this.hello?.epoch;
    this.hello = connection.hello;
    this.#connection = connection;
    for (const request of [...this.#requests.values()]) {
      if (request.isSent && !request.isRead && request.epoch !== this.hello.epoch) {
        this.#requests.delete(request.id);
        request.reject(new OutcomeUnknown("the journal was replaced; look at the present values"));
      } else {
        this.#send(request);
      }
    }
    for (const subscription of this.#subscriptions.values()) this.#subscribe(subscription);
    const { time } = await this.#askNow(connection);
    this.clockOffset = Date.parse(time) - Date.now();
    this.#change(states.online, "");
    if (before !== undefined) for (const owner of this.#views) owner.reopen();
  }

  async #askNow(connection) {
    const answer = this.call("ping");
    // Nothing else reads yet.
    let isOver = false;
    const end = () => (isOver = true);
    answer.then(end, end);
    while (!isOver) {
      this.#take(await connection.receive());
      await undefined;
    }
    return answer;
  }

  /** Whether another attempt may succeed; otherwise says why not. */
  async #mayRetry(error) {
    if (error?.cause?.cause === denied || endings[error?.reason]) {
      this.#change(states.refused, endings[error.reason] ?? describe(error));
      return false;
    }
    if (!(error instanceof ConnectionFailed)) return true;
    // A page cannot read why a handshake was refused, so it asks for itself.
    try {
      const response = await fetch("./", { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(this.periods.answer) });
      if (!finalStatuses.has(response.status)) return true;
      // The page may not make HTML of a text, so it looks for the sentences itself.
      const sentences = (await response.text()).matchAll(/<p>([^<]*)<\/p>/g);
      const reason = [...sentences].map(([, text]) => text.replace(/&#39;/g, "'")).join(" ");
      this.#change(states.refused, reason || response.statusText);
      return false;
    } catch {
      return true;
    }
  }

  #change(state, reason) {
    if (state === states.offline && this.state !== states.offline) this.lostAt = new Date();
    Object.assign(this, { state, reason });
    this.dispatchEvent(new Event("state"));
  }

  // Sending and receiving

  #send(request) {
    const { id, method, params } = request;
    request.isSent = true;
    request.epoch = this.hello.epoch;
    try {
      this.#connection.send(this.#connection.encode(id, method, params)).catch(() => {});
    } catch (error) {
      this.#requests.delete(id); // it is too long
      request.reject(error);
    }
  }

  /** Sends a request again to the next daemon, which may keep the connection. A new connection sends it anyway. */
  #sendLater(request, milliseconds) {
    const connection = this.#connection;
    setTimeout(() => {
      if (connection === this.#connection && this.#requests.has(request.id)) this.#send(request);
    }, milliseconds);
  }

  async #subscribe(subscription) {
    try {
      const reply = await this.call("subscribe", subscription.parameters());
      subscription.begin(reply);
    } catch (error) {
      // After a lost connection it is sent again.
      if (!(error instanceof DaemonError) || error.name === "shutting_down" || subscription.isClosed) return;
      if (!subscription.settle(error)) return this.#fail(subscription, error);
      if (!subscription.isClosed) this.#subscribe(subscription);
    }
  }

  #fail(subscription, error) {
    this.#subscriptions.delete(subscription.handle);
    subscription.take("fail", error);
  }

  #take(frame) {
    this.#wait();
    const { id, method, params, result, error } = frame;
    if (method !== undefined) return this.#notify(method, params);
    const request = this.#requests.get(id);
    if (!request) return;
    if (error?.data?.name === "shutting_down" && request.isRepeatable) return this.#sendLater(request, error.data.reconnect_ms);
    this.#requests.delete(id);
    if (error) return request.reject(new DaemonError(error));
    request.take?.(result);
    request.resolve(result);
  }

  #notify(method, params) {
    if (params.view !== undefined) {
      for (const owner of this.#views) owner.take(method, params);
      return;
    }
    const subscription = this.#subscriptions.get(params.sub);
    if (!subscription) return;
    if (method === "fail") return this.#fail(subscription, new DaemonError(params.error));
    subscription.note(method, params);
  }
}

/** A subscription, with the position after which it resumes. */
class Subscription {
  isClosed = false;
  #cursor;
  #count = 0; // notifications of the event at the cursor: in a pattern, one event may change several sources
  #repeats = 0; // those of them that are to come once more

  constructor(handle, params, take) {
    Object.assign(this, { handle, params, deliver: take });
  }

  get #resumes() {
    return this.params.source === "events" || this.params.mode === "every";
  }

  get #isOfMany() {
    return this.params.source.includes("*");
  }

  parameters() {
    const params = { ...this.params, sub: this.handle };
    if (this.#cursor && this.#resumes) {
      const { epoch, seq } = this.#cursor;
      // The connection may have been lost in the middle of an event.
      this.#repeats = this.#isOfMany ? this.#count : 0;
      Object.assign(params, { epoch, from: { after: this.#repeats ? seq - 1 : seq } });
    }
    return params;
  }

  begin(reply) {
    if (this.isClosed) return;
    const { epoch, after, seq } = reply;
    const isResumed = this.#cursor !== undefined && this.#resumes;
    if (epoch !== undefined && !isResumed) this.#cursor = { epoch, seq: after ?? seq };
    if (!isResumed) this.take("snapshot", reply);
  }

  /** Takes a refused position; whether to subscribe again, from the present on. */
  settle(error) {
    if (!this.#cursor || !["epoch_mismatch", "seq_future", "seq_expired"].includes(error.name)) return false;
    this.#cursor = undefined;
    this.take("reset", { error });
    return true;
  }

  note(method, params) {
    for (const item of params.items ?? [params]) {
      if (item.seq !== undefined && this.#cursor && method !== "behind" && this.#isRepeated(method, item.seq)) continue;
      this.take(method, item);
    }
  }

  /** Moves the cursor; whether this part of an event was handed out before. */
  #isRepeated(method, seq) {
    if (method === "next" && seq === this.#cursor.seq && this.#repeats > 0) {
      this.#repeats -= 1;
      return true;
    }
    if (seq < this.#cursor.seq) return false;
    this.#count = method !== "next" ? 0 : seq === this.#cursor.seq ? this.#count + 1 : 1;
    this.#repeats = 0;
    this.#cursor.seq = seq;
    return false;
  }

  take(type, update) {
    if (!this.isClosed) this.deliver(type, update);
  }
}

/** Returns an error after which `Backoff` tries again. */
function temporary(error) {
  return { isTemporary: true, reconnectMs: error?.reconnectMs };
}

function describe(error) {
  const message = error?.message ?? "";
  return message.replace(/^the connection is lost: /, "").replace(/; is binderd running\?$/, "");
}

/** Returns an idempotency key. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
