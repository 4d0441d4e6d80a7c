/** Forms for methods and intents, made from the types of their parameters. */

import { button, h, setAttribute, setText } from "./dom.js";
import { isExact, kindOf, long, words } from "./value.js";

/** Parameters that people write at length. */
const longTexts = new Set(["text", "body", "about", "description", "doc", "message"]);

const missing = "This needs a value.";
const inexact = "The present value has a number of more than 15 digits, which a browser cannot keep.";
const numberShape = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const integerShape = /^-?(0|[1-9]\d*)$/;

/** Reads what was typed as a type; throws an error with the reason. */
export function read(text, type) {
  const trimmed = text.trim();
  switch (type) {
    case "string": return text;
    case "integer":
      if (!integerShape.test(trimmed)) throw new Error("a whole number such as 12");
      return exact(trimmed);
    case "number":
      if (!numberShape.test(trimmed)) throw new Error("a number such as 12 or 0.5");
      return exact(trimmed);
    case "boolean":
      if (!["true", "false"].includes(trimmed)) throw new Error("true or false");
      return trimmed === "true";
    case "array": return json(trimmed, Array.isArray, 'a list such as [1, "two"]');
    case "object": return json(trimmed, (value) => kindOf(value) === "object", 'an object such as {"a": 1}');
    case "integer or string": return integerShape.test(trimmed) ? exact(trimmed) : text;
    default: return free(text);
  }
}

function exact(text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error("a smaller number");
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(value)) throw new Error("a number of at most 15 digits in a browser");
  return value;
}

/** Reads JSON; throws a `SyntaxError`, or the reason why a number in it is refused. */
function parse(text) {
  // Not every browser knows the text of a number.
  return JSON.parse(text, (_, value, context) => (typeof value === "number" ? exact(context?.source ?? String(value)) : value));
}

function json(text, fits, shape) {
  let value;
  try {
    value = parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new Error(`${shape}: ${error.message}`) : error;
  }
  if (!fits(value)) throw new Error(shape);
  return value;
}

/** JSON if it is JSON, otherwise the text itself, as in bindctl. */
function free(text) {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (/^\s*[[{"]/.test(text)) throw new Error(`JSON that is complete: ${error.message}`);
    return text;
  }
}

let lastField = 0;

/** One parameter: its label, control, explanation and fault. */
class Field {
  isTouched = false;

  constructor({ name, title, type, optional, doc, format, words: choices, isFilled }, initial, onchange) {
    Object.assign(this, { name, type, isOptional: optional, format, choices, isFilled });
    // The text of a row is removed if that is sent twice.
    this.mayBeEmptied = type === "string" && !choices && !format && typeof initial === "string" && initial !== "";
    const id = `field-${++lastField}`;
    this.fault = h("p.fault", { id: `${id}-fault`, hidden: true });
    // It would be sent as another number.
    if (!isExact(initial)) {
      initial = undefined;
      doc = doc ? `${inexact} ${doc}` : inexact;
    }
    this.reading = h("span.reading", { "aria-hidden": "true" });
    this.control = this.#makeControl(id, initial);
    // The control of a time has whole seconds.
    Object.assign(this, { initial, shown: this.control.value });
    this.control.setAttribute("aria-describedby", `${id}-fault${doc ? ` ${id}-doc` : ""}`);
    setAttribute(this.control, "aria-required", optional ? undefined : "true");
    this.control.addEventListener("input", () => {
      this.isTouched = true;
      this.isWarned = false;
      this.check();
      onchange(this);
    });
    this.element = h("div.field", {},
      h("label", { for: id }, title ?? words(name), optional ? h("span.hint", {}, " optional") : undefined, this.reading),
      this.control, doc ? h("p.hint", { id: `${id}-doc` }, doc) : undefined, this.fault);
  }

  #makeControl(id, initial) {
    const { name, type } = this;
    const text = initial === undefined || initial === null ? "" : type === "string" || typeof initial === "string" && type !== "any" ? String(initial) : long(initial);
    // Not `name`: a form would have the control as a property of that name, in place of its own.
    const named = { id, "data-name": name };
    const common = { ...named, value: text, autocomplete: "off", spellcheck: longTexts.has(name) ? "true" : "false" };
    if (this.choices) {
      const control = h("select", named, ["", ...this.choices].map((value) => h("option", { value }, value || (this.isOptional ? "not given" : "choose"))));
      control.value = this.choices.includes(initial) ? initial : "";
      return control;
    }
    if (this.format === "secret") return h("input", { ...common, type: "password" });
    if (this.format === "date") return h("input", { ...common, type: "date" });
    if (this.format === "clock") return h("input", { ...common, type: "time" });
    if (this.format === "time") return h("input", { ...common, value: text && local(text), type: "datetime-local", step: "1" });
    if (type === "boolean") {
      const choices = [["", this.isOptional ? "not given" : "choose"], ["true", "yes"], ["false", "no"]];
      const control = h("select", named, choices.map(([value, label]) => h("option", { value }, label)));
      control.value = initial === undefined ? "" : String(initial);
      return control;
    }
    if (longTexts.has(name)) return h("textarea", { ...common, rows: "3" });
    if (["any", "array", "object"].includes(type)) {
      const rows = Math.min(14, Math.max(1, text.split("\n").length));
      return h("textarea.mono", { ...common, rows: String(rows) });
    }
    return h("input", { ...common, type: "text", inputmode: { integer: "numeric", number: "decimal" }[type] });
  }

  get text() {
    return this.control.value;
  }

  get isEmpty() {
    return this.text === "" && (this.isOptional || this.isFilled || this.type !== "string" || this.choices !== undefined || this.format !== undefined);
  }

  /** The value that was typed; undefined if nothing was. Throws what is wrong. */
  value() {
    if (this.isEmpty) {
      if (this.isOptional) return undefined;
      if (this.mayBeEmptied && this.isWarned) return "";
      throw new Error(this.mayBeEmptied ? `${missing} Sent once more, the text is removed.` : missing);
    }
    if (this.format === "time" && typeof this.initial === "string" && this.text === this.shown) return this.initial;
    if (this.format === "time") return new Date(this.text).toISOString();
    return read(this.text, this.type);
  }

  /** Shows what is wrong, or how the text is read; returns whether it is right. */
  check({ isComplete = false } = {}) {
    let fault = "";
    let kind = "";
    try {
      const value = this.value();
      if (this.type === "any" && value !== undefined) kind = kindOf(value);
    } catch (error) {
      // What was not begun yet is not wrong yet.
      if (this.text !== "" || isComplete) fault = error.message;
      if (isComplete) this.isWarned = true;
    }
    setText(this.reading, kind && `read as ${kind}`);
    this.show(fault && (fault.startsWith(missing) ? fault : `This takes ${fault}.`));
    return fault === "";
  }

  show(fault) {
    setText(this.fault, fault ?? "");
    this.fault.hidden = !fault;
    setAttribute(this.control, "aria-invalid", fault ? "true" : undefined);
  }
}

/** A time of the protocol as a control for local times takes it. */
function local(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? "" : new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Texts that were typed and not sent, by the name of their form. They survive the form. */
const drafts = new Map();

/**
 * Returns a form. `submit(args)` gets the arguments; if its promise fails, the form shows why, at the
 * parameter that the error names. `draft` keeps what was typed for the next form of that name.
 */
export function makeForm(parameters, { initial = {}, label, submit, draft, kind = "", isDanger = false, onlive }) {
  const kept = draft ? drafts.get(draft) ?? {} : {};
  const note = (field) => {
    if (draft) drafts.set(draft, { ...drafts.get(draft), [field.name]: field.text });
    if (onlive && field.check()) onlive(values());
    fault.hidden = true;
  };
  const fields = parameters.map((parameter) => {
    const field = new Field(parameter, initial[parameter.name], note);
    if (kept[parameter.name] !== undefined) {
      field.control.value = kept[parameter.name];
      field.isTouched = true;
    }
    field.check();
    return field;
  });
  const fault = h("p.fault", { role: "alert", hidden: true });
  const send = button(label, undefined, { kind: isDanger ? "danger" : "main" });
  send.type = "submit";

  function values() {
    const values = {};
    for (const field of fields) {
      const value = field.value();
      if (value !== undefined) values[field.name] = value;
    }
    return values;
  }

  async function run(event) {
    event?.preventDefault();
    fault.hidden = true;
    const wrong = fields.filter((field) => !field.check({ isComplete: true }));
    if (wrong.length) {
      wrong[0].control.focus();
      return;
    }
    const sent = values();
    const typed = drafts.get(draft);
    send.disabled = true;
    try {
      await submit(sent, form);
      if (drafts.get(draft) === typed) drafts.delete(draft);
    } catch (error) {
      const name = error.data?.path?.split("/").filter((part) => part !== "args")[1];
      const field = fields.find((field) => field.name === name);
      if (field) {
        field.show(error.message);
        field.control.focus();
      } else {
        setText(fault, error.message);
        fault.hidden = false;
      }
    } finally {
      send.disabled = false;
    }
  }

  const form = h("form.form", { class: kind, novalidate: true, onsubmit: run }, fields.map(({ element }) => element), fault,
    h("div.actions", {}, send));
  // Enter in a long text begins a line; with Control it sends.
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) run(event);
  });
  form.fields = fields;
  form.clear = () => {
    if (draft) drafts.delete(draft);
    for (const field of fields) {
      field.control.value = "";
      field.show("");
      setText(field.reading, "");
    }
  };
  return form;
}
