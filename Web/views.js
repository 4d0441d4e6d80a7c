/** The views: each one that the daemon offers, shown as it describes itself. */

import { address } from "./address.js";
import { announce, busyLine, button, h, keyed, perFrame, setAttribute, setText } from "./dom.js";
import { makeForm, read } from "./form.js";
import { short, words } from "./value.js";
import { ViewPane } from "./view-pane.js";
import { ViewSession } from "./view-model.js";

/** Views within others: they take the place of their parent, or are one of its tabs. */
const inside = new Set(["replace", "tab"]);

export class ViewsPage {
  title = "Views";
  #app;
  #name;
  #session;
  #panes = new Map(); // by their place: the binders from the root on
  #dialogs = [];
  #wish; // what to show when the catalogue is there
  #changed = new Set();
  #redraw = perFrame(() => this.#drawChanges());

  constructor(app) {
    this.#app = app;
    this.list = h("ul.cards");
    this.detail = h(".detail");
    this.element = h(".services.views", {}, h("nav.list", { "aria-label": "Views" }, this.list), this.detail);
    this.relist = () => {
      this.#drawList();
      if (!this.#wish) return;
      this.key = undefined;
      this.show(...this.#wish);
    };
    app.store.addEventListener("services", this.relist);
    this.#drawList();
  }

  close() {
    this.#app.store.removeEventListener("services", this.relist);
    this.#end();
  }

  #end() {
    this.#session?.close();
    this.#session = undefined;
    this.#panes.clear();
    for (const box of this.#dialogs.splice(0)) box.remove();
  }

  #drawList() {
    // Those that need no argument come first.
    const needs = ({ args }) => args.some(({ optional }) => !optional);
    const views = [...this.#app.store.views].sort((a, b) => needs(a) - needs(b));
    this.list.replaceChildren(...views.map(({ name, doc }) =>
      h("li", {}, h("a.card", { href: address("views", name), "aria-current": name === this.#name ? "page" : undefined }, h("strong", {}, words(name)), h("span", {}, doc)))));
  }

  /** Shows a view; `args` is its arguments as JSON, if it has some. */
  show(name, args) {
    const key = JSON.stringify([name, args]);
    this.element.classList.toggle("open", name !== undefined);
    if (key === this.key) return;
    this.key = key;
    this.#wish = undefined;
    this.#name = name;
    this.#end();
    this.#drawList();
    const view = this.#app.store.views.find((view) => view.name === name);
    if (!view) {
      const isLoading = !this.#app.store.views.length;
      setAttribute(this.detail, "aria-busy", isLoading ? "true" : undefined);
      this.detail.replaceChildren(isLoading ? busyLine(true) : name === undefined ? h("p.empty", {}, "Choose a view.") : h("p.fault", { role: "alert" }, `There is no view ${name}.`));
      if (isLoading) this.#wish = [name, args];
      return;
    }
    setAttribute(this.detail, "aria-busy", undefined);
    if (view.args.some(({ optional }) => !optional) && args === undefined) return this.#ask(view);
    let values;
    try {
      values = read(args ?? "{}", "object");
    } catch (error) {
      this.detail.replaceChildren(this.#header(words(view.name)), h("p.fault", { role: "alert" }, `The address of this view takes ${error.message}.`));
      return;
    }
    this.#open(view, values);
  }

  #header(title) {
    return h("header.title", {}, h("a.button.bare.only-narrow", { href: address("views"), "aria-label": "All views" }, "‹"), h("h1", {}, title));
  }

  /** Asks for the arguments of a view. */
  #ask(view) {
    const form = makeForm(view.args, { label: "Open", draft: `open ${view.name}`, submit: async (args) => this.#app.go("views", view.name, JSON.stringify(args)) });
    this.detail.replaceChildren(this.#header(words(view.name)), h("p", {}, view.doc), form);
    form.querySelector("input, textarea, select").focus();
  }

  async #open(view, args) {
    const session = new ViewSession(this.#app.link, view.name, args);
    this.#session = session;
    this.crumbs = h("nav.crumbs", { "aria-label": "Where you are" });
    this.stage = h(".stage");
    this.fault = h("p.fault", { role: "alert", hidden: true });
    this.wait = h("p.hint", { role: "status" }, "Opening …");
    const header = this.#header(words(view.name));
    this.heading = header.querySelector("h1");
    setAttribute(this.stage, "aria-busy", "true");
    this.detail.replaceChildren(this.crumbs, header, this.fault, this.wait, this.stage);
    session.addEventListener("structure", () => session === this.#session && this.#draw());
    session.addEventListener("change", ({ view }) => {
      this.#changed.add(view.handle);
      this.#redraw();
    });
    session.addEventListener("fault", ({ text }) => announce(text, { kind: "bad" }));
    try {
      await session.open();
      if (this.#session === session) this.#frontPane()?.focus();
    } catch (error) {
      setText(this.fault, error.message);
      this.fault.hidden = false;
      setText(this.wait, "");
      setAttribute(this.stage, "aria-busy", undefined);
    }
  }

  // Drawing

  #drawChanges() {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const pane of this.#panes.values()) if (pane.view && changed.has(pane.view.handle)) pane.update();
  }

  #frontPane() {
    return this.#panes.get(place(this.#session.stack.path));
  }

  #draw() {
    const session = this.#session;
    const { stack } = session;
    // While the views come back, the old ones stay where they are.
    setText(this.wait, session.isReturning ? "Coming back …" : "");
    setAttribute(this.stage, "aria-busy", session.isReturning ? "true" : undefined);
    this.stage.classList.toggle("stale", session.isReturning);
    if (stack.shadow && session.isReturning) return;
    if (session.ending !== undefined) {
      setText(this.fault, `This view has ended: ${session.ending}`);
      this.fault.hidden = false;
    } else {
      this.fault.hidden = true;
    }
    const { path } = stack;
    const before = this.front;
    this.front = place(path);
    this.#drawCrumbs(path);
    // Parts of the path: each begins with the root, a pushed view or a dialog.
    const parts = [];
    for (const view of path) {
      if (parts.length && inside.has(view.style)) parts.at(-1).push(view);
      else parts.push([view]);
    }
    const used = new Set();
    const pages = parts.filter(([first]) => first.style !== "present");
    keyed(this.stage, pages.slice(-1), (part) => place(path.slice(0, path.indexOf(part[0]) + 1)), (part) => this.#pane(path, part[0], used).element, (_, part) => this.#fill(path, part, used));
    for (const part of pages) for (const view of part) used.add(place(path.slice(0, path.indexOf(view) + 1)));
    this.#drawDialogs(path, parts.filter(([first]) => first.style === "present"), used);
    for (const [key] of this.#panes) if (!used.has(key)) this.#panes.delete(key);
    if (before !== undefined && before !== this.front && path.length) this.#frontPane()?.focus();
  }

  #pane(path, view, used) {
    const key = place(path.slice(0, path.indexOf(view) + 1));
    used.add(key);
    let pane = this.#panes.get(key);
    if (!pane) {
      const session = this.#session;
      const depth = path.indexOf(view);
      const { binder } = view;
      let handle = view.handle;
      // After a lost connection, the view at the same place.
      const find = () => session.stack.get(handle) ?? ((handle = session.stack.path[depth]?.binder === binder ? session.stack.path[depth].handle : undefined), session.stack.get(handle));
      pane = new ViewPane(session, find, `view ${key}`);
      this.#panes.set(key, pane);
    }
    return pane;
  }

  /** Draws a view with the views inside it: tabs, and the one that takes its place. */
  #fill(path, [view, ...rest], used) {
    const pane = this.#pane(path, view, used);
    pane.update();
    const tabs = this.#session.stack.children(view.handle).filter(({ style }) => style === "tab");
    const inner = pane.inner;
    if (tabs.length) {
      inner.tabs ??= h(".tabs", { role: "tablist", "aria-label": `${words(view.binder)} tabs`, onkeydown: (event) => this.#pressTab(event, inner.tabs) });
      keyed(inner.tabs, tabs, tabKey, (tab) => h("button.tab", { type: "button", role: "tab" }, tab.title ?? words(tab.binder)), (control, tab) => {
        const isFront = rest.includes(tab) || path.includes(tab);
        control.onclick = () => this.#session.turn(tab);
        control.setAttribute("aria-selected", String(isFront));
        control.tabIndex = isFront ? 0 : -1;
      });
    }
    const next = rest[0];
    keyed(inner, [...(tabs.length ? [{ tabs: inner.tabs }] : []), ...(next ? [{ view: next }] : [])], (item) => (item.tabs ? "tabs" : `view ${tabKey(item.view)}`),
      (item) => item.tabs ?? this.#pane(path, item.view, used).element, (_, item) => item.view && this.#fill(path, rest, used));
  }

  #pressTab(event, tabs) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = [...tabs.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.click();
    next.focus();
    event.preventDefault();
  }

  #drawCrumbs(path) {
    const shown = path.filter(({ style }) => !inside.has(style) && style !== "present");
    const before = shown.slice(0, -1);
    if (shown.length) setText(this.heading, title(shown.at(-1)));
    keyed(this.crumbs, before, ({ handle }) => handle,
      (view) => h("span", {}, button(title(view), () => this.#backTo(view), { kind: "quiet" })),
      (crumb, view) => setText(crumb.querySelector("span"), title(view)));
    this.crumbs.hidden = before.length === 0;
  }

  /** Closes the views that were pushed after one. */
  async #backTo(view) {
    const { stack } = this.#session;
    const { path } = stack;
    const next = path.slice(path.indexOf(view) + 1).find(({ style }) => !inside.has(style));
    if (next) await this.#session.closeView(next);
  }

  #drawDialogs(path, parts, used) {
    const keys = parts.map(([first]) => place(path.slice(0, path.indexOf(first) + 1)));
    for (const box of this.#dialogs.filter(({ key }) => !keys.includes(key))) {
      box.isOver = true;
      box.close();
    }
    this.#dialogs = this.#dialogs.filter(({ isOver }) => !isOver);
    parts.forEach((part, i) => {
      const pane = this.#pane(path, part[0], used);
      for (const view of part) used.add(place(path.slice(0, path.indexOf(view) + 1)));
      let box = this.#dialogs.find(({ key }) => key === keys[i]);
      if (!box) {
        box = h("dialog.dialog", { "aria-label": title(part[0]) }, h("header", {}, h("h2", {}, title(part[0])), button("Close", () => box.close(), { image: "close", isBare: true })), h(".body", {}, pane.element));
        box.key = keys[i];
        box.addEventListener("close", () => {
          box.remove();
          // Closed by the user: the daemon does not know yet.
          if (!box.isOver && pane.view) this.#session?.closeView(pane.view).catch(() => {});
          box.isOver = true;
        });
        document.body.append(box);
        box.showModal();
        this.#dialogs.push(box);
      }
      this.#fill(path, part, used);
    });
  }
}

/**
 * The place of a view: the binders from the root to it, with what tells two of one binder apart. It
 * stays the same when the view changes, and after a lost connection.
 */
function place(path) {
  return path.map((view) => (view.place ??= view.style === "push" ? `${view.binder} ${JSON.stringify(view.properties.id?.value ?? view.properties.name?.value ?? "")}` : tabKey(view))).join(" › ");
}

/** What tells two tabs apart, which may be of one binder. */
function tabKey({ binder, title }) {
  return title === undefined ? binder : `${binder} ${title}`;
}

function title({ binder, properties }) {
  const name = properties.name?.value ?? properties.title?.value;
  return typeof name === "string" && name ? short(name) : words(binder);
}
