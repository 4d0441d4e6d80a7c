/** Views as the daemon sends them: properties, intents, and how they were opened. */

import { applied } from "./changes.js";
import { randomKey } from "./link.js";

/** The longest time to wait for views that come back after a lost connection, in milliseconds. */
const returnTime = 10_000;

/** A view: its properties by name, and its intents. */
/** Whether a value is not null, false, 0 or empty. */
export function saysSomething(value) {
  if (value === null || typeof value !== "object") return !!value;
  return Object.keys(value).length > 0;
}

class View {
  properties = {};

  constructor({ view, binder, parent, style = "", title, props, intents }) {
    Object.assign(this, { handle: view, binder, parent, style, title });
    this.intents = Object.entries(intents).map(([name, { params, opens, main, live, destructive, answers, list, rowless, when, unless, when_row: whenRow, unless_row: unlessRow, fields }]) => ({
      name, opens, isMain: !!main, isLive: !!live, isDestructive: !!destructive, isAnswer: !!answers, list, isRowless: !!rowless, when, unless, whenRow, unlessRow,
      parameters: Object.entries(params).map(([name, type]) => ({ name, type: type.replace(/\?$/, ""), optional: type.endsWith("?"), ...fields?.[name] })),
    }));
    this.change(props);
  }

  /** The intent that writes a property, so that it can be edited where it stands; undefined for none. */
  editing(name) {
    return this.offered.find((intent) => intent.name === name && intent.parameters.length === 1 && intent.parameters[0].name === "value");
  }

  /** The intents that make sense now. */
  get offered() {
    return this.intents.filter(({ when, unless }) => (when === undefined || this.says(when)) && (unless === undefined || !this.says(unless)));
  }

  /** Whether a property has a value that is not null, false, 0 or empty. */
  says(name) {
    return saysSomething(this.properties[name]?.value);
  }

  /** Whether people should see a property now. */
  shows(name) {
    const { hint, state, error } = this.properties[name];
    if (hint === "quiet" || this.properties[name].quiet) return this.says(name) || error !== undefined || state === "loading" || state === "reloading";
    return hint !== "hidden" && hint !== "before" && hint !== "after";
  }

  change(props) {
    for (const [name, change] of Object.entries(props)) {
      const property = (this.properties[name] ??= { kind: "state" });
      if (change.kind !== undefined) property.kind = change.kind;
      if (change.hint !== undefined) property.hint = change.hint;
      if (change.title !== undefined) property.title = change.title;
      if (change.hides !== undefined) property.hides = change.hides;
      if (change.quiet !== undefined) property.quiet = change.quiet;
      if (change.members !== undefined) property.members = change.members;
      if (change.state !== undefined) Object.assign(property, { state: change.state, error: undefined });
      if ("value" in change) property.value = change.value;
      if (change.gone) property.value = undefined;
      if (change.error) property.error = change.error.message;
      if (change.changes) property.value = applied(property.value, change.changes);
    }
  }
}

/** The open views of one connection. */
class Stack {
  views = [];
  front;
  #turned = new Map(); // the tab that the user has chosen, by the handle of its parent

  get(handle) {
    return this.views.find((view) => view.handle === handle);
  }

  children(handle) {
    return this.views.filter(({ parent }) => parent === handle);
  }

  /** The front view and its parents, the root first. */
  get path() {
    const path = [];
    for (let view = this.get(this.front); view; view = this.get(view.parent)) path.unshift(view);
    return path;
  }

  open(answer) {
    const view = new View(answer);
    this.views.push(view);
    // The first of several tabs stays in front.
    const isBehind = view.style === "tab" && this.path.some(({ style, parent }) => style === "tab" && parent === view.parent);
    if (!isBehind) this.front = view.handle;
    return view;
  }

  close(handle) {
    const view = this.get(handle);
    if (!view) return;
    for (const child of this.children(handle)) this.close(child.handle);
    this.views = this.views.filter((other) => other !== view);
    if (this.front !== handle) return;
    // The tab that was shown stays; otherwise the newest view beside it comes to the front.
    const all = view.parent === undefined ? [] : this.children(view.parent);
    const beside = all.find((other) => other.handle === this.#turned.get(view.parent)) ?? all.at(-1);
    this.front = (beside ?? this.get(view.parent) ?? this.views.at(-1))?.handle;
  }

  /** Brings a view to the front, or the newest view within it. */
  turn(handle) {
    const view = this.get(handle);
    if (view?.style === "tab") this.#turned.set(view.parent, handle);
    const child = this.children(handle).at(-1);
    if (child) this.turn(child.handle);
    else this.front = handle;
  }
}

/**
 * A view that the user has opened, with all views within it.
 *
 * It emits `structure` when views open, close or come to the front, and `change` when properties
 * change. After a lost connection it opens the same views again.
 */
export class ViewSession extends EventTarget {
  stack = new Stack();

  /** Why there is no view; undefined while there is one. */
  ending;

  /** Whether the views are being opened again. */
  isReturning = false;

  #link;
  #binder;
  #args;
  #forget;
  #origins = new Map(); // how a view was opened, by handle
  #last = new Map(); // the last intent of a view, by handle
  #replaced = new Map(); // the last intent of a replaced view, by the handle of its parent
  #steps; // the path to the view that a return has not reached yet
  #returned = Promise.resolve();
  #arrive = () => {};
  #generation = 0;

  constructor(link, binder, args) {
    super();
    this.#link = link;
    this.#binder = binder;
    this.#args = args;
    this.#forget = link.addViews(this);
  }

  async open() {
    try {
      await this.#openRoot();
    } catch (error) {
      this.#end(error.message);
      throw error;
    }
  }

  async #openRoot() {
    const { stack } = this;
    await this.#link.call("open", { binder: this.#binder, args: this.#args }, { take: (answer) => stack.open(answer) });
    this.ending = undefined;
    this.#restructure();
  }

  close() {
    this.#forget();
    const root = this.stack.views.find(({ parent }) => parent === undefined);
    if (root) this.#link.call("close", { view: root.handle }).catch(() => {});
    this.stack = new Stack();
  }

  /** Closes a view, as its close button does. */
  async closeView(view) {
    const { closed } = await this.#link.call("close", { view: view.handle });
    for (const handle of closed) this.stack.close(handle);
    this.#restructure();
  }

  turn(view) {
    this.stack.turn(view.handle);
    this.#restructure();
  }

  /**
   * Performs an intent of the view that `find()` returns. It takes effect once, also if the connection is
   * lost meanwhile: then the view is another one, and the key the same.
   */
  async ask(find, name, args = {}) {
    if (this.isReturning) await this.#returned;
    return this.#perform(find, name, args);
  }

  async #perform(find, name, args) {
    let cmd = randomKey();
    for (;;) {
      const view = find();
      if (!view) throw new Error("this view has closed");
      const generation = this.#generation;
      const before = this.#last.get(view.handle);
      this.#last.set(view.handle, { binder: view.binder, name, args });
      try {
        const answer = await this.#link.call("intent", { view: view.handle, name, args }, { cmd });
        const intent = view.intents.find((intent) => intent.name === name);
        if (intent?.opens && answer.opened !== undefined) this.#origins.set(answer.opened, { binder: view.binder, name, args, replaces: false });
        return answer;
      } catch (error) {
        this.#last.set(view.handle, before);
        if (error.data?.path === "/_meta/cmd") {
          cmd = undefined; // the answer of this intent is not stored
        } else if (error.name === "not_found" && error.data.what === "view" && (await this.#hasReturned(generation, view.handle))) {
          continue; // the connection was another one, and so is the view
        } else {
          throw error;
        }
      }
    }
  }

  /** Waits for the views of a new connection; whether there is one since a request was sent. */
  async #hasReturned(generation, handle) {
    // The answer may come before the views are opened again.
    if (generation === this.#generation && this.stack.get(handle)) {
      await Promise.race([
        new Promise((resolve) => this.addEventListener("return", resolve, { once: true })),
        new Promise((resolve) => setTimeout(resolve, returnTime)),
      ]);
    }
    if (generation === this.#generation) return false;
    await this.#returned;
    return true;
  }

  // From the link

  take(method, params) {
    const { stack } = this;
    const isOurs = stack.get(params.view) !== undefined || stack.get(params.parent) !== undefined;
    if (method === "next") {
      const view = stack.get(params.view);
      if (!view) return;
      view.change(params.props);
      const event = new Event("change");
      event.view = view;
      this.dispatchEvent(event);
    } else if (!isOurs) {
      return;
    } else if (method === "opened") {
      this.#opened(params);
      this.#restructure();
    } else if (method === "closed" || method === "fail") {
      const view = stack.get(params.view);
      if (!view) {
        this.#tell(params.error?.message ?? "a view could not be opened");
        return;
      }
      if (params.reason === "replaced" && this.#last.get(view.handle)) this.#replaced.set(view.parent, this.#last.get(view.handle));
      if (params.reason === "changed") {
        // All views of it have ended, and are opened again as after a lost connection.
        if (view.parent === undefined) this.reopen();
        return;
      }
      stack.close(view.handle);
      if (params.error) this.#tell(params.error.message);
      if (!stack.views.length) this.#end(params.error?.message ?? reasons[params.reason] ?? params.reason);
      this.#restructure();
    }
  }

  #opened(params) {
    const view = this.stack.open(params);
    const origin = view.style === "replace" && this.#replaced.get(view.parent);
    if (origin) {
      this.#origins.set(view.handle, { ...origin, replaces: true });
      this.#replaced.delete(view.parent);
    }
    return view;
  }

  #restructure() {
    this.dispatchEvent(new Event("structure"));
  }

  #tell(text) {
    const event = new Event("fault");
    event.text = text;
    this.dispatchEvent(event);
  }

  #end(text) {
    this.ending = text;
    this.#restructure();
  }

  // After a lost connection

  /** Opens the root again, and then each view of the old path in it. */
  async reopen() {
    const generation = (this.#generation += 1);
    if (!this.isReturning) {
      this.isReturning = true;
      this.#steps = this.stack.path.slice(1).map((view) => ({ view, origin: this.#origins.get(view.handle) }));
      this.#returned = new Promise((resolve) => (this.#arrive = resolve));
    }
    this.dispatchEvent(new Event("return"));
    // Until the new views are there, the old ones are shown.
    const { front, shadow } = this.stack;
    this.stack = new Stack();
    this.stack.shadow = shadow || front !== undefined;
    this.#origins = new Map();
    this.#last = new Map();
    // If the connection is lost meanwhile, the next one begins with the same steps.
    const isOver = () => generation !== this.#generation || !this.#link.isConnected;
    try {
      await this.#return(this.#steps, isOver);
    } catch (error) {
      if (!isOver()) this.#tell(`The view did not come back: ${error.message}`);
    }
    if (isOver()) return;
    this.isReturning = false;
    this.stack.shadow = false;
    this.#restructure();
    this.#arrive();
  }

  async #return(steps, isOver) {
    await this.#openRoot();
    const { stack } = this;
    let current = stack.views[0];
    for (const { view, origin } of steps) {
      let child = await this.#child(current, view.binder, origin ? 0 : 500, view.title);
      if (isOver()) return;
      if (!child && origin) {
        const from = origin.replaces ? await this.#child(current, origin.binder, 500) : current;
        if (!from || isOver()) return;
        await this.#perform(() => (isOver() ? undefined : stack.get(from.handle)), origin.name, origin.args);
        child = await this.#child(current, view.binder, returnTime);
        if (child && !isOver()) this.#origins.set(child.handle, origin);
      }
      if (!child || isOver()) return;
      if (view.style === "tab") stack.turn(child.handle);
      current = child;
    }
  }

  /** Waits until a view has a child of a binder, of several tabs the one with a title; undefined if it does not come in time. */
  async #child(parent, binder, milliseconds, label) {
    const find = () => {
      const all = this.stack.children(parent.handle).filter((view) => view.binder === binder);
      return all.find((view) => view.title === label) ?? all[0];
    };
    const end = performance.now() + milliseconds;
    while (!find() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    return find();
  }
}

const reasons = { dismissed: "the view has closed", permission_denied: "you may not see this any more", failed: "the view has failed" };
