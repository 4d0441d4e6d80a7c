import { Backoff } from "./connection.js";
import { BinderError, ConnectionLost, DaemonError, SubscriptionClosed } from "./errors.js";

const handle = "s";
const movesCursor = new Set(["snapshot", "next", "caught_up", "mark", "lagged"]);
const notifications = new Set(["next", "caught_up", "mark", "behind", "lagged", "paused"]);

/** An asynchronous iterator of updates. `binder.d.ts` has the documentation. */
export class Subscription {
  #open;
  #params;
  #cursor;
  #connection;
  #backoff = new Backoff();
  #ready = [];
  #acknowledged = 0;
  #repeated = 0; // changes that the daemon sends again because they are of one event with others
  #end; // the error that has ended it
  #isClosed = false;

  constructor(open, params, resume = null) {
    this.#open = open;
    this.#params = params;
    this.#cursor = resume;
  }

  /** The position after which the subscription resumes. */
  get cursor() {
    return this.#cursor;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    while (!this.#ready.length) {
      if (this.#isClosed) return { done: true, value: undefined };
      if (this.#end) throw this.#end;
      try {
        await this.#receive();
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        await this.#reconnect(error);
      }
    }
    const value = this.#ready.shift();
    this.#cursor = value.cursor;
    return { done: false, value };
  }

  async return() {
    this.close();
    return { done: true, value: undefined };
  }

  close() {
    this.#isClosed = true;
    this.#ready = [];
    this.#connection.close();
  }

  async ack(seq) {
    this.#acknowledged = Math.max(this.#acknowledged, seq);
    const line = this.#connection.encode(1, "ack", { sub: handle, seq });
    // If it fails, the daemon delivers the event again, and `#isRepeated` repeats the `ack`.
    await this.#connection.send(line).catch(() => {});
  }

  /** Connects and subscribes, after the cursor if there is one. `Client.subscribe` has done it. */
  async open(isFirst) {
    const { source, mode, durable } = this.#params;
    const params = { ...this.#params, sub: handle };
    if (this.#cursor && (source === "events" || mode === "every") && durable === undefined) {
      params.from = { after: this.#cursor.seq };
      params.epoch = this.#cursor.epoch;
      this.#repeated = this.#cursor.part ?? 0;
    }
    const connection = await this.#open();
    const reply = await connection.ask("subscribe", params);
    this.#connection = connection;
    if (this.#isClosed) connection.close();
    this.#backoff.reset();
    this.#begin(reply, isFirst);
  }

  /** Takes the reply to `subscribe`. */
  #begin(reply, isFirst) {
    const { epoch, after, seq, durable, more, values } = reply;
    const last = this.#cursor;
    const cursor = epoch === undefined ? null : { epoch, seq: after ?? seq };
    const isSameEpoch = last && cursor && last.epoch === cursor.epoch;
    // A durable reader resumes after its last `ack`, which may be before the cursor.
    if (durable === undefined || !isSameEpoch) this.#cursor = cursor;
    if (!isSameEpoch) this.#acknowledged = 0;
    if (cursor && this.#repeated) this.#cursor.part = this.#repeated;
    if (after !== undefined) return;
    // Nothing has changed at the same position, unless parts of the value were missing. A pattern may
    // have sources that are not journaled.
    if (isFirst || more || values || !(isSameEpoch && last.seq === cursor.seq)) this.#add("snapshot", reply);
  }

  async #receive() {
    const connection = this.#connection;
    const { method, params = {}, error } = await connection.receive();
    if (error) this.#fail(new DaemonError(error)); // the answer to `ack`
    if (params.sub !== handle) return;
    if (method === "fail") this.#fail(new DaemonError(params.error));
    else if (method === "closed") this.#fail(new SubscriptionClosed(params.reason));
    else if (notifications.has(method)) {
      for (const item of params.items ?? [params]) {
        if (!(await this.#isRepeated(method, item))) this.#add(method, item);
      }
    }
  }

  /** Whether the program has this already. A durable reader gets an event again if an `ack` was lost. */
  async #isRepeated(method, { seq }) {
    if (method === "next" && this.#repeated) {
      this.#repeated -= 1;
      if (seq === this.#cursor.seq + 1) return true;
      this.#repeated = 0;
    }
    const { durable, share } = this.#params;
    if (method !== "next" || durable === undefined || share || !(seq <= this.#cursor?.seq)) return false;
    if (seq <= this.#acknowledged) await this.ack(seq);
    return true;
  }

  /** Prepares an update for the program. */
  #add(type, { sub: _, epoch: __, kind: ___, ...members }) {
    let cursor = this.#ready.at(-1)?.cursor ?? this.#cursor;
    if (cursor && movesCursor.has(type) && members.seq !== undefined) {
      const { epoch, seq, part } = cursor;
      const { source, mode } = this.#params;
      // One event may change several sources of a pattern.
      if (type !== "next" && members.seq <= seq); // A durable reader that reads again is before its cursor.
      else if (type !== "next" || mode !== "every" || !source.includes("*")) cursor = { epoch, seq: members.seq };
      else if (part && members.seq === seq + 1) cursor = { epoch, seq, part: part + 1 };
      else cursor = { epoch, seq: members.seq - 1, part: 1 };
    }
    this.#ready.push({ source: this.#params.source, ...members, type, cursor });
  }

  /** Subscribes again; a permanent error ends the subscription. */
  async #reconnect(error) {
    this.#connection.close();
    while (error && !this.#isClosed && !this.#end) {
      try {
        await this.#backoff.wait(error);
        await this.open(false);
        return;
      } catch (another) {
        if (!(another instanceof BinderError) || !another.isTemporary) this.#fail(another);
        error = another;
      }
    }
  }

  #fail(error) {
    this.#end ??= error;
    this.#connection.close();
  }
}
