/** The past of one source, and of others in the same plot. */

import { announce, button, h, keyed, setText } from "./dom.js";
import { changesSince } from "./history.js";
import { kindOf, plottable } from "./value.js";

/** The most changes of a source that are kept. */
const maxChanges = 20_000;

/** The most sources beside the first one in a plot. */
const maxOthers = 5;

/** The most names that are proposed. */
const maxProposed = 20;

/** The changes of a source since a time, which go on. */
export class Past {
  changes = [];
  isCut = false; // there are older changes
  isLoaded = false;
  #link;
  #name;
  #changed;
  #loading; // the reading that is under way
  #following; // the subscription to its changes
  #isClosed = false;

  /** `changed()` is called after each later change. */
  constructor(link, name, changed) {
    this.#link = link;
    this.#name = name;
    this.#changed = changed;
  }

  close() {
    this.#isClosed = true;
    this.#following?.close();
  }

  /** Reads the changes since a time. Returns false if another reading has begun meanwhile. */
  async load(from) {
    const load = (this.#loading = {});
    const isOld = () => this.#isClosed || load !== this.#loading;
    this.#following?.close();
    try {
      const { changes, isCut, follow } = await changesSince(this.#link, this.#name, from);
      if (isOld()) return false;
      Object.assign(this, { changes, isCut, isLoaded: true });
      this.#following = follow((change) => this.#add(change));
    } catch (error) {
      if (isOld()) return false;
      throw error;
    }
    return true;
  }

  #add(change) {
    this.changes.push(change);
    if (this.changes.length > maxChanges) this.changes.splice(0, maxChanges / 4);
    this.#changed();
  }

  /** The curve of its numbers; of an object, those of a part. */
  curve(type, part) {
    const points = this.changes.map(({ time, value }) => ({ x: time, y: plottable(kindOf(value) === "object" ? value[part] : value) ?? null }));
    const isSwitch = type?.kind === "boolean" || typeof this.changes.at(-1)?.value === "boolean";
    return { name: this.#name, title: type?.title ?? this.#name, unit: type?.unit ?? (isSwitch ? "on or off" : ""), points };
  }
}

/** The names of the sources beside each source, while the page is open. */
const chosen = new Map();

/** The other sources in the plot of one: chosen by name, and listed with the colours of their curves. */
export class Others {
  #page;
  #name;
  #changed;
  #from;
  #pasts = new Map();

  /** `changed()` is called when the plot is to be drawn again. */
  constructor(page, name, changed) {
    this.#page = page;
    this.#name = name;
    this.#changed = changed;
    this.legend = h("ul.legend", { "aria-label": "Sources in the plot", hidden: true });
    const names = h("datalist", { id: "others" });
    const input = h("input", { type: "search", list: "others", "aria-label": "Another source for the plot", placeholder: "Compare with …", autocomplete: "off", oninput: () => names.replaceChildren(...this.#proposed(input.value).map((value) => h("option", { value }))) });
    this.form = h("form.compare", {
      onsubmit: (event) => {
        event.preventDefault();
        if (this.#choose(input.value.trim())) input.value = "";
      },
    }, input, names, h("button.button.quiet", {}, h("span", {}, "Compare")));
    for (const other of chosen.get(name) ?? []) this.#add(other);
  }

  close() {
    for (const past of this.#pasts.values()) past.close();
  }

  /** Reads the past of all of them since a time. */
  load(from) {
    this.#from = from;
    for (const [name, past] of this.#pasts) this.#read(name, past);
  }

  /** The curves of those whose past is there. */
  curves(part) {
    return [...this.#pasts].filter(([, past]) => past.isLoaded).map(([name, past]) => past.curve(this.#page.store.type(name), part));
  }

  /** Lists the curves of the plot; none if there is only the first one. */
  list(curves) {
    this.legend.hidden = curves.length < 2;
    keyed(this.legend, curves, ({ name }) => name, ({ name }) => h("li", {}, h("span.swatch", { "aria-hidden": "true" }), h("span"),
      name === this.#name ? "" : button(`Remove ${name} from the plot`, () => this.#remove(name), { image: "remove", isBare: true })),
    (item, { title, unit, points }) => {
      const isEmpty = points.every(({ y }) => y === null);
      item.firstElementChild.dataset.curve = curves.findIndex(({ name }) => name === item.key);
      setText(item.children[1], `${title}${unit ? ` (${unit})` : ""}${isEmpty ? ", no numbers in this time" : ""}`);
    });
  }

  #proposed(text) {
    const found = [];
    for (const [name, { value }] of this.#page.store.entries) {
      if (found.length === maxProposed) break;
      const isFit = name.includes(text) && (plottable(value) !== undefined || kindOf(value) === "object");
      if (isFit && !this.#isShown(name) && this.#page.store.describe(name)?.journaled) found.push(name);
    }
    return found;
  }

  #isShown(name) {
    return name === this.#name || this.#pasts.has(name);
  }

  /** Returns whether a source comes into the plot, if it has numbers. */
  #choose(name) {
    const fault = !this.#page.store.describe(name)?.journaled ? "The journal does not keep a source of this name." :
      this.#isShown(name) ? "It is in the plot." : this.#pasts.size >= maxOthers ? `A plot shows at most ${maxOthers + 1} sources.` : undefined;
    if (fault) announce(fault, { kind: "bad" });
    else this.#add(name, { isNew: true });
    return !fault;
  }

  #add(name, { isNew = false } = {}) {
    const past = new Past(this.#page.link, name, this.#changed);
    this.#pasts.set(name, past);
    chosen.set(this.#name, [...this.#pasts.keys()]);
    if (this.#from !== undefined) this.#read(name, past, isNew);
  }

  /** Says why a source has no curve, now or in the time of the plot; undefined if it has one. */
  #faultOf(name, { changes }) {
    const present = this.#page.store.entries.get(name);
    const values = [...changes.map(({ value }) => value), present?.value].filter((value) => value !== undefined);
    if (values.length === 0 || (!present && values.every((value) => value === null))) return `There is no source ${name}.`;
    return values.some(hasNumber) ? undefined : `${name} has no number.`;
  }

  #remove(name) {
    this.#pasts.get(name)?.close();
    this.#pasts.delete(name);
    chosen.set(this.#name, [...this.#pasts.keys()]);
    this.#changed();
  }

  async #read(name, past, isNew = false) {
    try {
      if (!(await past.load(this.#from))) return;
      const fault = isNew ? this.#faultOf(name, past) : undefined;
      if (fault) {
        announce(fault, { kind: "bad" });
        this.#remove(name);
      } else {
        this.#changed();
      }
    } catch (error) {
      announce(`${name}: ${error.message}`, { kind: "bad" });
      if (isNew) this.#remove(name);
    }
  }
}

/** Returns whether a value, or a part of an object, can be drawn. */
function hasNumber(value) {
  return plottable(value) !== undefined || (kindOf(value) === "object" && Object.values(value).some((part) => plottable(part) !== undefined));
}
