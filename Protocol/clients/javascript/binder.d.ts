/** A JSON value. A number with more digits than a double has loses them. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The parameters of a method, by name. Options, such as `expect`, are members of `_meta`. */
export type Params = { [name: string]: Json | undefined };

/** Opens a connection: one to call methods, and one for each subscription. */
export type Transport = () => Promise<Socket>;

/** A connection that carries lines. */
export interface Socket {
  /** Sends a line without its end, and resolves when there is room for more. */
  send(line: string): Promise<void>;
  /** Resolves with the next line, or with `undefined` at the end. */
  receive(): Promise<string | undefined>;
  close(): void;
}

/**
 * A position in the journal to resume after.
 *
 * One event may change several sources of a pattern. `part` is how many changes of the event after
 * `seq` were handed out, with `mode` `every`.
 */
export interface Cursor {
  epoch: string;
  seq: number;
  part?: number;
}

/** An event of the journal. `version` is its position in its stream. */
export interface Event {
  type: string;
  stream: string;
  version: number;
  time: string;
  data: any;
  cmd?: string;
  who?: { uid: number; pid: number; program?: string; method: string };
}

/** A step of a list or map; section 8 of the protocol lists them. */
export interface Change {
  op: "insert" | "update" | "merge" | "remove" | "move" | "put" | "reset";
  at?: number;
  from?: number;
  to?: number;
  key?: string;
  value?: any;
}

/**
 * One step of a subscription.
 *
 * A `snapshot` has the present: `value`, `gone`, `values` of a pattern, or `state`. A source of the
 * newest value sends one again when the client has reconnected; it replaces all before. A `next` has
 * a change. `lagged` names removed events in `missed`. The other types have only positions, and a
 * program may ignore them.
 */
export interface Update {
  type: "snapshot" | "next" | "caught_up" | "mark" | "behind" | "lagged" | "paused";
  source: string;
  /**
   * The position to store once the update is processed, to resume after it in a new process; `null`
   * for sources that are not journaled.
   */
  cursor: Cursor | null;
  seq?: number;
  value?: any;
  gone?: true;
  values?: { [source: string]: any };
  changes?: Change[];
  part?: { at?: number; value: any; last: boolean };
  more?: true;
  event?: Event;
  state?: "loading" | "loaded" | "reloading" | "failed";
  error?: { code: number; message: string; data: any };
  skipped?: number;
  delivery?: number;
  missed?: { from: number; to: number };
}

/** The result of a method. `value` is what the service has returned. */
export type Result = { [name: string]: any };

/**
 * Connects to the daemon. `name` is shown to the administrator. Rejects with `ConnectionFailed` if
 * no daemon answers.
 */
export function connect(transport: Transport, options?: { name?: string }): Promise<Client>;

/**
 * A client of one daemon. Calls share a connection; each subscription has one of its own, so a slow
 * reader delays nobody else.
 */
export interface Client {
  /**
   * Calls a method and returns its result.
   *
   * Rejects with `DaemonError` if the daemon refuses, and with `ConnectionLost` if the connection is
   * lost before the answer. With `cmd`, an idempotency key, the call is instead sent again on the
   * next connection, and the daemon runs it once. While there is no connection, a call waits for
   * one; a `signal` limits that.
   */
  call(method: string, params?: Params, options?: { cmd?: string; signal?: AbortSignal }): Promise<Result>;

  /** Calls a method that changes something, so that it takes effect exactly once. */
  command(method: string, params?: Params, options?: { signal?: AbortSignal }): Promise<Result>;

  /** Returns the current value of a source; `undefined` if it was removed. */
  get(source: string): Promise<any>;

  /** Sets a source, exactly once, and returns the position of the change. */
  set(source: string, value: Json): Promise<number>;

  /**
   * Subscribes to a source, to a pattern such as `cells/**`, or to `events`.
   *
   * `options` are the other parameters of the method `subscribe`, for example `filter`, `durable`
   * or `{mode: "every"}`. `resume` continues after a stored cursor, for `events` and with `mode`
   * `every`.
   */
  subscribe(source: string, options?: Params, position?: { resume?: Cursor }): Promise<Subscription>;

  /**
   * Provides a service, and resolves when others can call it.
   *
   * Rejects with `DaemonError` if the daemon refuses, for example because another program provides a
   * service of this name.
   */
  provide(name: string, service: Service): Promise<Provider>;

  /** Ends the connection. Calls that wait reject with `ConnectionLost`. */
  close(): void;
}

/** A JSON Schema as the daemon checks it (section 17 of the protocol), or the name of a type. */
export type Schema = string | { [word: string]: any };

/** The declaration of a service with its methods. */
export interface Service {
  /** A line about the service. */
  doc?: string;
  /** The methods by name; a function alone takes any parameters. */
  methods: { [name: string]: Method | Method["run"] };
  /** A line about each source below `services/SERVICE/`, by name. */
  sources?: { [name: string]: string };
  /** The texts of its views by name, `SERVICE` or `SERVICE.NAME`; see binder.view(5). */
  views?: { [name: string]: string };
  /** The most calls that run at a time; 1 if left out, so that a method may read, decide and set. */
  jobs?: number;
  /** The time in which a call is answered, in milliseconds; 30,000 if left out. */
  timeout?: number;
  /** The deliveries of a queued call after which it is parked; 5 if left out. */
  maxDeliveries?: number;
}

/** A method of a service. */
export interface Method {
  /** A line about the method. */
  doc?: string;
  /** The parameters: `object({ name: "string", n: "integer?" })`; any if left out. */
  params?: Schema;
  /** The type of the result; any if left out. */
  result?: Schema;
  /** Whether a call waits in the journal until it is answered, also while the program is away. */
  queued?: boolean;
  /**
   * Returns the result. If it throws a `Refusal`, the caller gets its message; another error is
   * written to the console too.
   */
  run(params: any, call: Call): any;
}

/**
 * A call of a method. The values of a service are the sources `services/SERVICE/NAME`. What a call
 * sets is recorded in the same commit as its answer; if the method throws, nothing is.
 */
export interface Call {
  readonly params: any;
  /** The user and the process of the caller. */
  readonly caller: { uid: number; pid: number };
  /** Returns a value, as this call and those before have set it; `undefined` if there is none. */
  get(name: string): Promise<any>;
  /** Sets a value in the journal. */
  set(name: string, value: Json): void;
  /** Removes a value. */
  remove(name: string): void;
  /** Shows a value as `live/SERVICE/NAME`, which the journal does not keep; `null` removes it. */
  publish(name: string, value: Json): void;
}

/**
 * A service that is provided, until it is closed or the daemon refuses it.
 *
 * If the connection is lost, it provides the service again. A queued call that it works on, or has
 * answered without a receipt, is not run twice: when the daemon delivers it again, it gets the
 * answer. Direct calls have ended with the connection.
 */
export interface Provider {
  /** Resolves when the provider is closed; rejects with the error that has ended it. */
  readonly ended: Promise<void>;
  /** Takes no more calls, finishes those that it has, and ends the connection. */
  close(): Promise<void>;
}

/** The answer of a method that refuses: the caller gets the message. */
export class Refusal extends Error {}

/** Returns the JSON Schema of an object: `object({ name: "string", n: "integer?" })`. */
export function object(members: { [name: string]: Schema }): Schema;

/**
 * An asynchronous iterator of updates.
 *
 * It has a connection of its own and reads a line only when the program asks for the next update.
 * So a slow program needs no memory: the daemon keeps the newest value for it, or feeds events from
 * the journal at its pace.
 *
 * Iteration throws `DaemonError` when the daemon ends the subscription, or refuses to resume it
 * because the journal was replaced (`epoch_mismatch`, `seq_future`) or no longer has the events after
 * the cursor (`seq_expired`). Section 15 of the protocol says what to do then.
 */
export interface Subscription extends AsyncIterableIterator<Update> {
  /** The position after which the subscription resumes. */
  readonly cursor: Cursor | null;

  /**
   * Acknowledges an event of a durable reader, and those before it. It does not wait for the answer;
   * a refusal ends the subscription. If the connection is lost, the acknowledgement is repeated.
   */
  ack(seq: number): Promise<void>;

  /** Ends the subscription and the iteration. */
  close(): void;
}

/** The base class of all errors of this module. */
export class BinderError extends Error {
  /** Whether the same attempt may succeed later. */
  readonly isTemporary: boolean;
}

/**
 * The daemon has refused a request, or has ended a subscription with an error.
 *
 * `name` and `code` are stable; section 4 of the protocol lists them. `message` is for people and may
 * change. `data` has further members, for example `path` of `invalid_params`.
 */
export class DaemonError extends BinderError {
  readonly code: number;
  readonly data: { name: string; retry: boolean; [member: string]: any };
}

/** No daemon answers. */
export class ConnectionFailed extends BinderError {}

/** The connection has ended, and a call without `cmd` may or may not have been run. */
export class ConnectionLost extends BinderError {
  /** The daemon's reason, for example `"shutdown"`. */
  readonly reason?: string;
  /** The time after which to connect again, if the daemon named one. */
  readonly reconnectMs?: number;
}

/**
 * The journal was replaced while a command was in flight. The new journal may not know its `cmd`, so
 * the command is not sent again. Look at the current values first.
 */
export class OutcomeUnknown extends BinderError {}

/**
 * Another program has ended the subscription of a durable reader: another subscription holds it
 * (`"stolen"`), or it was `"removed"`.
 */
export class SubscriptionClosed extends BinderError {
  readonly reason: "stolen" | "removed";
}
