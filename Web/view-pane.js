/** One view in the document: its properties, its lists, and a control for each intent. */

import { announce, button, confirm, dialog, h, keyed, setAttribute, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { argumentsOf, concerns, Rows } from "./view-rows.js";
import { hinted, kindOf, short, words } from "./value.js";

/** Whether an intent takes exactly one text, so that a user can write line after line. */
function takesText({ parameters }) {
  return parameters.length === 1 && parameters[0].type === "string" && !parameters[0].optional && parameters[0].name !== "id";
}

/** Intents that move a list which the view shows in part, and where their buttons stand. */
const movers = { older: "before", newer: "after", end: "after" };

export class ViewPane {
  #session;
  #find;
  #draft;
  #rows = new Map(); // by the name of the property
  #forms = new Map(); // by the name of the intent
  #intents = "";

  /** `find()` returns the view, which is another one after a lost connection. `draft` names what is typed. */
  constructor(session, find, draft) {
    this.#session = session;
    this.#find = find;
    this.#draft = draft;
    this.facts = h("dl.facts");
    this.above = h(".actions");
    this.lists = h(".lists");
    this.below = h(".actions");
    this.composer = h(".composer");
    this.lines = h(".lines");
    this.tools = h(".actions.tools");
    this.bodies = h(".bodies");
    this.inner = h(".inner");
    this.element = h("section.view", {}, this.tools, this.bodies, this.facts, this.lines, this.above, this.lists, this.below, this.inner, this.composer);
    this.update();
  }

  get view() {
    return this.#find();
  }

  update() {
    const { view } = this;
    if (!view) return;
    setAttribute(this.element, "aria-label", words(view.binder));
    this.element.dataset.binder = view.binder;
    const properties = Object.entries(view.properties);
    const isList = ([, { kind, value }]) => kind === "list" || (Array.isArray(value) && value.some((item) => kindOf(item) === "object"));
    const lists = properties.filter(isList);
    const plain = properties.filter((entry) => !isList(entry) && entry[0] !== "chosen" && !["before", "after"].includes(entry[1].hint));
    this.#drawFacts(plain);
    keyed(this.lists, lists, ([name]) => name, ([name]) => {
      const rows = new Rows(this, name);
      this.#rows.set(name, rows);
      return rows.element;
    }, (_, [name, property]) => this.#rows.get(name).update(property, view.intents, { chosen: view.properties.chosen?.value }));
    this.#drawIntents(view, lists);
  }

  focus() {
    const first = this.element.querySelector(".composer input, .composer textarea, .lines input, .lines textarea, .bodies input, .bodies textarea, .lists button, .tools button");
    first?.focus({ preventScroll: true });
  }

  // Properties

  #drawFacts(properties) {
    keyed(this.facts, properties, ([name]) => name, ([name]) => h(".fact", {}, h("dt", {}, words(name)), h("dd")), (row, [, property]) => {
      const { value, hint, state, error } = property;
      const cell = row.lastElementChild;
      const isWaiting = ["loading", "reloading"].includes(state);
      setAttribute(cell, "aria-busy", isWaiting ? "true" : undefined);
      cell.className = error ? "fault" : kindOf(value);
      setText(cell, error ?? (isWaiting && value === undefined ? "Loading …" : this.#text(value, hint)));
      row.hidden = property.kind === "loading" && state === undefined && value === undefined;
    });
    this.facts.hidden = properties.length === 0;
  }

  #text(value, hint) {
    if (value === undefined || value === null || value === "") return "–";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (Array.isArray(value)) return value.map((item) => this.#text(item, hint)).join(", ") || "–";
    if (kindOf(value) === "object") return Object.entries(value).map(([name, part]) => `${words(name)} ${this.#text(part, hint)}`).join(" · ");
    return short(hinted(value, hint));
  }

  // Intents

  #drawIntents(view, lists) {
    const items = lists.flatMap(([name, { value }]) => (value ?? []).slice(0, 1).map((item) => [name, item]));
    const concernsRow = (intent) => intent.parameters.some(({ name, optional }) => name === "id" && !optional) || items.some(([name, item]) => concerns(intent, item, name));
    const own = view.intents.filter((intent) => !concernsRow(intent) || (lists.length === 0 && intent.parameters.length > 0));
    const main = own.find((intent) => intent.isMain && (takesText(intent) || intent.isLive));
    const moves = own.filter((intent) => intent.name in movers && intent.parameters.length === 0);
    // A text that nothing is known of yet is written in a line; what changes something has a form.
    const lines = own.filter((intent) => intent !== main && takesText(intent) && !(intent.parameters[0].name in view.properties) && !intent.isDestructive).slice(0, 2);
    const typed = own.filter((intent) => intent !== main && !lines.includes(intent) && intent.parameters.length > 0);
    const plain = own.filter((intent) => intent !== main && !moves.includes(intent) && intent.parameters.length === 0);
    const shape = JSON.stringify([view.binder, main?.name, moves.map(({ name }) => name), lines.map(({ name }) => name), typed.map(({ name }) => name), plain.map(({ name }) => name)]);
    if (shape !== this.#intents) {
      this.#intents = shape;
      this.#makeIntents(view, { main, moves, lines, typed, plain, hasList: lists.length > 0 });
    }
    for (const [side, parent] of [["before", this.above], ["after", this.below]]) {
      const count = Object.values(view.properties).find(({ hint }) => hint === side)?.value ?? 0;
      parent.hidden = count === 0;
      setText(parent.count ?? (parent.count = parent.appendChild(h("span.hint"))), count ? `${count} ${side === "before" ? "older" : "newer"}` : "");
    }
  }

  #makeIntents(view, { main, moves, lines, typed, plain, hasList }) {
    this.tools.replaceChildren();
    this.bodies.replaceChildren();
    this.composer.replaceChildren();
    this.lines.replaceChildren(...lines.map((intent) => this.#makeComposer(intent)));
    this.#forms.clear();
    for (const parent of [this.above, this.below]) {
      parent.replaceChildren();
      parent.count = undefined;
    }
    for (const intent of moves) {
      const parent = movers[intent.name] === "before" ? this.above : this.below;
      parent.append(button(words(intent.name), () => this.act(intent), { kind: "quiet", image: intent.name === "older" ? "up" : "down" }));
    }
    if (main) this.composer.append(this.#makeComposer(main));
    // Without a list, the forms are what the view is for.
    const isOpen = !hasList && lines.length === 0;
    for (const intent of typed) {
      const body = h(".body", { hidden: true });
      const toggle = button(words(intent.name), () => this.#toggle(intent, toggle, body, view), { kind: "quiet", "aria-expanded": "false" });
      this.tools.append(toggle);
      this.bodies.append(body);
      if (isOpen) this.#toggle(intent, toggle, body, view, false);
    }
    for (const intent of plain) this.tools.append(button(words(intent.name), () => this.act(intent), { kind: intent.isDestructive ? "quiet danger" : "quiet" }));
    this.tools.hidden = this.tools.childElementCount === 0;
  }

  #toggle(intent, toggle, body, view, mayFocus = true) {
    body.hidden = !body.hidden;
    toggle.setAttribute("aria-expanded", String(!body.hidden));
    if (body.hidden) return;
    if (!this.#forms.has(intent.name)) {
      const form = this.#makeForm(intent, intent.parameters, this.#present(view, intent), {}, (form) => {
        form.clear();
        if (view.properties && this.#rows.size) this.#toggle(intent, toggle, body, view, false);
      });
      this.#forms.set(intent.name, form);
      body.append(h("h3", {}, words(intent.name)), form);
    }
    if (mayFocus) this.#forms.get(intent.name).querySelector("input, textarea, select, button").focus();
  }

  /** The properties of the names of an intent's parameters: what it changes. */
  #present(view, intent) {
    const values = {};
    for (const { name } of intent.parameters) {
      const value = view.properties[name]?.value;
      if (value !== undefined && value !== null && kindOf(value) !== "array") values[name] = value;
    }
    return values;
  }

  #makeForm(intent, parameters, initial, args, done) {
    return makeForm(parameters, {
      initial, label: words(intent.name), isDanger: intent.isDestructive, draft: `${this.#draft} ${intent.name} ${args.id ?? ""}`,
      submit: async (typed, form) => {
        if (!(await this.#mayDo(intent))) return;
        await this.#session.ask(this.#find, intent.name, { ...args, ...typed });
        done?.(form);
      },
    });
  }

  /** A line to write in, which stays after it was sent; of a live intent each key is sent. */
  #makeComposer(intent) {
    const { view } = this;
    const [parameter] = intent.parameters;
    let latest;
    let isSending = false;
    const sendLive = async (args) => {
      latest = args;
      if (isSending) return;
      isSending = true;
      while (latest) {
        const now = latest;
        latest = undefined;
        await this.#session.ask(this.#find, intent.name, now).catch((error) => announce(error.message, { kind: "bad" }));
      }
      isSending = false;
    };
    const form = makeForm([parameter], {
      label: words(intent.name), draft: `${this.#draft} ${intent.name}`, kind: "line", initial: intent.isLive ? this.#present(view, intent) : {},
      onlive: intent.isLive ? sendLive : undefined,
      submit: async (args) => {
        if (intent.isLive) return sendLive(args);
        const field = form.fields[0].control;
        await this.#session.ask(this.#find, intent.name, args);
        // Keeps what was typed meanwhile.
        if (field.value === args[parameter.name]) form.clear();
        else if (field.value.startsWith(args[parameter.name])) field.value = field.value.slice(args[parameter.name].length);
        field.focus();
      },
    });
    // In a line, Enter sends, and Shift-Enter begins a line.
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea")) return;
      event.preventDefault();
      form.requestSubmit();
    });
    const { control } = form.fields[0];
    control.placeholder = words(parameter.name);
    if (control.matches("textarea")) control.rows = 1;
    return form;
  }

  async #mayDo(intent, row) {
    if (!intent.isDestructive) return true;
    const name = row ? ` ${short(row.name ?? row.title ?? row.id)}` : "";
    return confirm(`${words(intent.name)}${name}? This cannot be undone.`, words(intent.name));
  }

  /** Performs an intent, for an element if it concerns one; asks for what it still needs. */
  async act(intent, row, list, control) {
    const { args, rest } = row ? argumentsOf(intent, row, list) : { args: {}, rest: [] };
    if (rest.length) {
      const box = dialog(`${words(intent.name)} ${short(row.name ?? row.id ?? "")}`, this.#makeForm(intent, rest, row, args, () => box.close()));
      return;
    }
    if (!(await this.#mayDo(intent, row))) return;
    if (control) control.disabled = true;
    try {
      await this.#session.ask(this.#find, intent.name, args);
    } catch (error) {
      announce(error.message, { kind: "bad" });
    } finally {
      if (control) control.disabled = false;
    }
  }
}
