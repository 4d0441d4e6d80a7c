/** The steps of lists and maps (section 8 of the protocol). */

/** Returns a list or map after some steps; the value before, undefined if there was none, is not changed. */
export function applied(value, changes) {
  value ??= changes[0]?.key === undefined ? [] : {};
  let result = Array.isArray(value) ? [...value] : { ...value };
  for (const change of changes) result = step(result, change);
  return result;
}

function step(value, { op, at, from, to, key, value: item }) {
  if (op === "reset") return Array.isArray(item) ? [...item] : { ...item };
  if (!Array.isArray(value)) {
    if (op === "put") value[key] = item;
    else if (op === "remove") delete value[key];
    return value;
  }
  switch (op) {
    case "insert": value.splice(at, 0, item); break;
    case "update": value[at] = item; break;
    case "merge": value[at] = { ...value[at], ...item }; break;
    case "remove": value.splice(at, 1); break;
    case "move": value.splice(to, 0, ...value.splice(from, 1)); break;
  }
  return value;
}

/** Returns a list or map with a part that came later; see section 8. */
export function extended(value, { at, value: part }) {
  if (!Array.isArray(value)) return { ...value, ...part };
  return at === undefined ? [...value, ...part] : [...value.slice(0, at), ...part];
}
