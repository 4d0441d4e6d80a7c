/** The log of events: newest first, live, with filters; older ones on demand. */

import { button, facts, h, keyed, later, loading, perFrame, setAttribute, setText } from "./dom.js";
import { read } from "./form.js";
import { lastEvents } from "./history.js";
import { clock, duration, long, short } from "./value.js";

/** Events that are shown first, that are read at once, and that are kept. */
const first = 100;
const pageSize = 200;
const maxKept = 2000;

const operators = [["==", "is"], ["!=", "is not"], ["<", "is below"], ["<=", "is at most"], [">", "is above"], [">=", "is at least"], ["prefix", "begins with"], ["exists", "exists"]];

export class EventsPage {
  title = "Events";
  #app;
  #items = []; // newest first: {seq, event}, or a gap {seq, missed}
  #waiting = []; // while paused
  #isPaused = false;
  #isLoading = false;
  #hasMore = true;
  #subscription;
  #current; // the last start; none after the page is closed
  #chosen;
  #draw = perFrame(() => this.#show());

  constructor(app) {
    this.#app = app;
    const restart = later(250, () => this.#start());
    const input = (label, list, placeholder) => h("input", { type: "search", "aria-label": label, placeholder, list, oninput: restart, autocomplete: "off", spellcheck: "false" });
    this.types = input("Types of events", "event-types", "Type: cells.*");
    this.streams = input("Streams of events", "event-streams", "Stream: cells/**, or a part of its name");
    this.path = input("Member of the data", undefined, "Data: /value");
    this.operator = h("select", { "aria-label": "Condition", onchange: restart }, operators.map(([value, label]) => h("option", { value }, label)));
    this.operand = input("Value of the condition", undefined, "value");
    this.who = h("input", { type: "checkbox", onchange: restart });
    this.pause = button("Pause", () => this.#togglePause(), { image: "pause" });
    this.fault = h("p.fault", { role: "alert", hidden: true });
    this.note = h("p.hint", { role: "status" });
    this.list = h("ol.log", { "aria-label": "Events, newest first", reversed: true });
    this.older = button("Older events", () => this.#loadOlder(), { image: "down" });
    this.element = h(".events", {},
      h("form.filters", { "aria-label": "Filter", onsubmit: (event) => event.preventDefault() }, this.types, this.streams,
        h("fieldset", {}, h("legend.hidden", {}, "Condition on the data"), this.path, this.operator, this.operand),
        h("label.check", {}, this.who, " Show who"), this.pause),
      this.#suggestions(), this.fault, this.note, this.list, h(".actions", {}, this.older));
    app.store.addEventListener("services", () => this.element.querySelector("datalist")?.parentElement.replaceWith(this.#suggestions()));
    this.#start();
  }

  show(stream) {
    if (stream === undefined) return;
    this.streams.value = stream;
    this.#start();
  }

  close() {
    this.#current = undefined;
    this.#subscription?.close();
  }

  #suggestions() {
    const { services } = this.#app.store;
    const types = services.flatMap(({ name, events }) => (events?.length ? [`${name}.*`, ...events] : []));
    return h("span", { hidden: true }, h("datalist", { id: "event-types" }, types.map((value) => h("option", { value }))),
      h("datalist", { id: "event-streams" }, services.map(({ name }) => h("option", { value: `${name}/**` }))));
  }

  /** Returns the filter of the daemon; undefined for all events. */
  #filter() {
    const list = (text) => text.split(/[\s,]+/).filter(Boolean);
    const isPattern = (word) => word.includes("/") || word.includes("*");
    // A word is a part of a name, at any depth.
    const streams = (word) => (isPattern(word) ? [word] : [0, 1, 2, 3, 4].flatMap((depth) => [word, `${word}/**`].map((name) => "*/".repeat(depth) + name)));
    const filter = {};
    if (this.types.value.trim()) filter.types = list(this.types.value);
    if (this.streams.value.trim()) filter.streams = list(this.streams.value).flatMap(streams);
    const [path, op] = [this.path.value.trim(), this.operator.value];
    if (path || (op === "exists" && this.operand.value)) {
      const condition = { path: path.startsWith("/") || !path ? path : `/${path}`, op };
      if (op === "exists") condition.value = this.operand.value.trim() !== "false";
      else if (this.operand.value === "") return Object.keys(filter).length ? filter : undefined;
      else condition.value = read(this.operand.value, "any");
      filter.where = [condition];
    }
    return Object.keys(filter).length ? filter : undefined;
  }

  get #params() {
    const filter = this.#filter();
    return { source: "events", ...(filter && { filter }), ...(this.who.checked && { who: true }) };
  }

  async #start() {
    const start = (this.#current = {});
    this.#subscription?.close();
    this.#items = [];
    this.#waiting = [];
    this.#hasMore = true;
    this.fault.hidden = true;
    this.list.replaceChildren();
    this.#isLoading = true;
    this.#draw();
    let params;
    try {
      params = this.#params;
    } catch (error) {
      return this.#fail(error);
    }
    const { link } = this.#app;
    try {
      // The present end of the log, and then what follows it: no event is between them.
      const page = await lastEvents(link, { ...params, limit: first });
      if (start !== this.#current) return; // another filter is wanted
      this.#items = [...page.items].reverse();
      this.#hasMore = page.more;
      this.#subscription = link.subscribe({ ...params, from: { after: page.after }, on_gap: "continue" }, (type, update) => this.#take(type, update));
    } catch (error) {
      if (start === this.#current) this.#fail(error);
    }
    this.#isLoading = false;
    this.#draw();
  }

  #fail(error) {
    setText(this.fault, error.message);
    this.fault.hidden = false;
    this.#isLoading = false;
    this.#draw();
  }

  #take(type, update) {
    if (type === "fail") return this.#fail(update);
    if (type === "reset") setText(this.note, "The journal was replaced, or older events were removed. The list goes on from now.");
    if (type === "next") (this.#isPaused ? this.#waiting : this.#items).unshift({ seq: update.seq, event: update.event });
    else if (type === "lagged") this.#items.unshift({ seq: update.seq, missed: update.missed });
    else return;
    for (const items of [this.#items, this.#waiting]) {
      if (items.length > maxKept + 200) {
        items.length = maxKept;
        this.#hasMore = true;
      }
    }
    this.#draw();
  }

  #togglePause() {
    this.#isPaused = !this.#isPaused;
    if (!this.#isPaused) {
      this.#items.unshift(...this.#waiting);
      this.#waiting = [];
    }
    const next = button(this.#isPaused ? "Go on" : "Pause", () => this.#togglePause(), { image: this.#isPaused ? "play" : "pause" });
    this.pause.replaceWith(next);
    this.pause = next;
    next.focus();
    this.#draw();
  }

  async #loadOlder() {
    const before = this.#items.at(-1)?.seq;
    if (before === undefined) return;
    this.older.disabled = true;
    try {
      const page = await this.#app.link.call("history", { ...this.#params, before, limit: pageSize });
      this.#items.push(...[...page.items].reverse());
      this.#hasMore = page.more;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.older.disabled = false;
      this.#draw();
    }
  }

  // Drawing

  #show() {
    keyed(this.list, this.#items, ({ seq, missed }) => `${missed ? "gap" : "event"}${seq}`, (item) => this.#makeRow(item), (row, { seq }) => row.classList.toggle("chosen", seq === this.#chosen));
    this.older.hidden = !this.#hasMore || this.#items.length === 0;
    setAttribute(this.list, "aria-busy", this.#isLoading ? "true" : undefined);
    if (this.#isLoading) setText(this.note, loading);
    else if (this.#isPaused) setText(this.note, this.#waiting.length ? `${this.#waiting.length} new events wait.` : "Paused.");
    else if (!this.#items.length && this.fault.hidden) setText(this.note, "No event fits.");
    else if (/^Loading|^No event|wait\.$|^Paused/.test(this.note.textContent)) setText(this.note, "");
  }

  #makeRow({ seq, event, missed }) {
    if (missed) return h("li.gap", {}, `Positions ${missed.from} to ${missed.to} were removed from the journal.`);
    const { type, stream, time, data, who } = event;
    const details = h(".details", { hidden: true });
    const row = h("li", {},
      h("button.line", { type: "button", "aria-expanded": "false", onclick: () => this.#toggle(row, details, seq, event) },
        h("time", { datetime: time }, clock(time, { milliseconds: true })), h("span.type", {}, type), h("span.stream", {}, stream), h("span.data", {}, short(data)),
        who ? h("span.who", {}, `${who.program ?? "pid"} ${who.pid}, uid ${who.uid}`) : undefined), details);
    return row;
  }

  #toggle(row, details, seq, event) {
    details.hidden = !details.hidden;
    row.firstElementChild.setAttribute("aria-expanded", String(!details.hidden));
    this.#chosen = details.hidden ? undefined : seq;
    if (details.hidden || details.childElementCount) return;
    const { stream, version, cmd, time, data, who } = event;
    const known = [["Position", seq], ["Version", version], ["Age", duration(this.#app.link.now() - Date.parse(time))], ["Command", cmd], ["Who", who && `${who.method} of pid ${who.pid}, uid ${who.uid}`]];
    details.append(
      facts(known.filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])),
      h("pre", { tabindex: "0", "aria-label": "Data" }, long(data)),
      h(".actions", {},
        button("Everything as of here", () => {
          this.#app.moment.show({ seq, time: Date.parse(time) });
          this.#app.go("sources");
        }, { image: "clock" }),
        this.#app.store.describe(stream) ? button("Open the source", () => this.#app.go("sources", ...stream.split("/")), { image: "sources" }) : undefined,
        button("Only this stream", () => this.show(stream), { image: "search" })));
  }
}
