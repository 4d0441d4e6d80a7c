/** Boards: sources that somebody has pinned, side by side. They are kept in the cells `boards/NAME`. */

import { address } from "./address.js";
import { announce, button, confirm, dialog, h, keyed, loading, perFrame, setAttribute, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { drawSparkline, sparkline } from "./sparkline.js";
import { flash } from "./theme.js";
import { ago, kindOf, measured, plottable, short, words } from "./value.js";

const prefix = "cells/boards/";
const sizes = ["small", "wide", "large"];

/** The height of a tile, in its width. */
const tileShape = 0.6;

/** The most attempts to change a board that others change, too. */
const maxAttempts = 5;

/** What boards there are, and changes of them. */
export class Boards {
  #link;
  #store;

  constructor(link, store) {
    this.#link = link;
    this.#store = store;
  }

  get names() {
    return [...this.#store.entries.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)).sort();
  }

  /** Returns a board; one that somebody has written by hand may lack anything. */
  get(name) {
    const value = this.#store.entries.get(prefix + name)?.value;
    if (kindOf(value) !== "object") return undefined;
    const tiles = Array.isArray(value.tiles) ? value.tiles.filter((tile) => typeof tile?.source === "string") : [];
    return { title: typeof value.title === "string" && value.title ? value.title : words(name), tiles };
  }

  /** Changes a board as it is now, also if others change it at the same time. */
  async change(name, change) {
    for (let attempt = 1; ; attempt += 1) {
      const expected = this.#store.entries.get(prefix + name)?.value;
      const value = change(this.get(name) ?? { title: words(name), tiles: [] });
      try {
        return await this.#link.command("cells.compare_and_set", { name: `boards/${name}`, value, expected: expected ?? null });
      } catch (error) {
        if (error.data?.reason !== "value_differs" || attempt === maxAttempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50)); // the newer value is on its way
      }
    }
  }

  remove(name) {
    return this.#link.command("cells.remove", { name: `boards/${name}` });
  }

  /** Asks to which board a source is pinned. */
  pin(source) {
    const { names } = this;
    const submit = async (name) => {
      await this.change(name, (board) => ({ ...board, tiles: [...board.tiles.filter((tile) => tile.source !== source), { source }] }));
      box.close();
      announce(`${source} is on the board ${name}.`);
    };
    const choices = names.map((name) => button(this.get(name)?.title ?? name, () => submit(name).catch((error) => announce(error.message, { kind: "bad" })), { image: "boards" }));
    const box = dialog(`Pin ${source}`, [
      choices.length ? h("div.actions", {}, choices) : h("p", {}, "There is no board yet."),
      this.form("Pin to a new board", submit),
    ]);
  }

  /** A form for the name of a new board. */
  form(label, submit) {
    return makeForm([{ name: "name", type: "string", optional: false, doc: "For example wall, or kitchen." }], {
      label,
      submit: ({ name }) => {
        const short = name.trim().toLowerCase().replace(/[^a-z0-9_.:-]+/g, "-").replace(/^-+|-+$/g, "");
        if (!short) throw new Error("The name needs a letter or a digit.");
        return submit(short);
      },
    });
  }
}

export class BoardsPage {
  title = "Boards";
  #app;
  #name;
  #isEditing = false;
  #tiles = new Map(); // by source
  #draw = perFrame(() => this.#drawAll());

  constructor(app) {
    this.#app = app;
    this.head = h("header.title");
    this.grid = h("ul.board", { "aria-label": "Board" });
    this.element = h(".boards", {}, this.head, this.grid);
    this.onvalues = ({ names }) => this.#update(names);
    this.onchange = () => this.#draw();
    app.store.addEventListener("values", this.onvalues);
    app.store.addEventListener("names", this.onchange);
    for (const target of [app.store, app.moment]) target.addEventListener(target === app.store ? "services" : "change", this.onchange);
    this.timer = setInterval(() => this.#showAges(), 1000);
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(app.main);
  }

  close() {
    const { store, moment } = this.#app;
    store.removeEventListener("values", this.onvalues);
    for (const event of ["names", "services"]) store.removeEventListener(event, this.onchange);
    moment.removeEventListener("change", this.onchange);
    clearInterval(this.timer);
    this.sizes.disconnect();
    document.body.classList.remove("wall");
  }

  show(...segments) {
    const name = segments.length ? segments.join("/") : undefined;
    if (name !== this.#name) this.#isEditing = false;
    this.#name = name;
    this.#tiles.clear();
    this.grid.replaceChildren();
    this.#drawAll();
  }

  // Drawing

  #drawAll() {
    if (this.#name === undefined) return this.#drawIndex();
    const { boards } = this.#app;
    const board = boards.get(this.#name);
    const shape = JSON.stringify([this.#name, board?.title, this.#isEditing]);
    if (shape !== this.shape) this.#drawHead(board);
    this.shape = shape;
    const { store } = this.#app;
    const isLoading = !board && store.isLoading("cells");
    const failure = store.failures.get("cells");
    setAttribute(this.grid, "aria-busy", isLoading ? "true" : undefined);
    if (!board) {
      this.grid.replaceChildren(h("li.empty", {}, h("span", { role: "status" }, isLoading ? loading : failure ? `The boards are not loaded: ${failure.message}` : `There is no board ${this.#name}.`)));
      return;
    }
    for (const { source } of board.tiles) store.watch(source.split("/")[0]);
    if (!board.tiles.length) this.grid.replaceChildren(h("li.empty", {}, "Nothing is pinned here yet. Open a source and choose ‘Pin to a board’."));
    else this.grid.querySelector(".empty")?.remove();
    keyed(this.grid, board.tiles, ({ source }) => source, (tile) => this.#makeTile(tile), (element, tile) => {
      const parts = this.#tiles.get(tile.source);
      parts.size = sizes.includes(tile.size) ? tile.size : "small";
      const type = store.type(tile.source);
      const said = (value, declared) => (typeof value === "string" && value ? value : declared);
      Object.assign(parts, { unit: said(tile.unit, type?.unit), digits: Number.isInteger(tile.digits) ? tile.digits : type?.digits });
      const segments = tile.source.split("/");
      const title = said(tile.title, type?.title);
      setText(parts.title, title ?? segments.at(-1));
      setText(parts.path, title ? "" : segments.slice(0, -1).join("/"));
      element.className = `tile ${parts.size}`;
      element.querySelector(".edit").hidden = parts.describe.hidden = !this.#isEditing;
      this.#showTile(tile.source);
    });
    this.#fit();
    for (const source of this.#tiles.keys()) if (!board.tiles.some((tile) => tile.source === source)) this.#tiles.delete(source);
  }

  /** Makes the tiles as large as the screen allows: a board may hang on a wall. */
  #fit() {
    const { clientWidth: width, clientHeight: height } = this.#app.main;
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (this.#name === undefined || width < 34 * size) {
      this.grid.style.removeProperty("--columns");
      this.grid.style.removeProperty("--scale");
      return;
    }
    let places = 0;
    for (const { size } of this.#tiles.values()) places += { small: 1, wide: 2, large: 4 }[size] ?? 1;
    const most = Math.max(2, Math.floor(width / (13 * size)));
    const enough = Math.ceil(Math.sqrt((places * width * tileShape) / height));
    // Wide tiles leave holes, so that some boards need more columns than their tiles have places.
    for (let columns = Math.min(most, Math.max(2, enough)); ; columns += 1) {
      this.grid.style.setProperty("--columns", columns);
      const scale = Math.min(2.6, Math.max(1, width / columns / (16 * size)));
      this.grid.style.setProperty("--scale", scale.toFixed(2));
      if (columns === most || this.element.scrollHeight <= height) return;
    }
  }

  #drawHead(board) {
    const toggle = (isEditing) => () => {
      this.#isEditing = isEditing;
      this.#drawAll();
      this.head.querySelector(".toggle")?.focus();
    };
    this.head.replaceChildren(
      h("a.button.bare", { href: address("boards"), "aria-label": "All boards" }, "‹"), h("h1", {}, board?.title ?? this.#name),
      ...(board ? [h("div.actions", {},
        this.#isEditing ? button("Rename", () => this.#rename(), { kind: "quiet" }) : undefined,
        this.#isEditing ? button("Remove board", () => this.#remove(), { kind: "quiet danger" }) : undefined,
        button(this.#isEditing ? "Done" : "Arrange", toggle(!this.#isEditing), { image: this.#isEditing ? undefined : "edit", kind: `toggle ${this.#isEditing ? "main" : "quiet"}` }),
        button("Full screen", () => this.#fill(), { image: "full", isBare: true }))] : []));
  }

  #drawIndex() {
    const { boards } = this.#app;
    this.#fit();
    this.shape = undefined;
    this.head.replaceChildren(h("h1", {}, "Boards"), h("div.actions", {}, button("New board", () => this.#create(), { image: "plus" })));
    const { names } = boards;
    this.grid.querySelector(".empty")?.remove();
    keyed(this.grid, names, (name) => `board ${name}`, (name) => h("li.tile.wide", {}, h("a.card", { href: address("boards", ...name.split("/")) }, h("strong"), h("span"))), (item, name) => {
      const [title, text] = item.firstElementChild.children;
      const board = boards.get(name);
      setText(title, board?.title ?? name);
      setText(text, board ? `${board.tiles.length} ${board.tiles.length === 1 ? "source" : "sources"}` : "not a board");
    });
    const { store } = this.#app;
    const isLoading = !names.length && store.isLoading("cells");
    const failure = store.failures.get("cells");
    setAttribute(this.grid, "aria-busy", isLoading ? "true" : undefined);
    if (isLoading) this.grid.append(h("li.empty", {}, h("span", { role: "status" }, loading)));
    else if (failure) this.grid.append(h("li.empty", {}, `The boards are not loaded: ${failure.message}`));
    else if (!names.length) this.grid.append(h("li.empty", {}, "A board shows sources side by side, for example on a wall. Make one here, or pin a source from its page."));
  }

  #makeTile({ source }) {
    const parts = { title: h("strong"), path: h("span.hint"), value: h("output.value", { "aria-live": "off" }), age: h("span.age"), spark: sparkline({ isFilled: true }), list: h("dl.facts") };
    parts.toggle = h("input", { type: "checkbox", role: "switch", "aria-label": `${source} on or off`, onchange: () => this.#set(source, parts.toggle) });
    parts.switch = h("label.switch", {}, parts.toggle);
    this.#tiles.set(source, parts);
    const act = (name, image, change) => button(`${name}: ${source}`, () => this.#change(change), { image, isBare: true });
    const move = (step) => (board) => {
      const tiles = [...board.tiles];
      const i = tiles.findIndex((tile) => tile.source === source);
      const [tile] = tiles.splice(i, 1);
      tiles.splice(Math.max(0, Math.min(tiles.length, i + step)), 0, tile);
      return { ...board, tiles };
    };
    const each = (change) => (board) => ({ ...board, tiles: board.tiles.flatMap((tile) => (tile.source === source ? change(tile) : [tile])) });
    parts.describe = button(`Title and unit: ${source}`, () => this.#describe(source, each), { image: "edit", isBare: true });
    return h("li.tile", { "aria-label": source },
      h("header", {}, h("a", { href: address("sources", ...source.split("/")), title: source }, parts.title, parts.path), parts.describe, parts.age),
      h(".content", {}, parts.value, parts.switch, parts.list), parts.spark,
      h(".edit.actions", { hidden: true }, act("Move back", "left", move(-1)), act("Move on", "right", move(1)),
        act("Other size", "full", each((tile) => [{ ...tile, size: sizes[(sizes.indexOf(tile.size ?? "small") + 1) % sizes.length] }])), act("Take off", "close", each(() => []))));
  }

  /** Asks for the title, the unit and the digits of a tile; what is left empty comes from the type of the source. */
  #describe(source, each) {
    const { boards, store } = this.#app;
    const tile = boards.get(this.#name)?.tiles.find((tile) => tile.source === source) ?? {};
    const type = store.type(source);
    const parameter = (name, kind, declared) => ({ name, type: kind, optional: true, doc: declared === undefined ? undefined : `Left out: ${declared}.` });
    const box = dialog(`Title and unit of ${source}`, makeForm([parameter("title", "string", type?.title), parameter("unit", "string", type?.unit), parameter("digits", "integer", type?.digits)], {
      label: "Change", initial: { title: tile.title, unit: tile.unit, digits: tile.digits },
      submit: async ({ title, unit, digits }) => {
        if (digits !== undefined && !(digits >= 0 && digits <= 12)) throw new Error("Digits are 0 to 12.");
        await boards.change(this.#name, each((tile) => [{ ...tile, title: title || undefined, unit: unit || undefined, digits }]));
        box.close();
      },
    }));
  }

  #showTile(source) {
    const parts = this.#tiles.get(source);
    if (!parts) return;
    const { store, moment } = this.#app;
    const entry = store.entries.get(source);
    const value = moment.isPast ? moment.values?.get(source) : entry?.value;
    const kind = kindOf(value);
    const isLoading = moment.isPast ? !moment.values : value === undefined && store.isLoading(source.split("/")[0]);
    const isFlat = kind === "object" && Object.values(value).every((part) => kindOf(part) !== "object" && kindOf(part) !== "array");
    if (isFlat) keyed(parts.list, Object.entries(value).slice(0, 8), ([name]) => name, ([name]) => h(".fact", {}, h("dt", {}, words(name)), h("dd")), (row, [, part]) => setText(row.lastElementChild, short(part)));
    else if (isLoading) setText(parts.value, loading);
    else setText(parts.value, kind === "array" ? `${value.length} elements` : measured(value, parts));
    const isLong = parts.value.textContent.length > 10;
    const isSwitch = kind === "boolean" && !moment.isPast && store.describe(source)?.writable;
    const isCurve = !moment.isPast && plottable(value) !== undefined && entry?.samples.length > 1;
    // Most changes are of the text only, so that no style is to be computed.
    const shape = `${kind} ${isLoading} ${isFlat} ${isLong} ${isSwitch} ${isCurve}`;
    if (shape !== parts.shape) {
      parts.value.className = `value ${kind} ${isLong ? "long" : ""}`;
      setAttribute(parts.value, "aria-busy", isLoading ? "true" : undefined);
      parts.value.hidden = isFlat;
      parts.list.hidden = !isFlat;
      parts.switch.hidden = !isSwitch;
      parts.spark.hidden = !isCurve;
    }
    parts.shape = shape;
    parts.toggle.checked = value === true;
    if (isCurve) drawSparkline(parts.spark, entry.samples, typeof entry.value === "boolean");
    this.#showAge(source, parts);
  }

  #update(names) {
    if (this.#name === undefined) {
      if ([...names].some((name) => name.startsWith(prefix))) this.#draw();
      return;
    }
    if (names.has(prefix + this.#name)) this.#draw();
    if (this.#app.moment.isPast) return;
    for (const [source, parts] of this.#tiles) {
      if (!names.has(source)) continue;
      this.#showTile(source);
      if (this.#app.store.entries.get(source)?.changedAt) flash(parts.value);
    }
  }

  #showAge(source, { age }) {
    const at = this.#app.moment.isPast ? 0 : this.#app.store.entries.get(source)?.changedAt;
    setText(age, at ? ago(performance.now() - at) : "");
  }

  #showAges() {
    for (const [source, parts] of this.#tiles) this.#showAge(source, parts);
  }

  // Changing

  async #try(action) {
    try {
      return await action();
    } catch (error) {
      announce(error.message, { kind: "bad" });
      return undefined;
    }
  }

  #change(change) {
    return this.#try(() => this.#app.boards.change(this.#name, change));
  }

  #create() {
    const box = dialog("New board", this.#app.boards.form("Create", async (name) => {
      await this.#app.boards.change(name, (board) => board);
      box.close();
      this.#app.go("boards", name);
    }));
  }

  #rename() {
    const parameter = { name: "title", type: "string", optional: false };
    const box = dialog("Rename the board", makeForm([parameter], {
      label: "Rename", initial: { title: this.#app.boards.get(this.#name)?.title },
      submit: async ({ title }) => {
        await this.#app.boards.change(this.#name, (board) => ({ ...board, title }));
        box.close();
      },
    }));
  }

  async #remove() {
    if (!(await confirm(`Remove the board ${this.#name}? The sources stay.`, "Remove"))) return;
    await this.#try(() => this.#app.boards.remove(this.#name));
    this.#app.go("boards");
  }

  async #set(source, toggle) {
    const done = await this.#try(() => this.#app.link.command("set", { source, value: toggle.checked }));
    if (!done) toggle.checked = this.#app.store.entries.get(source)?.value === true;
  }

  /** Shows the board alone, as large as the screen. */
  async #fill() {
    const isWall = document.body.classList.toggle("wall");
    if (isWall) await document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) await document.exitFullscreen();
    const end = () => {
      if (document.fullscreenElement) return;
      document.body.classList.remove("wall");
      document.removeEventListener("fullscreenchange", end);
    };
    document.addEventListener("fullscreenchange", end);
  }
}
