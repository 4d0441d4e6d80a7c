/** The services: what each has, and a form for each method. */

import { address } from "./address.js";
import { busyLine, facts, h, setAttribute, setBusy, setText } from "./dom.js";
import { makeForm } from "./form.js";
import { long, words } from "./value.js";

/** Methods that belong to the page's own connection, or need more than one answer. */
const unsuited = new Set(["hello", "subscribe", "unsubscribe", "ack", "nack", "working", "drain", "open", "close", "intent", "cancel", "sync", "provide", "withdraw", "reply", "act_as", "bind", "unbind"]);

const daemon = "binderd";

export class ServicesPage {
  title = "Services";
  #app;
  #path = [];

  constructor(app) {
    this.#app = app;
    this.list = h("ul.cards");
    this.detail = h(".detail");
    this.element = h(".services", {}, h("nav.list", { "aria-label": "Services" }, this.list), this.detail);
    this.redraw = () => this.show(...this.#path);
    app.store.addEventListener("services", this.redraw);
  }

  close() {
    this.#app.store.removeEventListener("services", this.redraw);
  }

  show(name, method) {
    this.#path = [name, method].filter(Boolean);
    const { services, methods } = this.#app.store;
    this.element.classList.toggle("open", name !== undefined);
    const own = { name: daemon, doc: "Methods of the daemon itself." };
    this.list.replaceChildren(...[...services, own].map(({ name: service, doc }) =>
      h("li", {}, h("a.card", { href: address("services", service), "aria-current": service === name ? "page" : undefined }, h("strong", {}, service), h("span", {}, doc)))));
    const service = services.find((service) => service.name === name);
    setAttribute(this.detail, "aria-busy", services.length ? undefined : "true");
    if (name === daemon) this.#showMethods(daemon, own.doc, Object.entries(methods).filter(([name]) => !unsuited.has(name)).map(([name, doc]) => [name, { doc }]), method);
    else if (service) this.#showService(service, method);
    else if (!services.length) this.detail.replaceChildren(busyLine(true));
    else this.detail.replaceChildren(h("p.empty", {}, name === undefined ? "Choose a service to see its methods." : `There is no service ${name}.`));
  }

  #showService(service, method) {
    const sources = Object.entries(service.sources);
    this.#showMethods(service.name, service.doc, Object.entries(service.methods), method, [
      sources.length ? h("section.panel", { "aria-label": "Sources" }, h("header", {}, h("h2", {}, "Sources")), facts(sources.map(([name, { doc, kind, type, writable }]) =>
        [h("span.mono", {}, `${service.name}/${name}`), doc, h("span.hint", {}, ` ${kind === "state" ? type : kind}${writable ? ", writable" : ""}`)]), { class: "wide" })) : undefined,
      service.events?.length ? h("section.panel", { "aria-label": "Events" }, h("header", {}, h("h2", {}, "Events")), h("p.mono", {}, service.events.join("  "))) : undefined,
    ]);
  }

  async #showMethods(service, doc, methods, chosen, rest = []) {
    const cards = methods.map(([name, { doc }]) => {
      const isOpen = name === chosen;
      const href = isOpen ? address("services", service) : address("services", service, name);
      const body = h(".body");
      if (isOpen) this.#fill(body, service === daemon ? name : `${service}.${name}`);
      return h("li.method", {}, h("a.card", { href, "aria-expanded": String(isOpen) }, h("strong.mono", {}, name), h("span", {}, doc)), isOpen ? body : undefined);
    });
    this.detail.replaceChildren(
      h("header.title", {}, h("a.button.bare.only-narrow", { href: address("services"), "aria-label": "All services" }, "‹"), h("h1", {}, service)),
      h("p", {}, doc), cards.length ? h("section.panel", { "aria-label": "Methods" }, h("header", {}, h("h2", {}, "Methods")), h("ul.methods", {}, cards)) : "", ...rest.filter(Boolean));
    this.detail.querySelector(".method .body input, .method .body textarea, .method .body select, .method .body button")?.focus();
  }

  /** The form of a method, and below it what it returns. */
  async #fill(body, method) {
    const { link } = this.#app;
    const wait = busyLine();
    body.append(wait);
    setBusy(body, wait, true);
    let description;
    try {
      description = await link.call("describe", { path: method });
    } catch (error) {
      body.append(h("p.fault", {}, error.message));
      return;
    } finally {
      setBusy(body, wait, false);
    }
    const { params, result, writes = [], errors = [] } = description;
    const output = h("pre.result", { role: "status", "aria-label": "Result", tabindex: "0", hidden: true });
    const form = makeForm(params, {
      label: `Call ${words(method.split(".").at(-1)).toLowerCase()}`, draft: `method ${method}`,
      submit: async (args) => {
        output.hidden = true;
        const answer = await this.#run(method, args, writes.length > 0);
        setText(output, long(answer));
        output.hidden = false;
      },
    });
    const notes = [result ? `Returns ${result === "any" ? "any value" : /^[aeiou]/.test(result) ? `an ${result}` : `a ${result}`}.` : "", writes.length ? `Records ${writes.join(", ")}.` : "", errors.length ? `May be refused with ${errors.join(", ")}.` : ""];
    body.append(form, h("p.hint", {}, notes.filter(Boolean).join(" ")), output);
    form.querySelector("input, textarea, select, button")?.focus();
  }

  async #run(method, args, isCommand) {
    const { link } = this.#app;
    if (!isCommand) return link.call(method, args);
    try {
      return await link.command(method, args);
    } catch (error) {
      // The answers of some methods are not stored, so they take no key.
      if (error.data?.path === "/_meta/cmd") return link.call(method, args);
      throw error;
    }
  }
}
