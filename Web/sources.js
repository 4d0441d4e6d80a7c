/** The page of all sources: the tree, one source beside it, and the time below. */

import { button, dialog, h, later, loading, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { SourcePane } from "./source.js";
import { TimeBar } from "./timebar.js";
import { Tree } from "./tree.js";

export class SourcesPage {
  title = "Sources";
  #name;
  #pane;

  constructor(app) {
    Object.assign(this, { link: app.link, store: app.store, moment: app.moment, boards: app.boards, dialog });
    this.app = app;
    this.timeBar = new TimeBar(app.link, app.moment);
    this.tree = new Tree(app.store, app.moment, (path) => app.go("sources", ...path.split("/")));
    const find = later(80, () => (this.tree.filter = this.search.value));
    this.search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter sources by name", oninput: find, onkeydown: (event) => event.key === "ArrowDown" && this.tree.element.focus() });
    this.count = h("span.hint", { role: "status" });
    this.tree.element.addEventListener("arranged", () => this.#count());
    this.#count();
    this.detail = h(".detail", {}, this.#nothing());
    this.element = h(".sources", {},
      h("section.list", { "aria-label": "All sources" },
        h(".tools", {}, this.search, this.count, button("New cell", () => this.#create(), { image: "plus", isBare: true })), this.tree.element),
      this.detail, this.timeBar.element);
  }

  /** Shows a source, or none. */
  show(...segments) {
    const name = segments.join("/") || undefined;
    this.element.classList.toggle("open", name !== undefined);
    if (name === this.#name && (this.#pane || !name)) return;
    this.#name = name;
    this.#pane?.close();
    this.#pane = name && new SourcePane({ ...this, show: () => this.app.go("sources") }, name);
    this.detail.replaceChildren(this.#pane?.element ?? this.#nothing());
    this.detail.scrollTop = 0;
    this.tree.selected = name;
  }

  #count() {
    setText(this.count, this.tree.isBusy ? loading : this.search.value ? `${this.tree.count} rows` : "");
  }

  close() {
    this.#pane?.close();
    this.tree.close();
    this.timeBar.close();
  }

  #nothing() {
    return h("p.empty", {}, "Choose a source to see its value and its past.");
  }

  #create() {
    const parameters = [
      { name: "name", type: "string", optional: false, doc: "For example lamp, or kitchen/lamp." },
      { name: "value", type: "any", optional: false, doc: "JSON, or a text." },
    ];
    const past = h("p.hint", { hidden: !this.moment.isPast }, "The page shows the past. This sets a value in the present.");
    const box = dialog("New cell", [past, makeForm(parameters, {
      label: "Create", draft: "new cell",
      submit: async ({ name, value }) => {
        await this.link.command("set", { source: `cells/${name}`, value });
        box.close();
        this.app.go("sources", "cells", ...name.split("/"));
      },
    })]);
  }
}
