/** One source: its value, its past as a plot, and what can be done with it. */

import { announce, busyLine, button, confirm, h, later, loading, perFrame, setAttribute, setBusy, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { lastEvents } from "./history.js";
import { Others, Past } from "./past.js";
import { Plot } from "./plot.js";
import { flash } from "./theme.js";
import { clock, kindOf, long, measured, number, plottable, short } from "./value.js";

/** The most rows of the table of changes. */
const maxRows = 60;

/** A value in many lines is folded beyond this. */
const maxLong = 20_000;

export class SourcePane {
  #page;
  #name;
  #past;
  #pointer = ""; // the part of an object that the plot shows
  #ends = [];
  #redraw = perFrame(() => this.#showPast());
  #load = later(150, () => this.#loadPast());

  /** `page` has the link, the store, the moment, the time bar and the boards. */
  constructor(page, name) {
    this.#page = page;
    this.#name = name;
    const { store, moment, timeBar } = page;
    this.value = h("output.big", { "aria-live": "off" });
    this.age = h("p.hint");
    this.toggle = h("input", { type: "checkbox", role: "switch", "aria-label": `${name} on or off`, onchange: () => this.#setTo(this.toggle.checked) });
    this.switch = h("label.switch", { hidden: true }, this.toggle, h("span", {}, "on or off"));
    this.parts = h("select", { "aria-label": "Part that the plot shows", hidden: true, onchange: () => this.#choosePart() });
    this.#past = new Past(page.link, name, () => this.#redraw());
    this.others = new Others(page, name, () => this.#redraw());
    this.plot = new Plot((time) => moment.show({ time }));
    this.plotBox = h("section.panel", { "aria-label": "Plot of the past" }, h("header", {}, h("h2", {}, "Past"), this.parts, this.others.form), this.plot.element, this.others.legend);
    this.table = h("tbody");
    this.note = h("p.hint");
    this.wait = busyLine(true);
    this.tableBox = h("section.panel", { "aria-label": "Changes" }, h("header", {}, h("h2", {}, "Changes")), this.wait, this.note,
      h(".scroll", {}, h("table.changes", {}, h("thead", {}, h("tr", {}, ["Time", "Position", "Value", "", ""].map((title) => h("th", { scope: "col" }, title)))), this.table)));
    this.actions = h("div.actions");
    this.present = h("section.panel.present", { "aria-label": "Value" }, this.value, this.switch, this.age, this.actions);
    this.element = h("article.source", { "aria-label": name }, this.#head(), this.present, this.plotBox, this.tableBox);
    const on = (target, event, run) => {
      target.addEventListener(event, run);
      this.#ends.push(() => target.removeEventListener(event, run));
    };
    on(store, "values", ({ names }) => names.has(name) && this.#change());
    on(store, "services", () => {
      this.#describe();
      this.#load();
    });
    on(store, "names", () => this.present.ariaBusy && this.#show());
    on(moment, "change", () => this.#show());
    on(timeBar, "span", () => this.#load());
    const timer = setInterval(() => this.#tick(), 1000);
    this.#ends.push(() => clearInterval(timer), () => this.plot.close());
    this.#describe();
    this.#show();
    this.#load();
  }

  close() {
    this.#past.close();
    this.others.close();
    for (const end of this.#ends) end();
  }

  get #entry() {
    return this.#page.store.entries.get(this.#name);
  }

  get #meta() {
    return this.#page.store.describe(this.#name);
  }

  get #type() {
    return this.#page.store.type(this.#name);
  }

  #head() {
    const segments = this.#name.split("/");
    this.title = h("p.hint", { hidden: true });
    return h("header.title", {},
      button("All sources", () => this.#page.show(), { image: "back", isBare: true, kind: "only-narrow" }),
      h("h1", {}, segments.map((segment, i) => [i ? h("span.slash", {}, "/") : undefined, h(i === segments.length - 1 ? "strong" : "span", {}, segment)])), this.title);
  }

  #describe() {
    const meta = this.#meta;
    const { store } = this.#page;
    store.watch(this.#name.split("/")[0]);
    this.actions.replaceChildren(
      ...(meta?.writable ? [button("Set", () => this.#edit(), { image: "edit" })] : []),
      ...(meta?.journaled ? [button("Why?", () => this.#explain(), { image: "clock" })] : []),
      button("Pin to a board", () => this.#page.boards.pin(this.#name), { image: "pin" }),
      ...(this.#name.startsWith("cells/") ? [button("Remove", () => this.#remove(), { image: "remove", kind: "quiet" })] : []),
    );
    const { title } = this.#type ?? {};
    setText(this.title, title ?? "");
    this.title.hidden = !title;
    this.#show();
    this.plotBox.hidden = this.tableBox.hidden = !meta?.journaled;
    if (meta) setText(this.age, meta.doc);
  }

  // The present

  #change() {
    this.#show();
    if (this.newer) {
      const value = this.#entry?.value;
      this.newer.hidden = JSON.stringify(value) === this.newer.initial;
      setText(this.newer, value === undefined ? "It has been removed meanwhile." : `It is ${short(value)} now.`);
    }
    if (!this.#page.moment.isPast) flash(this.value);
  }

  #shown() {
    const { moment } = this.#page;
    if (!moment.isPast) return this.#entry?.value;
    return moment.values?.get(this.#name);
  }

  #show() {
    const value = this.#shown();
    const { moment, store } = this.#page;
    const kind = kindOf(value);
    const service = this.#name.split("/")[0];
    const isLoading = moment.isPast ? !moment.values : value === undefined && store.isLoading(service);
    const failure = value === undefined && !moment.isPast ? store.failures.get(service) : undefined;
    setAttribute(this.present, "aria-busy", isLoading ? "true" : undefined);
    this.value.className = `big ${kind}`;
    const text = kind === "object" || kind === "array" ? long(value) : measured(value, this.#type);
    setText(this.value, text.length > maxLong ? `${text.slice(0, maxLong)}…` : isLoading ? loading : failure?.message ?? text);
    this.switch.hidden = kind !== "boolean" || !this.#meta?.writable || moment.isPast;
    this.toggle.checked = value === true;
    this.#showPast();
  }

  #showPast() {
    this.#drawPlot();
    this.#drawTable();
    this.#tick();
  }

  #tick() {
    const { moment } = this.#page;
    const last = this.#past.changes.at(-1);
    const doc = this.#meta?.doc ?? "";
    const at = moment.isPast || !last ? "" : `Changed ${clock(last.time)}. `;
    setText(this.age, at + doc);
    if (!moment.isPast && this.#past.isLoaded && !this.plotBox.hidden) this.#drawPlot();
  }

  async #setTo(value) {
    try {
      await this.#page.link.command("set", { source: this.#name, value });
    } catch (error) {
      announce(error.message, { kind: "bad" });
      this.toggle.checked = this.#entry?.value === true;
    }
  }

  /** The version at which the source had a value, if it is a stream of its own with known events. */
  async #versionOf(initial) {
    if (!this.#meta?.journaled) return undefined;
    const params = { source: "events", filter: { streams: [this.#name] }, limit: 1 };
    const last = await lastEvents(this.#page.link, params).catch(() => undefined);
    const event = last?.items.at(-1)?.event;
    // Set since it was shown: no version that could still be the present one.
    if (event?.data && "value" in event.data && JSON.stringify(event.data.value) !== JSON.stringify(initial)) return event.version - 1;
    return event?.version;
  }

  /** The value as a field of a form, with what its type says. */
  #parameter(meta) {
    const type = this.#type;
    if (!type || type.kind === "any") return { name: "value", type: meta.type ?? "any", optional: false, doc: "JSON, or a text." };
    const { kind, low, high, unit, choices } = type;
    const range = low === undefined && high === undefined ? "" : `${low ?? ""}…${high ?? ""}`;
    return { name: "value", type: kind === "list" ? "array" : kind, words: choices, optional: false, doc: [range, unit].filter(Boolean).join(" ") || undefined };
  }

  /** Asks for a value; `proposed` is an earlier one. */
  #edit(proposed) {
    const meta = this.#meta;
    const { moment } = this.#page;
    const parameter = this.#parameter(meta);
    const initial = this.#entry?.value;
    // What is replaced is what the dialog has shown, not what somebody has set meanwhile.
    let version = this.#versionOf(initial);
    this.newer = h("p.hint", { role: "status", hidden: true });
    this.newer.initial = JSON.stringify(initial);
    const past = h("p.hint", { hidden: proposed === undefined && !moment.isPast },
      `${moment.isPast ? "The page shows the past. " : ""}This changes the present value, which is ${initial === undefined ? "not set" : short(initial)}.`);
    const form = makeForm([parameter], {
      initial: { value: proposed ?? (moment.isPast ? this.#shown() : initial) }, label: "Set",
      submit: async ({ value }) => {
        const expected = await version;
        const expect = expected === undefined ? {} : { _meta: { expect: { [this.#name]: expected } } };
        try {
          await this.#page.link.command("set", { source: this.#name, value, ...expect });
        } catch (error) {
          if (error.name !== "conflict") throw error;
          version = error.data.actual;
          const { value: newer } = await this.#page.link.call("get", { source: this.#name }).catch(() => ({}));
          throw new Error(`It has changed meanwhile${newer === undefined ? "" : ` to ${short(newer)}`}. ‘Set’ again replaces it.`);
        }
        box.close();
      },
    });
    const box = this.#page.dialog(`Set ${this.#name}`, [past, this.newer, form]);
    box.addEventListener("close", () => (this.newer = undefined));
    box.querySelector("textarea, input, select").select?.();
  }

  /** Shows the events behind the shown value. */
  async #explain() {
    const { link, moment } = this.#page;
    const list = h("ol.reasons");
    const box = this.#page.dialog(`Why is ${this.#name} ${short(this.#shown())}?`, [list]);
    try {
      const at = moment.isPast ? { at: moment.seq === undefined ? { time: new Date(moment.time).toISOString() } : { seq: moment.seq } } : {};
      const { value: chain } = await link.call("why", { source: this.#name, ...at });
      list.replaceChildren(...chain.map((event) => h("li", {}, reasonOf(event))));
      if (!chain.length) list.replaceWith(h("p", {}, "Nothing in the journal has changed it."));
    } catch (error) {
      if (box.isConnected) list.replaceWith(h("p.fault", {}, error.message));
    }
  }

  async #remove() {
    const past = this.#page.moment.isPast ? "The page shows the past. This removes the present value. " : "";
    if (!(await confirm(`${past}Remove ${this.#name}?`, "Remove"))) return;
    try {
      await this.#page.link.command("cells.remove", { name: this.#name.replace(/^cells\//, "") });
    } catch (error) {
      announce(error.message, { kind: "bad" });
    }
  }

  // The past

  async #loadPast() {
    const { from } = this.#page.timeBar;
    if (!this.#meta?.journaled) return;
    setBusy(this.tableBox, this.wait, true);
    this.others.load(from);
    try {
      if (!(await this.#past.load(from))) return;
      setText(this.note, this.#past.changes.length ? "" : "It has not changed in this time.");
    } catch (error) {
      setText(this.note, error.message);
    }
    setBusy(this.tableBox, this.wait, false);
    this.#show();
  }

  /** The numeric parts of the values, as JSON Pointers; the empty one is the whole. */
  #numericParts() {
    const parts = new Set();
    for (const { value } of this.#past.changes.slice(-200)) {
      if (plottable(value) !== undefined) parts.add("");
      if (kindOf(value) === "object") for (const [key, part] of Object.entries(value)) if (plottable(part) !== undefined) parts.add(key);
    }
    return [...parts].slice(0, 40);
  }

  #choosePart() {
    this.#pointer = this.parts.value;
    this.#drawPlot();
  }

  #drawPlot() {
    if (!this.#past.isLoaded) return;
    const parts = this.#numericParts();
    this.plotBox.hidden = parts.length === 0;
    if (!parts.length) return;
    if (!parts.includes(this.#pointer)) this.#pointer = parts[0];
    this.parts.hidden = parts.length < 2;
    if (this.parts.options.length !== parts.length) {
      this.parts.replaceChildren(...parts.map((part) => h("option", { value: part }, part || "value")));
      this.parts.value = this.#pointer;
    }
    const { timeBar, link, moment } = this.#page;
    const curves = [this.#past.curve(this.#type, this.#pointer), ...this.others.curves(this.#pointer)];
    const now = `, now ${short(this.#entry?.value)}`;
    this.others.list(curves);
    this.plot.show(curves, {
      from: timeBar.from, to: link.now(), moment: moment.isPast ? moment.time : undefined,
      summary: curves.map((curve, i) => `${curve.name} since ${clock(timeBar.from)}: ${summary(curve)}${i ? "" : now}`).join("; "),
    });
  }

  #drawTable() {
    if (!this.#past.isLoaded) return;
    const { moment } = this.#page;
    const upTo = moment.isPast ? this.#past.changes.filter(({ seq, time }) => (moment.seq === undefined ? time <= moment.time : seq !== undefined && seq <= moment.seq)) : this.#past.changes;
    const rows = upTo.slice(-maxRows).reverse();
    this.table.replaceChildren(...rows.map(({ seq, time, value }) =>
      h("tr", {}, h("td", {}, clock(time, { milliseconds: true })), h("td.number", {}, seq ?? ""), h(`td.value.${kindOf(value)}`, {}, short(value)),
        h("td", {}, this.#meta?.writable && value !== undefined ? button(`Set to this value, ${short(value)}`, () => this.#edit(value), { image: "edit", isBare: true }) : ""),
        h("td", {}, seq === undefined ? "" : button(`Show everything as of position ${seq}`, () => moment.show({ seq, time }), { image: "clock", isBare: true })))));
    if (this.#past.isCut && !moment.isPast) setText(this.note, `Only the last ${this.#past.changes.length} changes are read.`);
  }
}

/** Says in words what a curve shows. */
function summary({ points }) {
  const numbers = points.map(({ y }) => y).filter((y) => y !== null);
  const [low, high] = numbers.reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity]);
  return `${numbers.length} values from ${number(low)} to ${number(high)}`;
}

/** The reasons for which a chain of events ends. */
const ends = {
  hidden: "Your role may not see what has caused it.",
  long: "The chain goes on.",
  not_recorded: "Its cause was not recorded.",
  not_journaled: "is not in the journal: a time, a measured or a live value.",
  removed: "The journal does not hold the event any more.",
};

/** Says what an event has changed, and by what. */
function reasonOf({ source, value, time, type, binding, name, file, line, ended, who, cmd, cause, end }) {
  if (end) return end === "not_journaled" ? `${source} ${ends[end]}` : ends[end] ?? end;
  const by = [who && `${who.program ?? "binderd"} of user ${who.uid}, ${who.method}`, cmd && `command ${cmd}`, cause === "client" && "cause said by the client"].filter(Boolean).join(", ");
  return [
    h("strong", {}, source), value === undefined ? ` (${type})` : ` became ${short(value)}`, ` at ${clock(Date.parse(time), { milliseconds: true })}`,
    binding ? [" by the binding ", h("code", {}, binding), name ? ` (${[name, file && `${file}:${line}`].filter(Boolean).join(", ")})` : "", ended ? " (no longer there)" : ""] : "", by ? h("span.hint", {}, ` ${by}`) : "",
  ];
}
