/** The lists of a view: a table, or messages with a text each. Rows are kept by their `id`. */

import { button, h, keyed, loading, setAttribute, setText } from "./dom.js";
import { hinted, inWords, kindOf, short, words } from "./value.js";
import { saysSomething } from "./view-model.js";

/** Members of an element that are written at length. */
const texts = ["text", "body"];

/** Members that name an element. */
const titles = ["title", "name"];

/** What is said of a property that is on its way, by its state. */
export const waits = { loading, reloading: "Loading again …" };

/** Intents that look at a row, in this order, if none opens a view. */
const lookingIntents = ["open", "enter", "show", "choose", "select"];

/** Whether a parameter is the number of an element: `episode` for `episodes`. */
function isElement({ name, type }, list, intent) {
  return intent.list === undefined && type === "integer" && `${name}s` === list;
}

/**
 * Whether an intent concerns an element of a list. If the daemon does not say it, it requires the `id`, or
 * takes it under the singular of the list's name. With an optional `id` it creates something.
 */
export function concerns(intent, row, list) {
  if (row?.id === undefined || intent.isRowless) return false;
  if (intent.whenRow !== undefined && !saysSomething(row[intent.whenRow])) return false;
  if (intent.unlessRow !== undefined && saysSomething(row[intent.unlessRow])) return false;
  if (intent.list !== undefined) return intent.list === list;
  return intent.parameters.some((parameter) => (parameter.name === "id" && !parameter.optional) || isElement(parameter, list, intent));
}

/**
 * The arguments that an element gives, and the parameters that are left to be typed. An optional one is
 * asked for if the daemon names the list: then the author of the view wants it so.
 */
export function argumentsOf(intent, row, list) {
  const args = {};
  const rest = [];
  for (const parameter of intent.parameters) {
    if (isElement(parameter, list, intent) || parameter.name === "id") args[parameter.name] = row.id;
    else if (!parameter.optional || intent.list !== undefined) rest.push(parameter);
  }
  return { args, rest };
}

/** The name of a row: its name, title or text, otherwise the first thing that people see of it. */
export function nameOf(item, { hides = [], members = {}, hint } = {}) {
  const name = ["name", "title", "text", "body"].find((name) => typeof item[name] === "string" && item[name]);
  if (name) return short(item[name]);
  const seen = Object.entries(item).filter(([name, value]) => !hides.includes(name) && value !== null && value !== "" && !(name === "id" && typeof value === "number"));
  if (!seen.length) return short(item.id ?? "");
  // A number alone says little.
  return seen.slice(0, typeof seen[0][1] === "number" ? 3 : 1).map(([name, value]) => short(inWords(value, members[name] ?? hint))).join(" ");
}

/** The size of a list on the screen. */
function sizeOf(list) {
  return `${list.clientWidth} ${list.clientHeight}`;
}

/** Whether the list has another size than when its observer ran last, which then looks after its end. */
function hasNewSize(list) {
  return list.size !== undefined && list.size !== sizeOf(list);
}

/** Remembers whether the user is at the end; a scroll that comes with another size is not the user's. */
function rememberScroll(list) {
  if (!hasNewSize(list)) list.wasAtEnd = isAtItsEnd(list);
}

/** Whether the last message is in sight, or nearly. */
function isAtItsEnd(list) {
  return list.scrollHeight - list.scrollTop - list.clientHeight < 40;
}

/** A list in the document. `pane.act(intent, row, list)` performs an intent. */
export class Rows {
  #pane;
  #name;
  #hint;
  #hides = [];
  #members = {};
  #isFeed;
  #columns = [];

  constructor(pane, name) {
    this.#pane = pane;
    this.#name = name;
    this.count = h("span.hint");
    this.heading = h("span", {}, words(name));
    this.title = h("h3", {}, this.heading, " ", this.count);
    this.state = h("p.hint", { role: "status" });
    this.body = h("div");
    this.element = h("section.rows", { "aria-label": words(name) }, this.title, this.state, this.body);
  }

  update(property, intents, { chosen } = {}) {
    const items = property.value ?? [];
    this.#hint = property.hint;
    this.#hides = property.hides ?? [];
    this.#members = property.members ?? {};
    setText(this.heading, property.title ?? words(this.#name));
    setText(this.count, items.length ? String(items.length) : "");
    const wait = waits[property.state];
    setText(this.state, property.error ?? wait ?? (items.length || property.state === "loaded" && property.value === undefined ? "" : "Nothing here yet."));
    this.state.className = property.error ? "fault" : "hint";
    setAttribute(this.element, "aria-busy", wait ? "true" : undefined);
    const objects = items.every((item) => kindOf(item) === "object");
    const isFeed = objects && items.some((item) => texts.some((name) => typeof item[name] === "string"));
    if (items.length && isFeed !== this.#isFeed) {
      this.body.replaceChildren();
      this.#isFeed = isFeed;
      this.list = undefined;
    }
    if (!objects) this.#drawPlain(items);
    else if (isFeed) this.#drawFeed(items, intents, chosen);
    else this.#drawTable(items, intents, chosen);
  }

  #drawPlain(items) {
    this.list ??= this.body.appendChild(h("ul.plain"));
    keyed(this.list, items.map((item, i) => ({ item, i })), ({ i }) => i, () => h("li"), (row, { item }) => setText(row, short(hinted(item, this.#hint))));
  }

  #keyOf(item, i) {
    return item.id ?? `place ${i}`;
  }

  // Messages

  #makeFeed() {
    const list = h("ol.feed", { "aria-label": words(this.#name), tabindex: "0", role: "log", onscroll: () => rememberScroll(list) });
    list.wasAtEnd = true;
    // When the list appears, and on a phone that is turned or whose keyboard appears, the last message
    // is in sight, or the chosen one.
    new ResizeObserver(() => {
      list.size = sizeOf(list);
      if (list.wasAtEnd) list.scrollTop = list.scrollHeight;
      else if (!list.isPlaced) list.querySelector(".chosen")?.scrollIntoView({ block: "center" });
      list.isPlaced = list.clientHeight > 0;
    }).observe(list);
    this.body.append(list);
    return list;
  }

  #drawFeed(items, intents, chosen) {
    this.list ??= this.#makeFeed();
    const { list } = this;
    const isAtEnd = hasNewSize(list) ? list.wasAtEnd : isAtItsEnd(list);
    const height = list.scrollHeight;
    const wasFirst = list.firstElementChild?.key;
    keyed(list, items.map((item, i) => ({ item, key: this.#keyOf(item, i) })), ({ key }) => key,
      () => {
        const row = h("li", {}, h("header"), h("p.text"), h(".actions"));
        [row.head, row.text, row.actions] = row.children;
        return row;
      },
      (row, { item }) => {
        const name = texts.find((name) => typeof item[name] === "string");
        const rest = Object.entries(item).filter(([key, value]) => key !== name && key !== "id" && !this.#hides.includes(key) && value !== "" && value !== null);
        const looking = this.#lookingIntent(item, intents);
        const title = looking && titles.find((name) => typeof item[name] === "string");
        keyed(row.head, rest, ([key]) => key, ([key]) => h(`span.${key}`, { "aria-label": words(key) }), (part, [key, value]) => {
          if (key === title) this.#drawLink(part, item, looking, value);
          else if (typeof value === "number") setText(part, `${words(key)} ${short(hinted(value, this.#members[key] ?? this.#hint))}`); // a bare number says nothing
          else this.#drawText(part, value, key);
        });
        setText(row.text, item[name] ?? "");
        this.#drawActions(row.actions, item, title ? intents.filter((intent) => intent !== looking) : intents);
        row.classList.toggle("chosen", item.id !== undefined && item.id === chosen);
      });
    if (chosen !== undefined && !list.hasShown) {
      list.querySelector(".chosen")?.scrollIntoView({ block: "center" });
      list.hasShown = true;
      list.wasAtEnd = false;
    } else if (isAtEnd) {
      list.scrollTop = list.scrollHeight;
    } else if (wasFirst !== list.firstElementChild?.key && list.scrollTop < 40) {
      list.scrollTop += list.scrollHeight - height; // older ones came above
    }
  }

  // Tables

  #drawTable(items, intents, chosen) {
    if (!this.list) {
      this.head = h("tr");
      this.list = h("tbody");
      this.body.append(h(".scroll", {}, h("table.table", {}, h("caption.hidden", {}, words(this.#name)), h("thead", {}, this.head), this.list)));
    }
    for (const item of items) for (const name of Object.keys(item)) if (!this.#columns.includes(name)) this.#columns.push(name);
    const columns = this.#columns.filter((name) => !this.#hides.includes(name) && items.some((item) => item[name] !== undefined)).filter((name) => name !== "id" || this.#columns.length === 1 || typeof items[0]?.id === "string");
    const toggle = intents.find((intent) => intent.name === "toggle" && concerns(intent, items[0], this.#name) && argumentsOf(intent, items[0], this.#name).rest.length === 0);
    // Rows with nothing but an id are names, which need no title.
    const isNames = columns.join() === "id";
    const booleans = columns.filter((name) => items.every((item) => typeof item[name] === "boolean"));
    // The only thing that can be switched has a box.
    const box = toggle && booleans.length === 1 ? booleans[0] : undefined;
    keyed(this.head, [...columns, ""], (name) => `column ${name} ${isNames}`, (name) => h("th", { scope: "col" }, name && !isNames ? words(name) : h("span.hidden", {}, name ? words(name) : "Actions")), () => {});
    keyed(this.list, items.map((item, i) => ({ item, key: this.#keyOf(item, i) })), ({ key }) => key, () => h("tr"), (row, { item }) => {
      const looking = this.#lookingIntent(item, intents);
      keyed(row, [...columns, ""], (name) => `cell ${name}`, (name) => h("td", { data: { label: name ? words(name) : "" } }), (cell, name) => {
        if (name === "") {
          cell.className = "acts";
          this.#drawActions(cell, item, intents.filter((intent) => intent !== looking && !(box && intent === toggle)));
        } else if (name === box) {
          this.#drawBox(cell, item, toggle, name);
        } else if (name === columns[0] && looking) {
          this.#drawLink(cell, item, looking, item[name]);
        } else {
          this.#drawCell(cell, item[name], name);
        }
      });
      row.classList.toggle("chosen", item.id !== undefined && item.id === chosen);
    });
  }

  #lookingIntent(item, intents) {
    const own = intents.filter((intent) => concerns(intent, item, this.#name) && !intent.isDestructive && argumentsOf(intent, item, this.#name).rest.length === 0);
    return own.find(({ opens }) => opens) ?? lookingIntents.map((name) => own.find((intent) => intent.name === name)).find(Boolean);
  }

  #drawLink(cell, item, intent, value) {
    if (!cell.link) {
      cell.link = h("button.link", { type: "button", onclick: () => this.#pane.act(cell.intent, cell.item, this.#name, cell.link) });
      cell.replaceChildren(cell.link);
    }
    Object.assign(cell, { intent, item });
    setText(cell.link, short(value));
    setAttribute(cell.link, "aria-label", `${words(intent.name)} ${short(value)}`);
  }

  #drawBox(cell, item, intent, name) {
    if (!cell.box) {
      cell.box = h("input", { type: "checkbox" });
      cell.box.addEventListener("change", async () => {
        await this.#pane.act(cell.intent, cell.item, this.#name, cell.box);
        cell.box.checked = cell.item[cell.name] === true;
      });
      cell.replaceChildren(cell.box);
    }
    Object.assign(cell, { intent, item, name, className: "box" });
    setAttribute(cell.box, "aria-label", `${words(name)} ${this.#nameOf(item)}`);
    if (!cell.box.disabled) cell.box.checked = item[name] === true;
  }

  #nameOf(item) {
    return nameOf(item, { hides: this.#hides, members: this.#members, hint: this.#hint });
  }

  #drawCell(cell, value, name) {
    // Words stay whole, but for those that are longer than a column can be.
    const all = typeof value === "string" ? value.split(/\s+/) : [];
    const isWhole = this.#members[name] === "time" || (all.length === 1 && value.length <= 20);
    cell.className = [kindOf(value ?? undefined), isWhole && "whole", all.some((word) => word.length > 30) && "long"].filter(Boolean).join(" ");
    if (typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value)) {
      if (!cell.swatch) {
        cell.swatch = h("span.swatch", { "aria-hidden": "true" });
        cell.word = h("span");
        cell.replaceChildren(cell.swatch, cell.word);
      }
      cell.swatch.style.backgroundColor = value;
      setText(cell.word, value);
    } else {
      this.#drawText(cell, value, name);
    }
  }

  /** Shows a value as text; an address of the web as a link that tells the other side nothing. */
  #drawText(parent, value, name) {
    const text = value === "" ? "" : inWords(value, this.#members[name] ?? this.#hint);
    if (typeof value === "string" && /^https?:\/\/[^\s]+$/.test(value)) {
      if (parent.address !== value) parent.replaceChildren(h("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, text));
      parent.address = value;
    } else {
      setText(parent, text);
    }
  }

  /** Buttons for what can be done with an element. */
  #drawActions(parent, item, intents) {
    const name = this.#nameOf(item);
    const own = intents.filter((intent) => concerns(intent, item, this.#name))
      .sort((a, b) => a.isDestructive - b.isDestructive || b.isMain - a.isMain);
    keyed(parent, own, (intent) => intent.name,
      (intent) => {
        const control = button(words(intent.name), () => this.#pane.act(control.intent, control.item, this.#name, control), { kind: intent.isDestructive ? "quiet danger" : "quiet" });
        return control;
      },
      (control, intent) => {
        Object.assign(control, { intent, item });
        setAttribute(control, "aria-label", `${words(intent.name)} ${name}`);
      });
  }
}
