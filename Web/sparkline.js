/** A small curve of the last numbers of a source. It is decoration: the value stands beside it. */

import { h } from "./dom.js";

/** Returns a canvas of a size in CSS pixels; without a width it is as wide as its place. */
export function sparkline(width, height) {
  const canvas = h("canvas.spark", { "aria-hidden": "true" });
  canvas.style.height = `${height}px`;
  canvas.shape = { width, height };
  if (width) canvas.style.width = `${width}px`;
  else widths.observe(canvas);
  sight.observe(canvas);
  return canvas;
}

/** Changes the height of a curve. */
export function resizeSparkline(canvas, height) {
  if (canvas.shape.height === height) return;
  canvas.shape.height = height;
  canvas.style.height = `${height}px`;
  canvas.width = 0; // it is drawn again
  if (canvas.last) drawSparkline(canvas, ...canvas.last);
}

/** The shortest time between two drawings of a curve, and the time for curves in a picture, in milliseconds. */
const pause = 250;
const budget = 3;

/** Curves that are to be drawn, in order. The values beside them are never late. */
const due = new Set();
let isScheduled = false;

/** Draws as `drawSparkline` does, but only what is seen, and not more often than is of use. */
export function followSparkline(canvas, ...drawing) {
  canvas.last = drawing;
  due.add(canvas);
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
  for (const canvas of due) {
    if (canvas.drawnAt && begin - canvas.drawnAt < pause) continue;
    due.delete(canvas);
    canvas.drawnAt = begin;
    if (canvas.isSeen && canvas.isConnected) drawSparkline(canvas, ...canvas.last);
    if (performance.now() - begin > budget) break;
  }
  schedule();
}

/** Knows which curves are seen; one that comes into sight is drawn. */
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    target.isSeen = isIntersecting;
    if (isIntersecting && target.last) {
      due.add(target);
      schedule();
    }
  }
});

/** Follows the width of curves, so that drawing does not have to measure. */
const widths = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (!contentRect.width || contentRect.width === target.shape.width) continue;
    target.shape.width = contentRect.width;
    if (target.last) drawSparkline(target, ...target.last);
  }
});

/**
 * Draws numbers; equal ones are a line in the middle, and fewer than two nothing. `isStepped` is for
 * values without anything between them.
 */
export function drawSparkline(canvas, samples, color, { isFilled = false, isStepped = false } = {}) {
  const { width, height } = canvas.shape;
  canvas.last = [samples, color, { isFilled, isStepped }];
  if (!width) return;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  if (samples.length < 2) return;
  let [low, high] = [Infinity, -Infinity];
  for (const sample of samples) {
    if (sample < low) low = sample;
    if (sample > high) high = sample;
  }
  const margin = 2.5;
  const step = (width - 2 * margin) / (samples.length - 1);
  const y = (sample) => (high === low ? height / 2 : height - margin - ((sample - low) / (high - low)) * (height - 2 * margin));
  context.beginPath();
  samples.forEach((sample, i) => {
    if (isStepped && i) context.lineTo(margin + i * step, y(samples[i - 1]));
    context.lineTo(margin + i * step, y(sample));
  });
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.stroke();
  if (isFilled) {
    context.lineTo(width - margin, height);
    context.lineTo(margin, height);
    context.globalAlpha = 0.12;
    context.fillStyle = color;
    context.fill();
    context.globalAlpha = 1;
  }
  context.beginPath();
  context.arc(width - margin, y(samples.at(-1)), 2, 0, 7);
  context.fillStyle = color;
  context.fill();
}
