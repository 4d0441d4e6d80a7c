/** The page: connects, and shows one of its parts. The address after `#` names it. */

import { address, segmentsOf } from "./address.js";
import { Boards, BoardsPage } from "./boards.js";
import { announce, button, dialog, facts, h, icon, setText } from "./dom.js";
import { EventsPage } from "./events.js";
import { Link, states } from "./link.js";
import { Moment } from "./moment.js";
import { ServicesPage } from "./services.js";
import { SourcesPage } from "./sources.js";
import { Store } from "./store.js";
import { theme } from "./theme.js";
import { clock } from "./value.js";
import { ViewsPage } from "./views.js";

const keyName = "binder.key";

/** What the parts that act on the present say while the page shows the past; the sources say it in their dialogs. */
const presentParts = {
  boards: "The board shows the past. What you change here is changed in the present.",
  services: "The page shows the past, but methods are called in the present.",
  views: "The page shows the past, but views show the present, and act on it.",
};

const pages = { boards: BoardsPage, sources: SourcesPage, events: EventsPage, services: ServicesPage, views: ViewsPage };

/** Takes the key that the first address hands over, out of the address. */
function takeKey() {
  const key = /^#key=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!key) return localStorage.getItem(keyName);
  localStorage.setItem(keyName, key);
  history.replaceState(null, "", "#/");
  return key;
}

class App {
  #page;
  #name;
  #path = [];
  #who = {};
  #wasOffline = false;

  constructor() {
    const socket = new URL("socket", location.href);
    socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket.hash = "";
    this.link = new Link(socket, takeKey());
    this.store = new Store(this.link);
    this.moment = new Moment(this.link);
    this.boards = new Boards(this.link, this.store);
    this.main = document.getElementById("main");
    this.banner = document.getElementById("banner");
    this.present = document.getElementById("present");
    this.#makeNav();
    this.link.addEventListener("state", () => this.#showState());
    this.moment.addEventListener("change", () => this.#showMoment());
    window.addEventListener("hashchange", () => this.#route());
    for (const event of ["online", "offline"]) window.addEventListener(event, () => this.link.retry());
    document.addEventListener("visibilitychange", () => document.hidden || this.link.retry());
    document.addEventListener("keydown", (event) => this.#press(event));
    this.#showState();
    this.#route();
  }

  /** Goes to a part of the page. */
  go(...segments) {
    location.hash = address(...segments);
  }

  #route() {
    const [name, ...rest] = segmentsOf(location.hash);
    const Page = pages[name] ?? SourcesPage;
    // A dialog belongs to the page below it.
    for (const box of document.querySelectorAll("dialog[open]")) box.close();
    if (name && !pages[name]) announce(`There is no page ‘${name}’.`, { kind: "bad" });
    if (!(this.#page instanceof Page)) {
      this.#page?.close();
      this.#page = new Page(this);
      this.main.replaceChildren(this.#page.element);
      this.#name = Object.keys(pages).find((name) => pages[name] === Page);
      for (const link of document.querySelectorAll("nav.main a")) {
        if (link.dataset.page === this.#name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    }
    this.#showMoment();
    this.#page.show(...(pages[name] ? rest : []));
    this.#path = rest.slice(0, 3);
    this.#showTitle();
  }

  /** Two pages of two machines have different titles. */
  #showTitle() {
    const { host } = this.#who;
    document.title = [...this.#path, this.#page.title, host ? `Binder on ${host}` : "Binder"].join(" · ");
  }

  /** Shows who one is, and on which machine. */
  async #askWho() {
    const who = await this.link.call("whoami").catch(() => undefined);
    if (!who) return;
    this.#who = { user: who.user ?? `uid ${who.uid}`, host: who.host };
    const { user, host } = this.#who;
    setText(this.who, host ? `${user} on ${host}` : user);
    this.who.hidden = false;
    if (this.#page) this.#showTitle();
  }

  #makeNav() {
    const entry = (name, i) => h("li", {}, h("a", { href: address(name), data: { page: name }, title: `Alt+${i + 1}` }, icon(name), h("span", {}, name.charAt(0).toUpperCase() + name.slice(1))));
    document.querySelector("nav.main ul").append(...Object.keys(pages).map(entry));
    this.state = button("Connecting", () => this.#about(), { kind: "state" });
    this.back = button("Back to now", () => this.moment.leave(), { image: "clock", kind: "back main" });
    this.back.hidden = true;
    this.who = h("span.who", { hidden: true });
    document.querySelector(".bar").append(this.back, this.who, this.state);
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
  }

  /** Alt and a digit go to a part, `/` to its filter; not below an open dialog. */
  #press(event) {
    if (document.querySelector("dialog[open]")) return;
    const name = event.altKey && !event.ctrlKey && Object.keys(pages)[Number(event.key) - 1];
    if (name) {
      this.go(name);
      document.querySelector(`nav.main a[data-page="${name}"]`)?.focus();
    } else if (event.key === "/" && !event.target.closest("input, textarea, select")) {
      this.main.querySelector('input[type="search"]')?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Says on every part but the sources, which have the slider, that the past is shown, and what acts on the present. */
  #showMoment() {
    const { isPast } = this.moment;
    document.body.classList.toggle("past", isPast);
    this.back.hidden = !isPast || this.#name === "sources";
    const text = isPast ? presentParts[this.#name] : undefined;
    setText(this.present, text ?? "");
    this.present.hidden = !text;
  }

  // The connection

  #showState() {
    const { state, reason, lostAt } = this.link;
    const label = { [states.online]: "Online", [states.connecting]: "Connecting", [states.offline]: "Offline", [states.refused]: "Refused" }[state];
    setText(this.state.lastElementChild, label);
    this.state.dataset.state = state;
    if (state === states.online) this.#askWho();
    document.body.classList.toggle("offline", state === states.offline || state === states.refused);
    if (state === states.offline) {
      this.#wasOffline = true;
      const since = lostAt ? ` since ${clock(lostAt)}` : "";
      this.#tell(`Offline${since}: ${reason || "the connection is lost"}. What you see may be old. Trying again …`, button("Try now", () => this.link.retry(), { kind: "quiet" }));
    } else if (state === states.refused) {
      this.#tell(`Not admitted: ${reason}`, button("Try again", () => location.reload(), { kind: "quiet" }));
    } else {
      this.banner.hidden = true;
      if (this.#wasOffline && state === states.online) announce("Online again. Nothing was missed.", { kind: "good" });
      this.#wasOffline = false;
    }
  }

  #tell(text, control) {
    this.banner.hidden = false;
    if (this.banner.firstElementChild?.textContent === text) return;
    this.banner.replaceChildren(h("p", {}, text), control);
  }

  #about() {
    const { hello, peer, state } = this.link;
    const known = [["Daemon", hello && `${hello.server.name} ${hello.server.version}`], ["Journal", hello && `epoch ${hello.epoch}`], ["You are", peer && `${this.#who.user ?? `uid ${peer.uid}`}, role ${peer.role}`], ["Machine", this.#who.host], ["Connection", state]];
    const choice = h("select", { id: "theme", onchange: () => (theme.wish = choice.value) }, ["auto", "light", "dark"].map((value) => h("option", { value }, value === "auto" ? "as the system" : value)));
    choice.value = theme.wish;
    const keys = [["Alt+1 … Alt+5", "go to a part of the page"], ["/", "go to the filter"], ["arrows", "move in the tree, in tabs and on the slider of time"], ["Enter", "open, send"], ["Esc", "close a dialog"]];
    dialog("About", [
      facts(known.filter(([, value]) => value)),
      h(".field", {}, h("label", { for: "theme" }, "Colours"), choice),
      h("h3", {}, "Keys"), facts(keys.map(([name, value]) => [h("kbd", {}, name), value]), { class: "wide" }),
    ]);
  }
}

window.binder = new App();
