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

/** The colours of the curves, in their order. */
const curveColors = ["accent", "curve1", "curve2", "curve3", "curve4", "curve5"];

export class Plot {
  #chart;
  #curves = [];
  #shape = ""; // the names and units for which the chart was made
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
  }

  #restyle;

  close() {
    this.#isClosed = true;
    document.removeEventListener("theme", this.#restyle);
    this.#chart?.destroy();
  }

  /**
   * Shows curves `{name, title, unit, points}` of points `{x, y}` by time; a `y` of null is a gap. Each unit has
   * an axis. `summary` says the same in words.
   */
  show(curves, { from, to, moment, summary }) {
    const shape = JSON.stringify(curves.map(({ title, unit }) => [title, unit]));
    const isNew = shape !== this.#shape;
    this.#shape = shape;
    this.#curves = curves;
    this.#range = { from, to };
    this.#moment = moment;
    this.canvas.setAttribute("aria-label", summary);
    if (isNew) this.#make();
    else this.#update();
  }

  #update() {
    const chart = this.#chart;
    // One with other curves is being made.
    if (chart?.data.datasets.length !== this.#curves.length) return;
    const { from, to } = this.#range;
    Object.assign(chart.options.scales.x, { min: from, max: to });
    for (const [i, { points }] of this.#curves.entries()) {
      const last = points.at(-1);
      // A value holds until now.
      chart.data.datasets[i].data = last && last.x < to ? [...points, { x: to, y: last.y }] : points;
      chart.data.datasets[i].pointRadius = points.length < 60 ? 2.5 : 0;
    }
    for (const { unit, id } of this.#axes) {
      // The room below the lowest value does not go below zero.
      const values = this.#curves.filter((curve) => curve.unit === unit).flatMap(({ points }) => points.map(({ y }) => y)).filter(Number.isFinite);
      const [lowest, highest] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
      chart.options.scales[id].min = lowest >= 0 && lowest < highest - lowest ? 0 : undefined;
    }
    chart.options.moment = this.#moment;
    chart.update("none");
  }

  /** The axes of numbers, one for each unit; the first one is on the left. */
  get #axes() {
    const units = [...new Set(this.#curves.map(({ unit }) => unit))];
    return units.length ? units.map((unit, i) => ({ unit, id: i ? `y${i + 1}` : "y" })) : [{ unit: "", id: "y" }];
  }

  #axisOf(unit) {
    return this.#axes.find((axis) => axis.unit === unit).id;
  }

  #dataset({ title, unit }, i) {
    const color = colors[curveColors[i % curveColors.length]];
    const isAlone = this.#curves.length === 1;
    return {
      label: title, yAxisID: this.#axisOf(unit), data: [], stepped: true, borderColor: color, backgroundColor: `${color}1c`, fill: isAlone && "start",
      borderWidth: 1.75, pointRadius: 0, pointHitRadius: 12, pointBackgroundColor: color, spanGaps: false,
    };
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
      data: { datasets: this.#curves.map((curve, i) => this.#dataset(curve, i)) },
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
          ...Object.fromEntries(this.#axes.map(({ id, unit }, i, { length }) => [id, {
            position: i ? "right" : "left", grid: i ? { ...grid, drawOnChartArea: false } : grid, grace: "8%",
            title: { display: length > 1, text: unit, color: colors.dim, font }, ticks: { color: colors.dim, font, padding: 8, maxTicksLimit: 6 },
          }])),
        },
        plugins: {
          legend: { display: false },
          decimation: { enabled: true, algorithm: "min-max", threshold: 4000 },
          tooltip: {
            displayColors: false, backgroundColor: colors.text, titleColor: colors.panel, bodyColor: colors.panel, titleFont: { ...font, weight: "normal" }, bodyFont: font,
            callbacks: { title: ([item]) => clock(item.parsed.x, { milliseconds: true }), label: (item) => `${this.#curves.length > 1 ? `${item.dataset.label}: ` : ""}${number(item.parsed.y)}` },
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
