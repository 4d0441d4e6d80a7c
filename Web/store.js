/** The live values of all sources that the client may read, and what the daemon says about them. */

import { applied } from "./changes.js";
import { announce, perFrame } from "./dom.js";
import { valuesAt } from "./history.js";
import { NameTree } from "./names.js";
import { Turn } from "./turns.js";
import { plottable } from "./value.js";

/** The numbers of each source that a sparkline shows. */
const maxSamples = 48;

/** The most values that are taken before the clock is looked at. */
const maxStep = 50;

/** The events from which the sparklines begin. */
const pastEvents = 1000;

/** Errors of a subscription after which the values are read in pages. */
const pagedErrors = new Set(["result_too_large", "epoch_mismatch", "seq_expired", "seq_future"]);

/** The events that change the catalogue. */
const catalogueEvents = ["services.provided", "services.forgotten"];

/** The events that change the types of sources. */
const typeEvents = ["types.declared", "types.removed"];

/** Whether a name has the segments of a pattern. */
function fits(pattern, segments) {
  return (pattern.length === segments.length || (pattern.at(-1) === "**" && segments.length >= pattern.length)) &&
    pattern.every((part, i) => part === "*" || part === "**" || part === segments[i]);
}

/** A source: its present value, and some numbers that it had. */
class Entry {
  samples = [];
  changes = 0;
  changedAt = 0; // of this clock, in milliseconds; 0 for a value that was there already

  constructor(name) {
    this.name = name;
  }

  take(value) {
    this.value = value;
    const sample = plottable(value);
    if (sample === undefined) return;
    this.samples.push(sample);
    if (this.samples.length > maxSamples) this.samples.shift();
  }
}

/**
 * Emits `names` when sources appeared or disappeared, `values` with the changed names before a picture
 * is drawn, and `services` when the catalogue is there or has changed.
 */
export class Store extends EventTarget {
  entries = new Map();
  names = new NameTree(); // of the entries
  services = []; // of the catalogue: name, doc, sources, methods, events
  views = [];
  methods = {}; // of the daemon itself
  types = []; // of sources, as the daemon lists them

  /** Why the values of a service cannot be watched, by service. */
  failures = new Map();

  #link;
  #catalogue; // as text, to see whether it has changed
  #subscriptions = new Map(); // several of a service, by its name
  #changed = new Set();
  #haveNamesChanged = false;
  #tell = perFrame(() => this.#emit());
  #hasPast = false;
  #loading = new Set(); // services of which no value is there yet
  #updates = []; // that are not taken yet
  #isTaking = false;
  #turn = new Turn();

  constructor(link) {
    super();
    this.#link = link;
    const load = () => this.#load().catch((error) => announce(error.message, { kind: "bad" }));
    link.addEventListener("state", () => link.isConnected && load());
    link.subscribe({ source: "events", filter: { types: catalogueEvents } }, (type) => type === "next" && load());
    link.addEventListener("state", () => link.isConnected && this.#loadTypes());
    link.subscribe({ source: "events", filter: { types: typeEvents } }, (type) => type === "next" && this.#loadTypes());
  }

  /** Reads the types of sources; none if the daemon does not show them to this user. */
  async #loadTypes() {
    const { value } = await this.#link.call("types.list").catch(() => ({ value: [] }));
    const rank = (segments) => segments.reduce((sum, segment) => sum + (segment === "**" ? -1 : segment === "*" ? 0 : 4), 0);
    this.types = value.map((type) => ({ ...type, segments: type.pattern.split("/"), isName: !type.pattern.includes("*") }))
      .sort((a, b) => b.isName - a.isName || rank(b.segments) - rank(a.segments));
    this.dispatchEvent(new Event("services"));
  }

  /** Returns the type of a source; undefined if it has none. */
  type(source) {
    const segments = source.split("/");
    return this.types.find((type) => fits(type.segments, segments));
  }

  /** Reads the catalogue, on each connection and after each change, and watches what the journal keeps. */
  async #load() {
    const { services, views, methods } = await this.#link.call("describe");
    const all = await Promise.all(Object.keys(services).map((path) => this.#link.call("describe", { path })));
    const catalogue = JSON.stringify([all, views, methods]);
    if (catalogue === this.#catalogue) return;
    this.#catalogue = catalogue;
    this.services = all.map(({ service, ...rest }) => ({ name: service, ...rest })).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.views = views;
    this.methods = methods;
    for (const service of this.services) {
      service.patterns = Object.entries(service.sources).map(([name, source]) => ({ segments: `${service.name}/${name}`.split("/"), ...source }));
      service.isKept = service.patterns.some(({ journaled }) => journaled);
      if (service.isKept) this.watch(service.name);
    }
    this.dispatchEvent(new Event("services"));
    this.#loadPast();
  }

  /** Watches the values of a service, from now on. */
  watch(name) {
    const service = this.services.find((service) => service.name === name);
    if (!service?.patterns.length || this.#subscriptions.has(name)) return;
    this.#loading.add(name);
    this.#subscriptions.set(name, [this.#subscribe(service, { source: `${name}/**` })]);
  }

  #subscribe(service, params) {
    return this.#link.subscribe(params, (type, update) => {
      const isPaged = type === "reset" || type === "lagged" || (type === "fail" && pagedErrors.has(update.name));
      if (isPaged && service.isKept) this.#watchInPages(service);
      else if (type !== "snapshot" || params.from === undefined) this.#push(service.name, params.source, type, update);
    });
  }

  /** Watches more values than a line has: reads those that the journal keeps in pages, then each change after them. */
  async #watchInPages(service) {
    const { name, patterns } = service;
    const source = `${name}/**`;
    for (const subscription of this.#subscriptions.get(name)) subscription.close();
    try {
      const { last } = await this.#link.call("ping");
      const { epoch } = this.#link.hello;
      const values = {};
      for await (const page of valuesAt(this.#link, source, { seq: last })) Object.assign(values, page.values);
      this.#push(name, source, "snapshot", { values });
      const live = patterns.filter(({ journaled }) => !journaled).map(({ segments }) => ({ source: segments.join("/") }));
      const all = [{ source, mode: "every", from: { after: last }, epoch }, ...live];
      this.#subscriptions.set(name, all.map((params) => this.#subscribe(service, params)));
    } catch (error) {
      this.#push(name, source, "fail", error);
    }
  }

  #push(service, source, type, update) {
    this.#updates.push({ service, source, type, update });
    if (!this.#isTaking) this.#takeAll();
  }

  isWatched(name) {
    return this.#subscriptions.has(name);
  }

  /** Whether the first values of a service are on their way; all services are, before the catalogue is there. */
  isLoading(name) {
    return !this.services.length || this.#loading.has(name);
  }

  /** What the catalogue says about a source: `doc`, `kind`, `writable` and so on. */
  describe(source) {
    const segments = source.split("/");
    const service = this.services.find(({ name }) => name === segments[0]);
    return service?.patterns.find((pattern) => fits(pattern.segments, segments));
  }

  /** Takes the updates in order; what takes long, in several turns. */
  async #takeAll() {
    this.#isTaking = true;
    try {
      for (let update = this.#updates.shift(); update; update = this.#updates.shift()) {
        for (const _ of this.#steps(update)) {
          this.#turn.begin();
          this.#tell();
          if (this.#turn.isOver) await this.#turn.next();
        }
        this.#tell();
      }
    } finally {
      this.#isTaking = false;
    }
  }

  /** Takes an update; yields after a part of many values. */
  *#steps({ service, source, type, update }) {
    if (type === "fail") {
      this.failures.set(service, update);
      this.#haveLoaded(service);
    } else if (type === "snapshot") {
      this.failures.delete(service);
      const values = update.values ?? {};
      const pattern = source.split("/");
      for (const name of this.entries.keys()) {
        if (!(name in values) && fits(pattern, name.split("/"))) this.#remove(name);
      }
      let count = 0;
      for (const [name, value] of Object.entries(values)) {
        this.#set(name, value, 0);
        if ((count += 1) % maxStep === 0) yield;
      }
      this.#haveLoaded(service);
    } else if (type === "next") {
      const name = update.source;
      const value = update.changes ? applied(this.entries.get(name)?.value, update.changes) : "value" in update ? update.value : update;
      // A list or map without elements has no value.
      if (update.gone || (update.changes && !Object.keys(value).length)) this.#remove(name);
      else this.#set(name, value, performance.now());
    }
  }

  #haveLoaded(service) {
    this.#loading.delete(service);
    this.#haveNamesChanged = true;
  }

  #set(name, value, at) {
    let entry = this.entries.get(name);
    if (!entry) {
      entry = new Entry(name);
      this.entries.set(name, entry);
      this.names.add(name);
      this.#haveNamesChanged = true;
    } else if (at === 0 && JSON.stringify(entry.value) === JSON.stringify(value)) {
      return; // the same after a new connection
    }
    entry.take(value);
    if (at) {
      entry.changes += 1;
      entry.changedAt = at;
    }
    this.#changed.add(name);
  }

  #remove(name) {
    if (this.entries.delete(name)) {
      this.names.remove(name);
      this.#haveNamesChanged = true;
    }
    this.#changed.add(name);
  }

  #emit() {
    if (this.#haveNamesChanged) this.dispatchEvent(new Event("names"));
    this.#haveNamesChanged = false;
    const event = new Event("values");
    event.names = this.#changed;
    this.#changed = new Set();
    this.dispatchEvent(event);
  }

  /** Gives the sparklines a beginning, from the last events of all streams in one request. */
  async #loadPast() {
    if (this.#hasPast) return;
    this.#hasPast = true;
    const page = await this.#link.call("history", { source: "events", limit: pastEvents }).catch(() => undefined);
    const samples = new Map();
    for (const { event } of page?.items ?? []) {
      const sample = plottable(event.data?.value);
      if (sample === undefined) continue;
      if (!samples.has(event.stream)) samples.set(event.stream, []);
      samples.get(event.stream).push(sample);
    }
    for (const [name, before] of samples) {
      const entry = this.entries.get(name);
      if (!entry) continue;
      // The last one is the present value, if nothing has happened meanwhile.
      if (before.at(-1) === entry.samples[0]) before.pop();
      entry.samples = [...before, ...entry.samples].slice(-maxSamples);
      this.#changed.add(name);
    }
    this.#tell();
  }
}
