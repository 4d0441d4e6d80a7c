import { ConnectionFailed, ConnectionLost, DaemonError } from "./errors.js";

/** The longest line in bytes that the client takes. A longer value comes in parts. */
export const maxLine = 1 << 20;

/** The first and the longest pause before connecting again, in milliseconds. */
const firstPause = 100;
const longestPause = 5000;

const encoder = new TextEncoder();

/** A connection on which `hello` was answered. */
export class Connection {
  #socket;
  #maxRequest = maxLine;

  constructor(socket) {
    this.#socket = socket;
  }

  /** Connects and says `hello`. `line` is the longest line that the client takes. */
  static async open(transport, name, { line = maxLine } = {}) {
    let socket;
    try {
      socket = await transport();
    } catch (error) {
      throw new ConnectionFailed(`${error.message}; is binderd running?`, { cause: error });
    }
    const connection = new Connection(socket);
    const hello = await connection.ask("hello", {
      protocol: [1],
      client: { name },
      optional: ["items"],
      limits: { line },
    });
    connection.hello = hello;
    connection.epoch = hello.epoch;
    connection.#maxRequest = hello.limits.line_in;
    return connection;
  }

  /** Sends a request and reads its answer, before anything else is sent on the connection. */
  async ask(method, params) {
    try {
      await this.send(this.encode(0, method, params));
      const { error, result } = await this.receive();
      if (error) throw new DaemonError(error);
      return result;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Returns the line of a request; without an id the daemon does not answer it.
   *
   * Throws `line_too_long` if the daemon takes no such long line. The daemon's own error would have
   * no id, because it drops the line.
   */
  encode(id, method, params) {
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const size = encoder.encode(line).length + 1;
    const max = this.#maxRequest;
    if (size <= max) return line;
    throw new DaemonError({
      code: -32001,
      message: `the request has ${size} bytes, a line has at most ${max}`,
      data: { name: "line_too_long", retry: false, limit: "line_in", max },
    });
  }

  /** Sends a line, and waits until the daemon has room for more. */
  async send(line) {
    try {
      await this.#socket.send(line);
    } catch (cause) {
      throw new ConnectionLost(`the connection is lost: ${cause.message}`, { cause });
    }
  }

  /**
   * Waits for the next answer or notification; throws `ConnectionLost` at the end.
   *
   * It reads only when it is called, so that a slow caller slows down the daemon and needs no
   * memory.
   */
  async receive() {
    let frame;
    try {
      const line = await this.#socket.receive();
      if (line === undefined) throw new Error("the other side has closed it");
      frame = JSON.parse(line);
    } catch (cause) {
      throw new ConnectionLost(`the connection is lost: ${cause.message}`, { cause });
    }
    if (frame.method !== "closing") return frame;
    const { reason, reconnect_ms: reconnectMs } = frame.params;
    throw new ConnectionLost(`the daemon has closed the connection: ${reason}`, { reason, reconnectMs });
  }

  /** Ends the connection at once. */
  close() {
    this.#socket.close();
  }
}

/** Pauses that double, with a random part so that many clients do not return at once. */
export class Backoff {
  #pause = firstPause;

  /** Begins with the shortest pause again, after a success. */
  reset() {
    this.#pause = firstPause;
  }

  /** Waits before the next attempt; throws `error` if another attempt cannot help. */
  async wait(error) {
    if (!error.isTemporary) throw error;
    let pause = error.reconnectMs;
    if (pause === undefined) {
      pause = (this.#pause * (1 + Math.random())) / 2;
      this.#pause = Math.min(this.#pause * 2, longestPause);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
