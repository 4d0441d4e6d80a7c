/** A plot of numbers over time, by Chart.js. */

import { h } from "./dom.js";
import { colors } from "./theme.js";
import { clock, number } from "./value.js";

let library;

/** Loads Chart.js once; undefined if it is not installed. */
function load() {
  library ??= import("./charts/chart.mjs").then(
    (charts) => {
      charts.Chart.register(charts.LineController, charts.LineElement, charts.PointElement, charts.LinearScale, charts.Filler, charts.Tooltip, charts.Decimation);
      return charts;
    },
    () => undefined,
  );
  return library;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];

/** Returns times that are round on the clock, for some ticks between two times in milliseconds. */
function ticks(from, to, count) {
  const step = 1000 * (steps.find((step) => (to - from) / 1000 / step <= count) ?? steps.at(-1));
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const marks = [];
  for (let time = Math.ceil((from - offset) / step) * step + offset; time <= to; time += step) marks.push({ value: time });
  return { marks, step };
}

function label(time, step) {
  const date = new Date(time);
  const pad = (count) => String(count).padStart(2, "0");
  if (step >= 86_400_000) return `${date.getDate()}.${date.getMonth() + 1}.`;
  const seconds = step < 60_000 ? `:${pad(date.getSeconds())}` : "";
  return `${pad(date.getHours())}:${pad(date.getMinutes())}${seconds}`;
}

/** A vertical line at the moment that the page shows. */
const marker = {
  id: "moment",
  afterDatasetsDraw(chart) {
    const time = chart.options.moment;
    if (time === undefined) return;
    const { ctx: context, chartArea: area, scales } = chart;
    const x = scales.x.getPixelForValue(time);
    if (x < area.left - 1 || x > area.right + 1) return;
    context.save();
    context.strokeStyle = colors.text;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, area.top);
    context.lineTo(x, area.bottom);
    context.stroke();
    context.restore();
  },
};

export class Plot {
  #chart;
  #points = [];
  #range = { from: 0, to: 1 };
  #moment;
  #pick;
  #isClosed = false;

  /** `pick(time)` is called with the time of a click. */
  constructor(pick) {
    this.#pick = pick;
    this.canvas = h("canvas", { role: "img", "aria-label": "Plot" });
    this.element = h(".plot", {}, this.canvas);
    this.#restyle = () => this.#make();
    document.addEventListener("theme", this.#restyle);
    this.#make();
  }

  #restyle;

  close() {
    this.#isClosed = true;
    document.removeEventListener("theme", this.#restyle);
    this.#chart?.destroy();
  }

  /** Shows points `{x, y}` by time; a `y` of null is a gap. `summary` says the same in words. */
  show(points, { from, to, moment, summary }) {
    this.#points = points;
    this.#range = { from, to };
    this.#moment = moment;
    this.canvas.setAttribute("aria-label", summary);
    this.#update();
  }

  #update() {
    const chart = this.#chart;
    if (!chart) return;
    const { from, to } = this.#range;
    const last = this.#points.at(-1);
    // A value holds until now.
    chart.data.datasets[0].data = last && last.x < to ? [...this.#points, { x: to, y: last.y }] : this.#points;
    chart.data.datasets[0].pointRadius = this.#points.length < 60 ? 2.5 : 0;
    Object.assign(chart.options.scales.x, { min: from, max: to });
    // The room below the lowest value does not go below zero.
    const values = this.#points.map(({ y }) => y).filter(Number.isFinite);
    const [lowest, highest] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    chart.options.scales.y.min = lowest >= 0 && lowest < highest - lowest ? 0 : undefined;
    chart.options.moment = this.#moment;
    chart.update("none");
  }

  async #make() {
    const charts = await load();
    if (this.#isClosed) return;
    if (!charts) {
      this.element.replaceChildren(h("p.hint", {}, "The plot needs Chart.js; on Debian: apt install libjs-chart.js"));
      return;
    }
    this.#chart?.destroy();
    const font = { family: "system-ui, sans-serif", size: parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.78 };
    const grid = { color: colors.line, drawTicks: false, borderColor: "transparent" };
    this.#chart = new charts.Chart(this.canvas, {
      type: "line",
      data: { datasets: [{ data: [], stepped: true, borderColor: colors.accent, backgroundColor: `${colors.accent}1c`, fill: "start", borderWidth: 1.75, pointRadius: 0, pointHitRadius: 12, pointBackgroundColor: colors.accent, spanGaps: false }] },
      options: {
        animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false, events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: {
            type: "linear", grid, ticks: { color: colors.dim, font, maxRotation: 0, padding: 8, callback: (value) => label(value, this.#step) },
            afterBuildTicks: (axis) => {
              const { marks, step } = ticks(axis.min, axis.max, Math.max(2, axis.width / (font.size * 7)));
              this.#step = step;
              axis.ticks = marks;
            },
          },
          y: { grid, grace: "8%", ticks: { color: colors.dim, font, padding: 8, maxTicksLimit: 6 } },
        },
        plugins: {
          legend: { display: false },
          decimation: { enabled: true, algorithm: "min-max", threshold: 4000 },
          tooltip: {
            displayColors: false, backgroundColor: colors.text, titleColor: colors.panel, bodyColor: colors.panel, titleFont: { ...font, weight: "normal" }, bodyFont: font,
            callbacks: { title: ([item]) => clock(item.parsed.x, { milliseconds: true }), label: (item) => number(item.parsed.y) },
          },
        },
        onClick: (event, _, chart) => {
          const time = chart.scales.x.getValueForPixel(event.x);
          if (time >= chart.scales.x.min && time <= chart.scales.x.max) this.#pick(time);
        },
      },
      plugins: [marker],
    });
    this.#update();
  }

  #step = 1000;
}
