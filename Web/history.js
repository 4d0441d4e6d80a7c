/** The past values of sources. */

import { applied } from "./changes.js";

/** Events of a page, and the most pages that are read at once. */
const pageSize = 1000;
const maxPages = 8;

/**
 * Reads the last events, oldest first. A subscription from `after` on goes on without a gap or a repeat:
 * the `last` of the answer may be later than what was read, that of a request before it is not.
 */
export async function lastEvents(link, params) {
  const [{ last }, page] = await Promise.all([link.call("ping"), link.call("history", { ...params, source: "events" })]);
  return { ...page, after: Math.max(last, page.after) };
}

/**
 * Reads the changes of a source from a time on, oldest first: `{seq, time, version, value}`, where a
 * removed source has no `value`. `isCut` says that there are older ones. `follow(take)` subscribes to those
 * that come after them; none is between.
 */
export async function changesSince(link, source, from) {
  // An event of people/1 changes people/1/name, too.
  const segments = source.split("/");
  const streams = segments.map((_, i) => segments.slice(0, i + 1).join("/")).slice(segments.length > 2 ? -2 : -1);
  const params = { source: "events", filter: { streams } };
  const items = [];
  let before;
  let after;
  let isCut = true;
  for (let page = 0; page < maxPages && isCut; page += 1) {
    const answer = await lastEvents(link, { ...params, limit: pageSize, ...(before && { before }) });
    items.unshift(...answer.items);
    after ??= answer.after;
    before = answer.items[0]?.seq;
    isCut = answer.more && before !== undefined && Date.parse(answer.items[0].event.time) >= from;
  }
  const isPlain = items.every(({ event: { stream, data } }) => stream === source && isPlainData(data));
  const events = new Map(items.map(({ seq, event }) => [seq, event]));
  const values = isPlain ? items.map(({ seq, event }) => ({ seq, value: event.data?.value })) : await everyValue(link, source, items);
  const changes = values.filter(({ seq }) => events.has(seq)).map(({ seq, value }) => change(seq, events.get(seq), value));
  // The value that the first change in the time has replaced.
  const first = changes.findIndex(({ time }) => time >= from);
  const follow = (take) =>
    link.subscribe({ ...params, from: { after }, on_gap: "continue" }, async (type, update) => {
      if (type !== "next") return;
      const { seq, event } = update;
      if (isPlain) return take(change(seq, event, event.data?.value));
      const then = await link.call("history", { source, at: { seq } }).catch(() => undefined);
      if (then) take(change(seq, event, then.value));
    });
  return { changes: first > 0 ? changes.slice(first - 1) : changes, isCut, follow };
}

function change(seq, { time, version }, value) {
  return { seq, time: Date.parse(time), version, value };
}

/** Whether the data of an event is the new value of its source, as in cells. */
function isPlainData(data) {
  return data === null || data === undefined || (typeof data === "object" && !Array.isArray(data) && Object.keys(data).every((key) => key === "value"));
}

/** Returns each value of a source, in the range of some events. */
function everyValue(link, source, items) {
  if (!items.length) return [];
  const first = items[0].seq;
  const last = items.at(-1).seq;
  const values = [];
  return new Promise((resolve) => {
    let value;
    const end = () => {
      subscription.close();
      resolve(values);
    };
    const subscription = link.subscribe({ source, mode: "every", from: { after: first - 1 } }, (type, update) => {
      if (type === "next") {
        if (update.seq > last) return end();
        if (update.changes) value = applied(value, update.changes);
        else value = update.gone ? undefined : update.value;
        values.push({ seq: update.seq, value });
        if (update.seq === last) end();
      } else if (type === "caught_up" || type === "fail") {
        end();
      }
    });
  });
}

/** Reads the values of the sources of a pattern at a moment, in pages `{seq, time?, values}` of one position. */
export async function* valuesAt(link, source, at) {
  for (let behind; ; ) {
    const page = await link.call("history", { source, at, ...(behind && { behind }) });
    yield page;
    if (!page.more) return;
    at = { seq: page.seq };
    behind = Object.keys(page.values).at(-1);
  }
}

/** Returns the time of the first event that the journal holds; undefined if it is empty. */
export async function firstTime(link) {
  const { first } = await link.call("history", { source: "events", limit: 1 });
  const { items } = await link.call("history", { source: "events", after: Math.max(0, first - 1), limit: 1 });
  return items[0] && Date.parse(items[0].event.time);
}
