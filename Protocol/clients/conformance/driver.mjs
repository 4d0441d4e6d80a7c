// The driver of the JavaScript client; `run` describes its lines. With TRANSPORT=websocket it uses
// the transport of browsers, over a socket that looks like that of a browser.

import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import * as binder from "../javascript/binder.js";
import { unixSocket } from "../javascript/unix.js";
import { webSocket } from "../javascript/websocket.js";

/** A WebSocket of a bridge that passes each line on as a frame. It never makes the daemon wait. */
class BrowserSocket {
  #socket;
  #rest = "";
  constructor(url) {
    this.#socket = createConnection(url).setEncoding("utf8");
    this.#socket
      .on("connect", () => this.onopen({}))
      .on("error", () => this.onerror({}))
      .on("close", () => this.onclose({}))
      .on("data", (text) => {
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop();
        for (const data of lines) this.onmessage({ data });
      });
  }
  get bufferedAmount() {
    return this.#socket.writableLength;
  }
  send(line) {
    this.#socket.write(`${line}\n`);
  }
  close() {
    this.#socket.end();
  }
}

const [mode, source, options, cursor] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function read() {
  const { value, done } = await lines.next();
  if (done) process.exit(0);
  const [first, second] = value.split(" ", 2);
  return [first, second, value.slice(first.length + (second ?? "").length + 2)];
}

const show = (answer) => console.log(JSON.stringify(answer));

function showError(error) {
  const { code, data, reason, message, name } = error;
  show({ error: { type: error.constructor.name, message, name, code, data, reason } });
}

async function calls(client) {
  for (;;) {
    const [kind, method, rest] = await read();
    try {
      if (kind === "many") {
        const all = Array.from({ length: method }, () => client.command("cells.add", { name: rest }));
        await Promise.all(all);
        show({ result: {} });
      } else {
        show({ result: await client[kind](method, JSON.parse(rest)) });
      }
    } catch (error) {
      showError(error);
    }
  }
}

async function watch(client) {
  const resume = cursor ? JSON.parse(cursor) : undefined;
  const subscription = await client.subscribe(source, JSON.parse(options), { resume });
  show({ ready: true });
  for (;;) {
    const [kind, seq] = await read();
    if (kind === "ack") await subscription.ack(Number(seq));
    else show((await subscription.next()).value);
  }
}

try {
  const path = process.env.BINDER_SOCKET;
  const browser = process.env.TRANSPORT === "websocket";
  const transport = browser ? webSocket(path, { WebSocket: BrowserSocket }) : unixSocket();
  const client = await binder.connect(transport, { name: "driver" });
  await { calls, watch }[mode](client);
} catch (error) {
  showError(error);
  process.exit(0);
}
