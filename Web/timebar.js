/** The slider of time: it chooses the moment that the page shows. */

import { button, h, setAttribute, setText } from "./dom.js";
import { firstTime } from "./history.js";
import { clock, duration } from "./value.js";

/** Spans that can be chosen, in milliseconds. */
const spans = [["15 min", 900_000], ["1 hour", 3_600_000], ["1 day", 86_400_000], ["1 week", 604_800_000]];

/** Steps of the slider over its whole length. */
const maxSteps = 2000;

/** Emits `span` when the shown time begins elsewhere. */
export class TimeBar extends EventTarget {
  /** The beginning of the shown time, in milliseconds. */
  from;

  #link;
  #moment;
  #first; // the time of the first event
  #span = Infinity;
  #ends = [];

  constructor(link, moment) {
    super();
    this.#link = link;
    this.#moment = moment;
    this.from = link.now() - 3_600_000;
    this.slider = h("input", {
      type: "range", min: "0", max: String(maxSteps), step: "1", value: String(maxSteps), "aria-label": "Moment shown",
      oninput: () => this.#slide(), onchange: () => this.#slide(),
    });
    this.label = h("output.moment");
    this.back = button("Back to now", () => moment.leave(), { image: "clock", kind: "main" });
    this.span = h("select", { "aria-label": "Time shown", onchange: () => this.#choose() },
      h("option", { value: "Infinity" }, "all"), spans.map(([name, span]) => h("option", { value: String(span) }, name)));
    this.element = h("section.timebar", { "aria-label": "Time" }, this.span, this.slider, this.label, this.back);
    const onchange = () => this.#show();
    moment.addEventListener("change", onchange);
    const timer = setInterval(onchange, 1000);
    this.#ends.push(() => moment.removeEventListener("change", onchange), () => clearInterval(timer));
    this.#begin();
  }

  close() {
    for (const end of this.#ends) end();
  }

  async #begin() {
    this.#first = await firstTime(this.#link).catch(() => undefined);
    // A long past is no good beginning.
    const age = this.#link.now() - (this.#first ?? this.#link.now());
    if (age > 86_400_000) this.span.value = "86400000";
    this.#choose();
  }

  #choose() {
    this.#span = Number(this.span.value);
    const now = this.#link.now();
    const first = this.#first ?? now - 60_000;
    this.from = Math.min(now - 10_000, this.#span === Infinity ? first : Math.max(first, now - this.#span));
    this.dispatchEvent(new Event("span"));
    this.#show();
  }

  #slide() {
    const place = Number(this.slider.value);
    if (place === maxSteps) return this.#moment.leave();
    const time = this.from + ((this.#link.now() - this.from) * place) / maxSteps;
    this.#moment.show({ time });
  }

  #show() {
    const now = this.#link.now();
    const { time, isPast, seq, error, values } = this.#moment;
    if (!isPast) this.slider.value = String(maxSteps);
    else if (time !== undefined && document.activeElement !== this.slider) this.slider.value = String(Math.round(((time - this.from) / (now - this.from)) * maxSteps));
    const text = !isPast ? "now" : error ? error.message : time === undefined ? `position ${seq}` : `${clock(time)}, ${duration(now - time)} ago`;
    const isLoading = isPast && !values && !error;
    setAttribute(this.element, "aria-busy", isLoading ? "true" : undefined);
    setText(this.label, isLoading ? `${text}, loading …` : text);
    this.slider.setAttribute("aria-valuetext", text);
    this.back.hidden = !isPast;
    this.element.classList.toggle("past", isPast);
  }
}
