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

const view = 'view "The stock."\nservices/stock/n ~> n\nadd -> stock.add name="n"';

async function provide(client) {
  const { object, Refusal } = binder;
  const released = []; // functions that let a call end
  const hold = async ({ name }, call) => {
    show({ begun: name });
    await new Promise((resolve) => released.push(resolve));
    call.set(`held/${name}`, ((await call.get(`held/${name}`)) ?? 0) + 1);
    return name;
  };
  const provider = await client.provide(source, {
    doc: "A service of the driver.",
    sources: { n: "A number." },
    views: source === "stock" ? { stock: view } : undefined,
    jobs: Number(options),
    methods: {
      echo: (params, { caller }) => ({ params, uid: caller.uid }),
      add: {
        doc: "Adds to a number.",
        params: object({ name: { type: "string", description: "Of which." }, n: "integer?" }),
        result: "integer",
        async run({ name, n = 1 }, call) {
          const count = ((await call.get(name)) ?? 0) + n;
          call.set(name, count);
          if ((await call.get(name)) !== count) throw new Error("it is not set");
          return count;
        },
      },
      remove: ({ name }, call) => call.remove(name),
      show: ({ value }, call) => call.publish("last", value),
      refuse({ why }, call) {
        call.set("n", "is not recorded");
        throw new Refusal(why);
      },
      fail() {
        throw new Error("boom");
      },
      wrong: { result: "integer", run: () => "text" },
      long: () => "x".repeat(2 << 20),
      hold,
      order: { queued: true, run: hold },
    },
  });
  show({ ready: true });
  const ended = provider.ended.then(() => {
    show({ ended: true });
    process.exit(0);
  });
  for (;;) {
    const [kind] = await Promise.race([read(), ended]);
    if (kind === "go") released.shift()();
    else provider.close();
  }
}

try {
  const path = process.env.BINDER_SOCKET;
  const browser = process.env.TRANSPORT === "websocket";
  const transport = browser ? webSocket(path, { WebSocket: BrowserSocket }) : unixSocket();
  const client = await binder.connect(transport, { name: "driver" });
  await { calls, watch, provide }[mode](client);
} catch (error) {
  showError(error);
  process.exit(0);
}
