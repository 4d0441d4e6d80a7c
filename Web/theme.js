/** Light or dark, as the system or the user wants it, and the colours for what is drawn on a canvas. */

const key = "binder.theme";
const names = ["accent", "text", "dim", "line", "panel", "flash", "curve1", "curve2", "curve3", "curve4", "curve5"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The present colours by name. */
export const colors = {};

/** Emits `theme` on the document when the colours change. */
function apply() {
  const wish = localStorage.getItem(key) ?? "auto";
  document.documentElement.dataset.theme = wish === "auto" ? (dark.matches ? "dark" : "light") : wish;
  const style = getComputedStyle(document.documentElement);
  for (const name of names) colors[name] = style.getPropertyValue(`--${name}`).trim();
  document.dispatchEvent(new Event("theme"));
}

/** `auto`, `light` or `dark`. */
export const theme = {
  get wish() {
    return localStorage.getItem(key) ?? "auto";
  },
  set wish(wish) {
    localStorage.setItem(key, wish);
    apply();
  },
};

dark.addEventListener("change", apply);
apply();

/** How long a changed value is marked, and how long it must have been still before, in milliseconds. */
const flashTime = 900;
const flashPause = 1500;

/** Marks an element as changed, for a moment; one that changes all the time needs no mark. */
export function flash(element) {
  const now = performance.now();
  const isStill = now - (element.flashed ?? -flashPause) >= flashPause;
  element.flashed = now;
  if (isStill && !calm.matches) element.animate([{ backgroundColor: colors.flash }, { backgroundColor: "transparent" }], flashTime);
}
