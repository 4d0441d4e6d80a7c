/** Work in parts, so that the browser draws and reacts to keys between them. */

/** The longest part in milliseconds. */
const longest = 8;

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

/** Waits for the next turn of the browser. */
function nextTurn() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(0);
  });
}

/** Knows how long the present turn has taken. */
export class Turn {
  #begin;

  /** Begins a part of the work; the first one of a turn begins to count. */
  begin() {
    if (this.#begin !== undefined) return;
    this.#begin = performance.now();
    nextTurn().then(() => (this.#begin = undefined));
  }

  /** Whether the turn has taken long enough. */
  get isOver() {
    return performance.now() - this.#begin > longest;
  }

  /** Waits for another one. */
  async next() {
    await nextTurn();
    this.begin();
  }
}
