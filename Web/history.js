/** The past values of one source. */

import { applied } from "./changes.js";

/** Events of a page, and the most pages that are read at once. */
const pageSize = 1000;
const maxPages = 8;

/**
 * Reads the changes of a source from a time on, oldest first: `{seq, time, version, type, value}`, where
 * a removed source has no `value`. `isCut` says that there are older ones.
 */
export async function changesSince(link, source, from) {
  // An event of people/1 changes people/1/name, too.
  const segments = source.split("/");
  const streams = segments.map((_, i) => segments.slice(0, i + 1).join("/")).slice(segments.length > 2 ? -2 : -1);
  const items = [];
  let before;
  let isCut = true;
  for (let page = 0; page < maxPages && isCut; page += 1) {
    const answer = await link.call("history", { source: "events", filter: { streams }, limit: pageSize, ...(before && { before }) });
    items.unshift(...answer.items);
    before = answer.items[0]?.seq;
    isCut = answer.more && before !== undefined && Date.parse(answer.items[0].event.time) >= from;
  }
  const times = new Map(items.map(({ seq, event }) => [seq, event]));
  const isPlain = items.every(({ event: { stream, data } }) => stream === source && isPlainData(data));
  const values = isPlain ? items.map(({ seq, event }) => ({ seq, value: event.data?.value })) : await everyValue(link, source, items);
  const changes = values.filter(({ seq }) => times.has(seq)).map(({ seq, value }) => {
    const { time, version, type } = times.get(seq);
    return { seq, time: Date.parse(time), version, type, value };
  });
  // The value that the first change in the time has replaced.
  const first = changes.findIndex(({ time }) => time >= from);
  return { changes: first > 0 ? changes.slice(first - 1) : changes, isCut };
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
        if (update.changes) value = applied(value ?? (update.changes[0]?.key === undefined ? [] : {}), update.changes);
        else value = update.gone ? undefined : update.value;
        values.push({ seq: update.seq, value });
        if (update.seq === last) end();
      } else if (type === "caught_up" || type === "fail") {
        end();
      }
    });
  });
}

/** Returns the time of the first event that the journal holds; undefined if it is empty. */
export async function firstTime(link) {
  const { first } = link.hello;
  const { items } = await link.call("history", { source: "events", after: Math.max(0, first - 1), limit: 1 });
  return items[0] && Date.parse(items[0].event.time);
}
