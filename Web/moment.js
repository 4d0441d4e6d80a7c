/** A moment of the past that the page shows instead of the present. */

import { later } from "./dom.js";
import { valuesAt } from "./history.js";

/**
 * Emits `change` when the moment or its values change. Everything that shows values listens to it.
 */
export class Moment extends EventTarget {
  /** The position; undefined for the present. */
  seq;

  /** The time of the moment, in milliseconds of the machine's clock. */
  time;

  /** The values of all sources then, by name; undefined while they are loaded. */
  values;
  error;

  #link;
  #load = later(90, () => this.#fetch());
  #wish;

  constructor(link) {
    super();
    this.#link = link;
  }

  get isPast() {
    return this.#wish !== undefined;
  }

  /** Shows the past: at `{time}` in milliseconds, or `{seq, time?}`. */
  show(wish) {
    this.#wish = wish;
    this.time = wish.time;
    this.seq = wish.seq;
    this.error = undefined;
    this.#tell();
    this.#load();
  }

  /** Shows the present again. */
  leave() {
    if (!this.isPast) return;
    this.#wish = this.time = this.seq = this.values = this.error = undefined;
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }

  async #fetch() {
    const wish = this.#wish;
    if (!wish) return;
    const values = new Map();
    const at = wish.seq === undefined ? { time: new Date(wish.time).toISOString() } : { seq: wish.seq };
    try {
      for await (const page of valuesAt(this.#link, "**", at)) {
        if (wish !== this.#wish) return; // another moment is wanted
        for (const [name, value] of Object.entries(page.values)) values.set(name, value);
        if (page.time) this.time = Date.parse(page.time);
        this.seq = page.seq;
      }
      this.values = values;
    } catch (error) {
      if (wish !== this.#wish) return;
      this.error = error;
      this.values = new Map();
    }
    this.#tell();
  }
}
