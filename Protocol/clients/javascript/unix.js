/** The transport over a Unix socket, for Node. */

import { once } from "node:events";
import { createConnection } from "node:net";
import { env } from "node:process";
import { maxLine } from "./connection.js";

/**
 * Returns a transport to the daemon's socket; without a path the environment decides, as for
 * `bindctl`.
 */
export function unixSocket(path = env.BINDER_SOCKET) {
  const user = env.XDG_RUNTIME_DIR;
  const name = env.BINDER_NAME;
  const end = `${name && name !== "binderd" ? name : "binder"}/bus.sock`;
  const paths = path ? [path] : [...(user ? [`${user}/${end}`] : []), `/run/${end}`];
  return async () => {
    let failure;
    for (const path of paths) {
      const socket = createConnection(path).setEncoding("utf8");
      try {
        await once(socket, "connect");
        return new UnixSocket(socket);
      } catch (error) {
        failure = error;
      }
    }
    throw new Error(`cannot connect to ${paths.join(" or ")}: ${failure.message}`, { cause: failure });
  };
}

class UnixSocket {
  #socket;
  #chunks;
  #lines = [];
  #rest = ""; // the beginning of a line
  #room; // resolves when there is room for another line

  constructor(socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
    socket.on("error", () => {}); // `receive` throws it
  }

  async send(line) {
    if (this.#socket.destroyed) throw new Error("the socket is closed");
    if (this.#socket.write(`${line}\n`)) return;
    // All that wait share the listeners.
    this.#room ??= new Promise((resolve) => {
      const done = () => {
        this.#socket.off("drain", done).off("close", done);
        this.#room = undefined;
        resolve();
      };
      this.#socket.on("drain", done).on("close", done);
    });
    await this.#room;
  }

  async receive() {
    while (!this.#lines.length) {
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      const lines = value.split("\n");
      lines[0] = this.#rest + lines[0];
      this.#rest = lines.pop();
      if (this.#rest.length > maxLine) throw new Error("a line is too long");
      this.#lines = lines;
    }
    return this.#lines.shift();
  }

  close() {
    this.#socket.destroy();
  }
}
