/** Small functions for the document. Texts become text nodes, never HTML. */

/**
 * Returns an element. In `properties`, `class` is the class, a function is a listener, `data` is the
 * dataset, `true` is an attribute without a value, and what is undefined, null or false is left out.
 */
export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className += ` ${value}`;
    else if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Sets the text of an element, if it is another one. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute, if it is another one. */
export function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
}

/** What is shown of something that is on its way. */
export const loading = "Loading …";

/** Says whether an element is on its way, in a line of text and to a screen reader. */
export function setBusy(element, line, isBusy) {
  setAttribute(element, "aria-busy", isBusy ? "true" : undefined);
  setText(line, isBusy ? loading : "");
  line.hidden = !isBusy;
}

/** Returns the line that says so; a screen reader reads it out. */
export function busyLine(isBusy = false) {
  return h("p.hint", { role: "status", hidden: !isBusy }, isBusy ? loading : "");
}

/**
 * Makes the children of an element those of a list, by key: kept ones stay in the document, so that
 * focus, selection and typed text stay too. `create(item)` returns an element, `update(element, item)`
 * changes it.
 */
export function keyed(parent, items, key, create, update) {
  const old = new Map();
  for (const child of [...parent.children]) if (child.key !== undefined) old.set(child.key, child);
  let next = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    let child = old.get(name);
    if (child) {
      old.delete(name);
    } else {
      child = create(item);
      child.key = name;
    }
    update(child, item);
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
  for (const child of old.values()) child.remove();
}

/** Returns an element of SVG. */
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Shapes of icons, drawn in a square of 24. */
const shapes = {
  boards: "M4 4h7v7H4zM13 4h7v4h-7zM13 10h7v10h-7zM4 13h7v7H4z",
  sources: "M5 4v13a3 3 0 0 0 3 3h3M5 8h6M13 5.5h6v5h-6zM13 17.5h6v4h-6z",
  events: "M5 6h14M5 12h14M5 18h9",
  services: "M7 8l-4 4 4 4M17 8l4 4-4 4M14 5l-4 14",
  views: "M3 5h18v11H3zM8 20h8M12 16v4",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  back: "M14 5l-7 7 7 7",
  close: "M6 6l12 12M18 6L6 18",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  left: "M14 5l-7 7 7 7",
  right: "M10 5l7 7-7 7",
  up: "M5 14l7-7 7 7",
  down: "M5 10l7 7 7-7",
  plus: "M12 5v14M5 12h14",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  full: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21",
  remove: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
};

/** Returns an icon; it is decoration, its control has the name. */
export function icon(name) {
  return shape("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, shape("path", { d: shapes[name] }));
}

/** Returns a button with a name, and an icon before it or instead of it. */
export function button(name, onclick, { kind = "", image, isBare = false, ...properties } = {}) {
  const label = isBare ? [] : [h("span", {}, name)];
  const bare = isBare ? { "aria-label": name, title: name } : {};
  return h(`button.button`, { type: "button", class: kind + (isBare ? " bare" : ""), onclick, ...bare, ...properties },
    image ? icon(image) : undefined, ...label);
}

/** Returns names with their values; a value may be text or elements. */
export function facts(pairs, properties = {}) {
  return h("dl.facts", properties, pairs.map(([name, ...value]) => h(".fact", {}, h("dt", {}, name), h("dd", {}, ...value))));
}

let status;

/** Lets a screen reader say something, and shows it for a while. */
export function announce(text, { kind = "" } = {}) {
  status ??= document.getElementById("status");
  const line = h("p.notice", { class: kind }, text);
  status.append(line);
  setTimeout(() => line.remove(), 6000);
}

/** Runs a function once before the next picture, however often it is called. */
export function perFrame(run) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      run();
    });
  };
}

/** Runs a function after a pause without further calls. */
export function later(milliseconds, run) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
}

/** A question with two answers; resolves to whether it was agreed to. */
export function confirm(question, agree) {
  return new Promise((resolve) => {
    const answer = (isAgreed) => () => {
      resolve(isAgreed);
      box.close();
    };
    const box = dialog(question, [
      h("div.actions", {}, button("No", answer(false), { autofocus: true }), button(agree, answer(true), { kind: "danger" })),
    ]);
    box.addEventListener("close", () => resolve(false));
  });
}

/** Opens a dialog; it ends with Escape, its close button, or `close()`. Focus returns to where it was. */
export function dialog(title, children, { kind = "" } = {}) {
  const before = document.activeElement;
  const name = `dialog-${Math.random().toString(36).slice(2)}`;
  const box = h("dialog.dialog", { class: kind, "aria-labelledby": name },
    h("header", {}, h("h2", { id: name }, title), button("Close", () => box.close(), { image: "close", isBare: true })),
    h("div.body", {}, children));
  box.addEventListener("close", () => {
    box.remove();
    if (before?.isConnected) before.focus();
  });
  // A click outside of it. Its own padding is none.
  box.addEventListener("mousedown", (event) => {
    if (event.target === box) box.close();
  });
  document.body.append(box);
  box.showModal();
  return box;
}
