/** How values and times are written for people. */

/** The most characters of a value in one line. */
const maxShort = 240;

/** Returns a value in one line. */
export function short(value) {
  if (value === undefined) return "–";
  if (typeof value === "string") return cut(value.replace(/\s+/g, " "));
  if (typeof value === "number") return number(value);
  return cut(JSON.stringify(value));
}

function cut(text) {
  return text.length > maxShort ? `${text.slice(0, maxShort)}…` : text;
}

/** Returns a value in one line, a number with the digits and the unit of its source. */
export function measured(value, { digits, unit } = {}) {
  if (typeof value !== "number") return short(value);
  const text = Number.isInteger(digits) && digits >= 0 && digits <= 12 ? value.toFixed(digits) : number(value);
  return unit ? `${text} ${unit}` : text;
}

/** Returns a number without the noise of binary fractions. */
export function number(value) {
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(12)));
}

/** Whether each number of a value is surely as it was written: of a large whole number a browser keeps 15 digits. */
export function isExact(value) {
  if (typeof value === "number") return Number.isSafeInteger(value) || !Number.isInteger(value);
  return value === null || typeof value !== "object" || Object.values(value).every(isExact);
}

/** Returns the class of a value, for its colour. */
export function kindOf(value) {
  if (value === undefined) return "gone";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Returns the number that a plot shows for a value; undefined if there is none. */
export function plottable(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return undefined;
}

/** Returns a value in many lines. */
export function long(value) {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Hints that say something else than the unit of a number. */
const notUnits = new Set(["date", "time", "clock", "yesno", "before", "after", "quiet", "hidden"]);

/** Returns a value as a hint of a view says. */
export function hinted(value, hint) {
  if (hint === "secret") return "••••";
  if (hint === "time" && typeof value === "string" && !Number.isNaN(Date.parse(value))) return new Date(value).toLocaleString();
  if (hint === "time" && Number.isInteger(value)) return new Date(value / 1000).toLocaleString();
  if (typeof value !== "number") return value;
  if (hint === "time" && Number.isSafeInteger(value)) return new Date(value / 1000).toLocaleString();
  if (hint === "bytes") {
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit += 1;
    }
    return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
  }
  if (hint === "seconds") return duration(value * 1000);
  if (hint === "share") return `${(value * 100).toFixed(1)} %`;
  return hint === undefined || notUnits.has(hint) ? value : `${value} ${hint}`;
}

/** Returns a value in words, with its parts: a list by its elements, an object by its members. */
export function inWords(value, hint, hides = [], members = {}) {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((item) => inWords(item, hint, hides, members)).join(", ") || "–";
  if (kindOf(value) === "object") {
    const parts = Object.entries(value).filter(([name]) => !hides.includes(name));
    return parts.map(([name, part]) => `${words(name)} ${inWords(part, members[name] ?? hint)}`).join(" · ") || "–";
  }
  return short(hinted(value, hint));
}

/** Returns a time span with its two largest units. */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts = [[Math.floor(seconds / 86400), "d"], [Math.floor(seconds / 3600) % 24, "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** Returns how long ago a time was, coarsely. */
export function ago(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

const pad = (count, digits = 2) => String(count).padStart(digits, "0");

/** Returns the local time of day, with the date if it is another day. */
export function clock(time, { milliseconds = false } = {}) {
  const date = new Date(time);
  const day = date.toDateString() === new Date().toDateString() ? "" : `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} `;
  return `${day}${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}${milliseconds ? `.${pad(date.getMilliseconds(), 3)}` : ""}`;
}

/** Returns a name in words: `full_name` is "Full name". */
export function words(name) {
  const text = name.replace(/[_.]+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
