/** The tree of all sources with their values, drawn only where it is seen. */

import { h, loading, perFrame, setAttribute, setText } from "./dom.js";
import { NameTree } from "./names.js";
import { drawSparkline, sparkline } from "./sparkline.js";
import { flash } from "./theme.js";
import { ago, kindOf, short } from "./value.js";

/** Rows outside of the visible part that are drawn too. */
const overscan = 8;

/** The shortest time between two new arrangements of the tree, in milliseconds. */
const rebuildPause = 250;

export class Tree {
  #store;
  #moment;
  #open;
  #rows = []; // the nodes that are not folded away, in order
  #drawn = new Map(); // rows in the document, by path
  #filter = "";
  #unfolded;
  #active; // the path of the row that the keys act on
  #selected;
  #height = 32;
  #rebuiltAt = 0;
  #rebuildTimer;
  #typed = { text: "", at: 0 };
  #draw = perFrame(() => this.#drawRows());

  /** `open(path)` shows a source. */
  constructor(store, moment, open) {
    this.#store = store;
    this.#moment = moment;
    this.#open = open;
    this.#unfolded = new Set(JSON.parse(localStorage.getItem("binder.unfolded") ?? '["cells"]'));
    this.space = h(".space", { role: "presentation" });
    this.element = h(".tree", {
      role: "tree", tabindex: "0", "aria-label": "Sources", onscroll: () => this.#draw(), onkeydown: (event) => this.#press(event),
      onclick: (event) => this.#click(event), onfocus: () => this.#focus(),
    }, this.space);
    const on = (target, name, run) => {
      target.addEventListener(name, run);
      this.#ends.push(() => target.removeEventListener(name, run));
    };
    on(store, "names", () => this.#rebuildSoon());
    on(store, "services", () => this.#rebuild());
    on(store, "values", ({ names }) => this.#update(names));
    on(moment, "change", () => this.#rebuild());
    const sizes = new ResizeObserver(() => this.#measure());
    sizes.observe(this.element);
    const ages = setInterval(() => this.#showAges(), 1000);
    this.#ends.push(() => sizes.disconnect(), () => clearInterval(ages), () => clearTimeout(this.#rebuildTimer));
    this.#rebuild();
  }

  #ends = [];

  close() {
    for (const end of this.#ends) end();
  }

  /** Shows only sources whose names contain a text. */
  set filter(text) {
    this.#filter = text.trim().toLowerCase();
    if (this.#filter) for (const { name } of this.#store.services) this.#store.watch(name);
    this.element.scrollTop = 0;
    this.#rebuild();
  }

  /** Marks the source that is shown beside the tree, and unfolds the way to it. */
  set selected(path) {
    this.#selected = path;
    if (path) {
      const segments = path.split("/");
      for (let i = 1; i < segments.length; i += 1) this.#unfold(segments.slice(0, i).join("/"), true);
      this.#active = path;
    }
    this.#rebuild();
    if (path) this.#reveal(path);
  }

  get count() {
    return this.#rows.length;
  }

  /** Whether some of what it shows is on its way. */
  get isBusy() {
    const { services } = this.#store;
    if (this.#moment.isPast) return !this.#moment.values;
    return !services.length || services.some(({ name }) => this.#store.isLoading(name));
  }

  // Arranging

  #rebuildSoon() {
    clearTimeout(this.#rebuildTimer);
    const pause = Math.max(0, rebuildPause - (performance.now() - this.#rebuiltAt));
    this.#rebuildTimer = setTimeout(() => this.#rebuild(), pause);
  }

  #rebuild() {
    clearTimeout(this.#rebuildTimer);
    this.#rebuiltAt = performance.now();
    const names = this.#names();
    const rows = [];
    const add = (nodes) => {
      for (let i = 0; i < nodes.length; i += 1) {
        const node = nodes[i];
        node.place = i + 1;
        node.siblings = nodes.length;
        rows.push(node);
        if (this.#isUnfolded(node)) add(node.children);
      }
    };
    const services = this.#store.services.filter(({ patterns, isKept }) => patterns?.length && (isKept || !this.#moment.isPast));
    add(services.filter((service) => this.#isShown(service, names.service(service.name))).map(({ name }) => names.service(name)));
    this.#rows = rows;
    this.space.style.height = `${rows.length * this.#height}px`;
    setAttribute(this.element, "aria-busy", this.isBusy ? "true" : undefined);
    if (!rows.some(({ path }) => path === this.#active)) this.#active = this.#selected ?? rows[0]?.path;
    this.element.dispatchEvent(new Event("arranged"));
    this.#draw();
  }

  /** The names that are to be seen. */
  #names() {
    if (!this.#moment.values && !this.#filter) return this.#store.names;
    const names = [...(this.#moment.values ?? this.#store.entries).keys()];
    return new NameTree(this.#filter ? names.filter((name) => name.toLowerCase().includes(this.#filter)) : names);
  }

  /**
   * A service without sources is not shown, unless it is not watched yet or has failed. One that is watched
   * because somebody has unfolded it stays until its values are there.
   */
  #isShown({ name, isKept }, { hasChildren }) {
    const store = this.#store;
    return hasChildren || (!this.#filter && (!store.isWatched(name) || (!isKept && store.isLoading(name)) || store.failures.has(name)));
  }

  #isUnfolded(node) {
    return node.hasChildren && (this.#filter !== "" || this.#unfolded.has(node.path));
  }

  #unfold(path, isUnfolded) {
    if (isUnfolded) this.#unfolded.add(path);
    else this.#unfolded.delete(path);
    if (isUnfolded && !path.includes("/")) this.#store.watch(path);
    localStorage.setItem("binder.unfolded", JSON.stringify([...this.#unfolded].slice(-200)));
  }

  #measure() {
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const height = Math.round(size * (matchMedia("(pointer: coarse)").matches ? 2.75 : 2.1));
    if (height !== this.#height) {
      this.#height = height;
      this.space.style.height = `${this.#rows.length * height}px`;
      this.element.style.setProperty("--row", `${height}px`);
    }
    this.#draw();
  }

  // Drawing

  #drawRows() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.#height) - overscan);
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / this.#height) + overscan);
    const seen = new Set();
    for (let i = first; i < last; i += 1) seen.add(this.#rows[i].path);
    for (const [path, row] of this.#drawn) {
      if (seen.has(path)) continue;
      row.element.remove();
      this.#drawn.delete(path);
    }
    // The document has them in order, too, for a screen reader.
    let next = this.space.firstElementChild;
    for (let i = first; i < last; i += 1) {
      const node = this.#rows[i];
      let row = this.#drawn.get(node.path);
      if (!row) {
        row = this.#makeRow(node);
        this.#drawn.set(node.path, row);
      }
      row.node = node;
      this.#place(row, i);
      if (row.element === next) next = next.nextElementSibling;
      else this.space.insertBefore(row.element, next);
    }
    setAttribute(this.element, "aria-activedescendant", this.#drawn.get(this.#active)?.element.id);
  }

  #makeRow(node) {
    const row = {
      twist: h("span.twist", { "aria-hidden": "true" }), name: h("span.name"), value: h("span.value"),
      spark: sparkline(), age: h("span.age"),
    };
    row.element = h(".row", { role: "treeitem", id: `row:${node.path}`, data: { path: node.path } },
      row.twist, row.name, row.spark, row.value, row.age);
    return row;
  }

  #place(row, index) {
    const { node, element } = row;
    element.style.transform = `translateY(${index * this.#height}px)`;
    element.style.setProperty("--level", node.level);
    setAttribute(element, "aria-level", node.level);
    setAttribute(element, "aria-posinset", node.place);
    setAttribute(element, "aria-setsize", node.siblings);
    const isFolder = node.hasChildren || (node.level === 1 && !this.#store.isWatched(node.path));
    setAttribute(element, "aria-expanded", isFolder ? String(this.#isUnfolded(node)) : undefined);
    setAttribute(element, "aria-selected", String(node.path === this.#selected));
    element.classList.toggle("active", node.path === this.#active);
    setText(row.name, node.name);
    this.#show(row);
  }

  #show(row) {
    const { node } = row;
    const past = this.#moment.values;
    const entry = this.#store.entries.get(node.path);
    const failure = node.level === 1 ? this.#store.failures.get(node.path) : undefined;
    if (failure) {
      row.value.className = "value failed";
      setText(row.value, failure.message);
    } else if (!node.isSource) {
      row.value.className = "value folder";
      const count = node.count ? `${node.count} ${node.count === 1 ? "source" : "sources"}` : "";
      setText(row.value, node.level === 1 && this.#store.isLoading(node.path) ? loading : count);
    } else {
      const value = past ? past.get(node.path) : entry?.value;
      row.value.className = `value ${kindOf(value)}`;
      setText(row.value, short(value));
    }
    const isLive = node.isSource && entry && !past;
    row.spark.hidden = !isLive || entry.samples.length < 2;
    if (!row.spark.hidden) drawSparkline(row.spark, entry.samples, typeof entry.value === "boolean");
    this.#showAge(row);
  }

  #showAge({ node, age }) {
    const at = this.#moment.isPast ? 0 : this.#store.entries.get(node.path)?.changedAt;
    setText(age, at ? ago(performance.now() - at) : "");
  }

  #showAges() {
    for (const row of this.#drawn.values()) this.#showAge(row);
  }

  /** Shows changed values, if their rows are seen. */
  #update(names) {
    if (this.#moment.isPast) return;
    for (const [path, row] of this.#drawn) {
      if (!names.has(path) || !row.node.isSource) continue;
      const entry = this.#store.entries.get(path);
      row.value.className = `value ${kindOf(entry?.value)}`;
      setText(row.value, short(entry?.value));
      row.spark.hidden = !entry || entry.samples.length < 2;
      if (!row.spark.hidden) drawSparkline(row.spark, entry.samples, typeof entry.value === "boolean");
      this.#showAge(row);
      if (entry?.changedAt) flash(row.value);
    }
  }

  // Keys and clicks

  #click(event) {
    const path = event.target.closest(".row")?.dataset.path;
    const node = this.#rows.find((node) => node.path === path);
    if (!node) return;
    this.#active = path;
    const isFold = event.target.closest(".twist") || !node.isSource;
    if (isFold) this.#toggle(node);
    else this.#open(path);
    this.#draw();
  }

  #toggle(node, isUnfolded = !this.#isUnfolded(node)) {
    this.#unfold(node.path, isUnfolded);
    this.#rebuild();
  }

  #focus() {
    if (this.#active) this.#reveal(this.#active);
  }

  #press(event) {
    const i = this.#rows.findIndex(({ path }) => path === this.#active);
    const node = this.#rows[i];
    if (!node || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1);
    const go = (to) => this.#activate(this.#rows[Math.min(this.#rows.length - 1, Math.max(0, to))]);
    switch (event.key) {
      case "ArrowDown": go(i + 1); break;
      case "ArrowUp": go(i - 1); break;
      case "PageDown": go(i + page); break;
      case "PageUp": go(i - page); break;
      case "Home": go(0); break;
      case "End": go(this.#rows.length - 1); break;
      case "ArrowRight":
        if (this.#isUnfolded(node)) go(i + 1);
        else this.#toggle(node, true);
        break;
      case "ArrowLeft":
        if (this.#isUnfolded(node) && !this.#filter) this.#toggle(node, false);
        else if (node.level > 1) this.#activate(node.parent);
        break;
      case "Enter":
      case " ":
        if (node.isSource) this.#open(node.path);
        else this.#toggle(node);
        break;
      default:
        if (event.key.length !== 1 || !this.#seek(event.key, i)) return;
    }
    event.preventDefault();
  }

  /** Goes to the next row whose name begins with what was typed. */
  #seek(key, from) {
    const now = performance.now();
    this.#typed = { text: (now - this.#typed.at > 800 ? "" : this.#typed.text) + key.toLowerCase(), at: now };
    const begin = this.#typed.text.length > 1 ? from : from + 1;
    for (let i = 0; i < this.#rows.length; i += 1) {
      const node = this.#rows[(begin + i) % this.#rows.length];
      if (node.name.toLowerCase().startsWith(this.#typed.text)) {
        this.#activate(node);
        return true;
      }
    }
    return false;
  }

  #activate(node) {
    this.#active = node.path;
    this.#reveal(node.path);
  }

  #reveal(path) {
    const i = this.#rows.findIndex((node) => node.path === path);
    if (i < 0) return;
    const { scrollTop, clientHeight } = this.element;
    const top = i * this.#height;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#height > scrollTop + clientHeight) this.element.scrollTop = top + this.#height - clientHeight;
    this.#drawRows();
  }
}
