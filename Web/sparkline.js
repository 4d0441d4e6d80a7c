/**
 * A small curve of the last numbers of a source. It is decoration: the value stands beside it.
 *
 * It is SVG and not a canvas, because each canvas is a layer of its own that the browser puts together for
 * every picture. A style sheet gives it its size and colours.
 */

import { h, shape } from "./dom.js";

/** Returns the place of a curve. */
export function sparkline({ isFilled = false } = {}) {
  const element = h("span.spark", { "aria-hidden": "true" });
  // Points are no style, as the shape of a path is; so a change is drawn without new styles.
  element.shapes = { area: isFilled && shape("polygon", { class: "area" }), line: shape("polyline", {}), dot: shape("line", { class: "dot", x1: 100, x2: 100 }) };
  // It is stretched to its place; the lines stay as wide as they are.
  element.append(shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, ...Object.values(element.shapes).filter(Boolean)));
  return element;
}

/** The shortest time between two drawings of a curve, and the time for curves in a picture, in milliseconds. */
const pause = 250;
const budget = 3;

/** Curves that are to be drawn, in order. The values beside them are never late. */
const due = new Set();
let isScheduled = false;

/**
 * Draws numbers, but not more often than is of use; equal ones are a line in the middle. `isStepped` is for
 * values without anything between them.
 */
export function drawSparkline(element, samples, isStepped = false) {
  element.last = [samples, isStepped];
  due.add(element);
  schedule();
}

function schedule() {
  if (isScheduled || !due.size) return;
  isScheduled = true;
  requestAnimationFrame(drawDue);
}

function drawDue() {
  isScheduled = false;
  const begin = performance.now();
  for (const element of due) {
    if (element.drawnAt && begin - element.drawnAt < pause) continue;
    due.delete(element);
    element.drawnAt = begin;
    if (element.isConnected) draw(element, ...element.last);
    if (performance.now() - begin > budget) break;
  }
  schedule();
}

function draw({ shapes: { area, line, dot } }, samples, isStepped) {
  let [low, high] = [Infinity, -Infinity];
  for (const sample of samples) {
    if (sample < low) low = sample;
    if (sample > high) high = sample;
  }
  const y = (sample) => (high === low ? 50 : Math.round(1000 - ((sample - low) / (high - low)) * 1000) / 10);
  const step = 100 / (samples.length - 1);
  let last = y(samples[0]);
  let points = `0,${last}`;
  for (let i = 1; i < samples.length; i += 1) {
    const x = Math.round(i * step * 10) / 10;
    if (isStepped) points += ` ${x},${last}`;
    last = y(samples[i]);
    points += ` ${x},${last}`;
  }
  line.setAttribute("points", points);
  if (area) area.setAttribute("points", `${points} 100,100 0,100`);
  dot.setAttribute("y1", last);
  dot.setAttribute("y2", last);
}
