/** One view in the document: its properties, its lists, and a control for each intent. */

import { announce, button, confirm, dialog, facts, h, keyed, setAttribute, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { argumentsOf, concerns, nameOf, Rows, waits } from "./view-rows.js";
import { inWords, kindOf, short, words } from "./value.js";

/** Whether an intent takes exactly one text, so that a user can write line after line. */
function takesText({ parameters }) {
  return parameters.length === 1 && parameters[0].type === "string" && !parameters[0].optional && parameters[0].name !== "id";
}

/** Whether an intent takes one secret, which most people do not have. */
function takesSecret(intent) {
  return takesText(intent) && (intent.parameters[0].format === "secret" || ["password", "secret", "token"].includes(intent.parameters[0].name));
}

/** Whether an intent only names an element of a list. */
function takesElement({ parameters }) {
  return parameters.length === 1 && parameters[0].name === "id" && !parameters[0].optional;
}

/** Whether the title of a view stands above it. */
function isHeading({ style, properties }) {
  const says = (name) => typeof properties[name]?.value === "string" && properties[name].value !== "";
  return !["tab", "replace"].includes(style) && says("title") && !says("name");
}

/** Intents that move a list which the view shows in part, and where their buttons stand. */
const movers = { older: "before", newer: "after", end: "after" };

export class ViewPane {
  #session;
  #find;
  #draft;
  #rows = new Map(); // by the name of the property

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
    this.answer = h("section.answer", { role: "status" });
    this.element = h("section.view", {}, this.tools, this.bodies, this.answer, this.facts, this.lines, this.above, this.lists, this.below, this.inner, this.composer);
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
    const properties = Object.entries(view.properties).filter(([name]) => view.shows(name));
    const isList = ([, { kind, value }]) => kind === "list" || (Array.isArray(value) && value.some((item) => kindOf(item) === "object"));
    const lists = properties.filter(isList);
    // What is typed into the line of a live intent is seen there.
    const live = view.offered.filter((intent) => intent.isLive && takesText(intent)).map(({ parameters }) => parameters[0].name);
    const plain = properties.filter((entry) => !isList(entry) && entry[0] !== "chosen" && !live.includes(entry[0]) && !(entry[0] === "title" && isHeading(view)));
    this.#drawFacts(plain, view);
    keyed(this.lists, lists, ([name]) => name, ([name]) => {
      const rows = new Rows(this, name);
      this.#rows.set(name, rows);
      return rows.element;
    }, (_, [name, property]) => this.#rows.get(name).update(property, view.offered, { chosen: view.properties.chosen?.value }));
    this.#drawIntents(view, lists);
  }

  focus() {
    const main = this.element.querySelector(".composer input, .composer textarea");
    const first = main ?? this.element.querySelector(".lines input, .lines textarea, .bodies input, .bodies textarea, .lists button, .tools button");
    first?.focus({ preventScroll: true });
  }

  // Properties

  #drawFacts(properties, view) {
    keyed(this.facts, properties, ([name]) => name, ([name, { title }]) => h(".fact", {}, h("dt", {}, title ?? words(name)), h("dd", {}, h("span"), h("span.hint.wait", { role: "status" }))), (row, [name, property]) => {
      const { value, hint, hides, members, state, error } = property;
      const cell = row.lastElementChild;
      const [text, line] = cell.children;
      const wait = waits[state];
      setAttribute(cell, "aria-busy", wait ? "true" : undefined);
      cell.className = error ? "fault" : kindOf(value);
      if (!error && kindOf(value) === "object") this.#drawParts(text, value, hint, hides, members);
      else setText(text, error ?? (wait && value === undefined ? "" : inWords(value, hint, hides, members)));
      setText(line, wait ?? "");
      this.#drawEditing(cell, view.editing(name), value);
      row.hidden = property.kind === "loading" && state === undefined && value === undefined;
    });
    this.facts.hidden = properties.length === 0;
  }

  /** The members of an object, each in one piece where the line is broken. */
  #drawParts(text, value, hint, hides = [], members = {}) {
    if (!text.firstElementChild) text.replaceChildren();
    const parts = Object.entries(value).filter(([name]) => !hides.includes(name));
    keyed(text, parts, ([name]) => name, () => h("span.part"), (part, [name, value]) => {
      setText(part, `${words(name)} ${inWords(value, members[name] ?? hint)} `);
    });
  }

  /** Lets a property be edited where it stands: yes and no by a switch, others in a field. */
  #drawEditing(cell, intent, value) {
    if (!intent) {
      cell.switch?.remove();
      cell.change?.remove();
      cell.form?.remove();
      cell.switch = cell.change = cell.form = undefined;
      return;
    }
    const { type } = intent.parameters[0];
    if (type === "boolean" || (type === "any" && typeof value === "boolean")) {
      if (!cell.switch) {
        cell.switch = h("input.switch", { type: "checkbox", role: "switch", "aria-label": words(intent.name) });
        cell.switch.addEventListener("change", () => this.#edit(intent, { value: cell.switch.checked }));
        cell.append(cell.switch);
      }
      cell.switch.checked = value === true;
      return;
    }
    if (cell.change) return;
    cell.change = button("Change", () => {
      if (cell.form) {
        cell.form.remove();
        cell.form = undefined;
        return;
      }
      const present = this.view.properties[intent.name]?.value;
      cell.form = this.#makeForm(intent, intent.parameters, present === undefined || present === null ? {} : { value: present }, {}, () => {
        cell.form?.remove();
        cell.form = undefined;
        cell.change?.focus();
      }, "Set");
      cell.append(cell.form);
      cell.form.querySelector("input, textarea, select").focus();
    }, { kind: "quiet", "aria-label": `Change ${words(intent.name)}` });
    cell.append(cell.change);
  }

  async #edit(intent, args) {
    try {
      await this.#ask(intent, args);
    } catch (error) {
      announce(error.message, { kind: "bad" });
      this.update();
    }
  }

  /** Performs an intent; the answer that the user wanted is shown until the next one. */
  async #ask(intent, args) {
    this.answer.replaceChildren();
    const { value = null } = await this.#session.ask(this.#find, intent.name, args);
    if (!intent.isAnswer) return;
    const close = button("Close", () => this.answer.replaceChildren(), { image: "close", isBare: true });
    this.answer.replaceChildren(h("header", {}, h("h3", {}, words(intent.name)), close), this.#makeAnswer(intent.name, value));
  }

  #makeAnswer(name, value) {
    if (kindOf(value) === "object") return facts(Object.entries(value).map(([name, part]) => [words(name), inWords(part)]));
    if (!Array.isArray(value)) return h("p", {}, inWords(value));
    if (!value.length) return h("p", {}, "Nothing.");
    const rows = new Rows(this, name);
    rows.update({ value }, []);
    rows.title.remove();
    return rows.element;
  }

  // Intents

  #drawIntents(view, lists) {
    const rows = lists.flatMap(([name, { value }]) => (value ?? []).slice(0, 1).map((item) => [name, item])).filter(([, item]) => item?.id !== undefined);
    // What concerns a row is beside the rows; without any it needs a form, too.
    const isEmpty = lists.length > 0 && lists.every(([, { value }]) => !value?.length);
    const own = view.offered.filter((intent) => intent.list === undefined && (view.editing(intent.name) === undefined || !(intent.name in view.properties)))
      .filter((intent) => !rows.some(([name, item]) => concerns(intent, item, name)) && !(isEmpty && !intent.isRowless && takesElement(intent)));
    const main = own.filter((intent) => intent.isMain && !intent.isDestructive && (takesText(intent) || intent.isLive)).slice(0, 1);
    const moves = own.filter((intent) => intent.name in movers && intent.parameters.length === 0);
    // A text that nothing is known of yet is written in a line; what changes something has a form.
    const isLine = (intent) => takesText(intent) && !takesSecret(intent) && !(intent.parameters[0].name in view.properties) && !intent.isDestructive;
    const lines = own.filter((intent) => !main.includes(intent) && isLine(intent)).slice(0, 2);
    const rest = own.filter((intent) => ![...main, ...moves, ...lines].includes(intent));
    const typed = rest.filter(({ parameters }) => parameters.length > 0);
    const line = (intent) => this.#makeComposer(intent);
    keyed(this.composer, main, ({ name }) => name, line, () => {});
    keyed(this.lines, lines, ({ name }) => name, line, () => {});
    for (const [side, parent] of [["before", this.above], ["after", this.below]]) {
      const count = Object.values(view.properties).find(({ hint }) => hint === side)?.value ?? 0;
      parent.hidden = count === 0;
      parent.count ??= parent.appendChild(h("span.hint"));
      setText(parent.count, count ? `${count} ${side === "before" ? "older" : "newer"}` : "");
      keyed(parent, moves.filter(({ name }) => movers[name] === side), ({ name }) => name, (intent) => button(words(intent.name), () => this.act(intent), { kind: "quiet", image: side === "before" ? "up" : "down" }), () => {});
    }
    keyed(this.bodies, typed, ({ name }) => name, () => h(".body", { hidden: true }), () => {});
    keyed(this.tools, rest, ({ name }) => name, (intent) => this.#makeTool(view, intent), () => {});
    this.tools.hidden = rest.length === 0;
    if (this.#isNew) {
      this.#isNew = false;
      // Without a list, the forms are what the view is for.
      if (!lists.length && !lines.length) for (const intent of typed.slice(0, 4)) this.#toggle(intent, false);
    }
  }

  #isNew = true;

  /** A button that performs an intent, or unfolds its form. */
  #makeTool(view, intent) {
    const kind = intent.isDestructive ? "quiet danger" : "quiet";
    if (!intent.parameters.length) return button(words(intent.name), () => this.act(intent), { kind });
    const name = takesSecret(intent) ? `I have a ${words(intent.parameters[0].name).toLowerCase()}` : words(intent.name);
    return button(name, () => this.#toggle(intent), { kind, "aria-expanded": "false" });
  }

  #toggle(intent, mayFocus = true) {
    const { view } = this;
    const of = (parent) => [...parent.children].find(({ key }) => key === intent.name);
    const [toggle, body] = [of(this.tools), of(this.bodies)];
    body.hidden = !body.hidden;
    toggle.setAttribute("aria-expanded", String(!body.hidden));
    if (body.hidden) return;
    if (!body.childElementCount) {
      const form = this.#makeForm(intent, intent.parameters, this.#present(view, intent), {}, (form) => {
        if (!this.#rows.size) return;
        form.clear();
        if (!body.hidden) this.#toggle(intent, false);
      });
      body.append(h("h3", {}, words(intent.name)), form);
    }
    if (mayFocus) body.querySelector("input, textarea, select, button").focus();
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

  #makeForm(intent, parameters, initial, args, done, label = words(intent.name), name) {
    return makeForm(this.#filled(parameters, intent), {
      initial, label, isDanger: intent.isDestructive, draft: `${this.#draft} ${intent.name} ${args.id ?? ""}`,
      submit: async (typed, form) => {
        if (!(await this.#mayDo(intent, name, typed))) return;
        await this.#ask(intent, { ...args, ...typed });
        done?.(form);
      },
    });
  }

  /** The parameters of an intent: a text that the view does not show needs one. */
  #filled(parameters, intent) {
    const { properties } = this.view;
    const isShown = ({ name }) => name in properties || (name === "value" && intent.name in properties);
    const titleOf = ({ name }) => properties[name]?.title ?? (name === "value" ? properties[intent.name]?.title : undefined);
    return parameters.map((parameter) => ({ ...parameter, title: titleOf(parameter), isFilled: !intent.isLive && !parameter.optional && !isShown(parameter) }));
  }

  /** A line to write in, which stays after it was sent; of a live intent each key is sent. */
  #makeComposer(intent) {
    const { view } = this;
    const [parameter] = this.#filled(intent.parameters, intent);
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
        queue.push(args);
        form.clear();
        form.fields[0].control.focus();
        if (queue.length === 1) sendQueue();
        return undefined;
      },
    });
    // One after the other, so that they arrive in order also after a lost connection.
    const queue = [];
    const wait = h("p.hint", { role: "status" });
    form.append(wait);
    const sendQueue = async () => {
      while (queue.length) {
        const late = setTimeout(() => setText(wait, `Sending ${queue.length === 1 ? `‘${short(queue[0][parameter.name])}’` : `${queue.length} lines`} …`), 500);
        try {
          await this.#ask(intent, queue[0]);
        } catch (error) {
          // The line comes back, unless another one is there.
          const field = form.fields[0];
          if (field.text === "") field.control.value = queue[0][parameter.name];
          field.show(field.text === queue[0][parameter.name] ? error.message : `‘${queue[0][parameter.name]}’ was not sent: ${error.message}`);
        }
        clearTimeout(late);
        setText(wait, "");
        queue.shift();
      }
    };
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

  /** Asks before a destructive intent; `name` is that of its row, and `typed` what was typed for it. */
  async #mayDo(intent, name, typed = {}) {
    if (!intent.isDestructive) return true;
    const what = name !== undefined ? ` ‘${name}’` : Object.entries(typed).filter(([name]) => intent.parameters.find((parameter) => parameter.name === name)?.format !== "secret").map(([name, value]) => ` ${words(name).toLowerCase()} ${short(value)}`).join("");
    return confirm(`${words(intent.name)}${what}? The past keeps what was.`, words(intent.name));
  }

  /** Performs an intent, for an element if it concerns one; asks for what it still needs. */
  async act(intent, row, list, control) {
    const { args, rest } = row ? argumentsOf(intent, row, list) : { args: {}, rest: [] };
    const name = row && nameOf(row, this.view.properties[list]);
    if (rest.length) {
      const initial = Object.fromEntries(rest.map((parameter) => [parameter.name, row[parameter.from ?? parameter.name] ?? undefined]));
      const box = dialog(`${words(intent.name)} ${name}`, this.#makeForm(intent, rest, initial, args, () => box.close(), undefined, name));
      return;
    }
    if (!(await this.#mayDo(intent, name))) return;
    if (control) control.disabled = true;
    try {
      await this.#ask(intent, args);
    } catch (error) {
      announce(error.message, { kind: "bad" });
    } finally {
      if (control) control.disabled = false;
    }
  }
}
