import { Backoff, Connection } from "./connection.js";
import { BinderError, ConnectionLost, DaemonError } from "./errors.js";

/** The longest message of an error, in characters. */
const maxMessage = 500;
const maxReplies = 256; // kept for calls that the daemon may deliver again

/** The answer of a method that refuses: the caller gets the message. */
export class Refusal extends Error {}

/** Returns the JSON Schema of an object: `object({ name: "string", n: "integer?" })`. */
export function object(members) {
  const properties = {};
  const required = [];
  for (const [name, given] of Object.entries(members)) {
    const isOptional = typeof given === "string" && given.endsWith("?");
    properties[name] = schema(isOptional ? given.slice(0, -1) : given);
    if (!isOptional) required.push(name);
  }
  return { type: "object", properties, required, additionalProperties: false };
}

const schema = (given) => (typeof given === "string" ? { type: given } : given);

/** A call of a method. */
class Call {
  #service;
  #read;
  #events = new Map(); // by name
  #live = [];

  constructor(service, { params, caller }, read) {
    this.#service = service;
    this.#read = read;
    this.params = params;
    this.caller = caller;
  }

  async get(name) {
    const event = this.#events.get(name);
    return event ? event.value : this.#read(`services/${this.#service}/${name}`);
  }

  set(name, value) {
    this.#events.set(name, { source: `${this.#service}/${name}`, value });
  }

  remove(name) {
    this.#events.set(name, { source: `${this.#service}/${name}` });
  }

  publish(name, value) {
    this.#live.push({ source: `${this.#service}/${name}`, value });
  }

  /** The members of the reply. */
  reply(value = null) {
    const events = this.#events.size ? [...this.#events.values()] : undefined;
    return { value, events, publish: this.#live.length ? this.#live : undefined };
  }
}

export class Provider {
  #open;
  #service;
  #methods;
  #declaration;
  #jobs;
  #timeout;
  #connection; // undefined while there is none
  #lastId = 0;
  #answers = new Map(); // what to do with the answers to requests, by id
  #waiting = []; // the calls that were delivered and do not run yet
  #running = new Set(); // the keys of calls
  #replies = new Map(); // those to queued calls that the daemon may not have, by key
  #delivered = new Set(); // the keys of the queued calls that came on this connection
  #watchers = new Set(); // functions that look when something has changed
  #isClosing = false;
  #isOver = false;
  #settle;

  constructor(open, service, { methods, doc, sources, views, jobs = 1, timeout = 30_000, maxDeliveries }) {
    this.#open = open;
    this.#service = service;
    this.#methods = methods;
    this.#jobs = jobs;
    this.#timeout = timeout;
    const declared = {};
    for (const [name, method] of Object.entries(methods)) {
      const { doc, params, result, queued } = typeof method === "function" ? {} : method;
      const delivery = queued ? "queued" : undefined;
      declared[name] = { doc, params: schema(params), result: schema(result), delivery };
    }
    const limits = { call_ms: timeout, max_deliveries: maxDeliveries };
    this.#declaration = { service, doc, methods: declared, sources, views, ...limits };
    this.ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.ended.catch(() => {}); // nobody may wait for it
  }

  /** Connects and provides. `Client.provide` has done it. */
  async open() {
    await this.#connect();
    this.#run();
  }

  async close() {
    if (this.#connection && !this.#isOver) {
      this.#isClosing = true;
      await new Promise((done) => this.#request("withdraw", { service: this.#service }, done));
      await this.#until(() => !this.#running.size && !this.#waiting.length && !this.#answers.size);
    }
    this.#end();
  }

  async #connect() {
    const connection = await this.#open();
    try {
      await connection.send(connection.encode(0, "provide", this.#declaration));
      let frame;
      do frame = await connection.receive();
      while (frame.id === undefined);
      if (frame.error) throw new DaemonError(frame.error);
    } catch (error) {
      connection.close();
      throw error;
    }
    if (this.#isOver) return connection.close();
    this.#connection = connection;
    this.#look();
  }

  /** Takes calls and answers, and connects again, until an error that does not pass. */
  async #run() {
    const backoff = new Backoff();
    while (!this.#isOver) {
      let error;
      try {
        for (;;) {
          this.#take(await this.#connection.receive());
          backoff.reset();
          this.#look();
        }
      } catch (lost) {
        error = lost;
      }
      this.#lose(error);
      if (this.#isClosing) return this.#end();
      while (!this.#connection && !this.#isOver) {
        try {
          await backoff.wait(error);
          await this.#connect();
        } catch (another) {
          if (!(another instanceof BinderError) || !another.isTemporary) return this.#end(another);
          error = another;
        }
      }
    }
  }

  #lose(error) {
    this.#connection?.close();
    this.#connection = undefined;
    this.#delivered.clear();
    this.#waiting = []; // The daemon has ended direct calls, and delivers queued ones again.
    const answers = [...this.#answers.values()];
    this.#answers.clear();
    for (const answer of answers) answer({ lost: error });
    this.#look();
  }

  #end(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lose(error ?? new ConnectionLost("the provider is closed"));
    if (error) this.#settle.reject(error);
    else this.#settle.resolve();
  }

  /** Resolves when a condition holds, or when the provider has ended. */
  async #until(condition) {
    while (!condition() && !this.#isOver) await new Promise((wake) => this.#watchers.add(wake));
  }

  #look() {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const wake of watchers) wake();
  }

  /** Sends a request; `answer` is called once: with the frame, or with `lost`. */
  #request(method, params, answer) {
    if (!this.#connection) return answer({ lost: new ConnectionLost("the connection is lost") });
    const id = ++this.#lastId;
    const line = this.#connection.encode(id, method, params);
    this.#answers.set(id, answer);
    this.#connection.send(line).catch(() => {}); // `#run` notices it too
  }

  /** Returns a value, also if the connection is lost meanwhile; `undefined` if there is none. */
  async #read(source) {
    for (;;) {
      await this.#until(() => this.#connection);
      if (this.#isOver) throw new ConnectionLost("the provider is closed");
      const { result, error } = await new Promise((got) => this.#request("get", { source }, got));
      if (result) return result.value;
      if (error?.data.name === "not_found") return undefined;
      if (error) throw new DaemonError(error);
    }
  }

  #take(frame) {
    if (frame.id !== undefined) {
      const answer = this.#answers.get(frame.id);
      this.#answers.delete(frame.id);
      answer?.(frame);
    } else if (frame.method === "call") {
      const { call: id } = frame.params;
      const connection = this.#connection;
      const isQueued = id.startsWith("q");
      const end = Date.now() + this.#timeout;
      this.#deliver({ ...frame.params, id, connection, isQueued, end, key: `${connection.epoch} ${id}` });
    }
  }

  #deliver(call) {
    if (call.isQueued) {
      this.#delivered.add(call.key);
      if (this.#replies.has(call.key)) return this.#reply(call, this.#replies.get(call.key));
      for (const running of this.#running) if (running.key === call.key) return;
    }
    this.#waiting.push(call);
    this.#start();
  }

  /** Begins as many of the calls that wait as may run. */
  #start() {
    while (this.#running.size < this.#jobs && this.#waiting.length) {
      const call = this.#waiting.shift();
      // The daemon has given up a direct call.
      if (!call.isQueued && Date.now() > call.end) continue;
      this.#running.add(call);
      this.#perform(call).finally(() => {
        this.#running.delete(call);
        this.#start();
        this.#look();
      });
    }
  }

  async #perform(delivered) {
    const name = delivered.method.slice(this.#service.length + 1);
    const method = this.#methods[name];
    const run = typeof method === "function" ? method : method.run;
    const call = new Call(this.#service, delivered, (source) => this.#read(source));
    let reply;
    try {
      reply = call.reply(await run.call(method, delivered.params, call));
    } catch (error) {
      if (!(error instanceof Refusal)) console.error(`${delivered.method} failed:`, error);
      const message = error instanceof Refusal ? error.message : String(error);
      reply = { error: message.slice(0, maxMessage) };
    }
    if (delivered.isQueued) {
      this.#replies.set(delivered.key, reply);
      // Another program may have answered the call meanwhile; then nobody asks for the reply.
      if (this.#replies.size > maxReplies) this.#replies.delete(this.#replies.keys().next().value);
      // Otherwise it is sent when the daemon delivers the call again.
      if (this.#delivered.has(delivered.key)) this.#reply(delivered, reply);
    } else if (delivered.connection === this.#connection) {
      this.#reply(delivered, reply);
    }
  }

  #reply(call, reply) {
    const answered = ({ lost, error }) => {
      if (lost) return;
      this.#replies.delete(call.key);
      // The caller may have gone away meanwhile: `not_found`.
      if (error && error.data.name !== "not_found") {
        console.error(`the reply to ${call.method} was refused: ${error.message}`);
      }
    };
    try {
      this.#request("reply", { call: call.id, ...reply }, answered);
    } catch (error) {
      // It is too long, or not JSON.
      console.error(`the reply to ${call.method} cannot be sent: ${error.message}`);
      const message = `the result cannot be sent: ${error.message}`.slice(0, maxMessage);
      this.#request("reply", { call: call.id, error: message }, answered);
    }
  }
}
