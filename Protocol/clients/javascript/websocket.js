/** The transport over WebSocket, for browsers: each text message has one line, or several. */

/** The most characters that wait in a browser before its program reads them. */
const maxQueue = 4 << 20;

/** The most bytes that wait in a browser before the daemon takes them. */
const maxBuffered = 1 << 20;

/**
 * Returns a transport to a WebSocket bridge. `WebSocket` may be another implementation.
 *
 * `protocols` are the WebSocket protocols to offer. `maxWaiting` is the most characters that wait for
 * the program.
 */
export function webSocket(
  url,
  { WebSocket = globalThis.WebSocket, protocols, maxWaiting = maxQueue } = {},
) {
  return () =>
    new Promise((resolve, reject) => {
      const socket = protocols ? new WebSocket(url, protocols) : new WebSocket(url);
      const lines = new WebSocketLines(socket, maxWaiting);
      socket.onopen = () => resolve(lines);
      socket.onerror = () => reject(new Error(`cannot connect to ${url}`));
    });
}

class WebSocketLines {
  #socket;
  #lines = [];
  #size = 0;
  #maxQueue;
  #isEnded = false;
  #wake = () => {};
  #reason; // of the bridge, if it has closed the socket and said why

  constructor(socket, maxQueue) {
    this.#socket = socket;
    this.#maxQueue = maxQueue;
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = (event) => {
      if (event?.reason) this.#reason = new Error(event.reason, { cause: event.code });
      this.#finish();
    };
  }

  /**
   * A browser cannot make the other side wait. If the program does not read, the connection is
   * closed, and nothing after the lines that are kept is taken: the client resumes after them.
   */
  #take(text) {
    if (this.#isEnded) return;
    this.#lines.push(...text.split("\n"));
    this.#size += text.length;
    if (this.#size > this.#maxQueue) this.close();
    this.#wake();
  }

  #finish() {
    this.#isEnded = true;
    this.#wake();
  }

  async send(line) {
    if (this.#isEnded) throw new Error("the socket is closed");
    this.#socket.send(line);
    // There is no event for this.
    while (this.#socket.bufferedAmount > maxBuffered && !this.#isEnded) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async receive() {
    while (!this.#lines.length) {
      if (this.#reason) throw this.#reason;
      if (this.#isEnded) return undefined;
      await new Promise((resolve) => (this.#wake = resolve));
    }
    const line = this.#lines.shift();
    this.#size -= line.length;
    return line;
  }

  close() {
    this.#finish();
    this.#socket.close();
  }
}
