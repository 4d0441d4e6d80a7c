/** The part of the address after `#`: the segments that name what the page shows. */

/** Returns the address of a part of the page. */
export function address(...segments) {
  return `#/${segments.map(encodeURIComponent).join("/")}`;
}

/** Reads the segments of an address. One that is not encoded rightly, such as `50%`, is taken as it is. */
export function segmentsOf(hash) {
  return hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}
