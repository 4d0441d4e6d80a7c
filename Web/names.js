/** The names of sources as a tree. Names come and go one by one, so that many cost little. */

const none = [];

/** A segment of names: a source, or the beginning of others, or both. */
class Node {
  isSource = false;

  /** The number of sources below it. */
  count = 0;

  // For the rows of a list: the place among the siblings that are shown.
  place = 0;
  siblings = 0;

  // Most nodes have nothing below them.
  #children;
  #inOrder = none;

  constructor(name, parent) {
    this.name = name;
    this.parent = parent;
    this.level = parent ? parent.level + 1 : 0;
    this.path = parent?.level ? `${parent.path}/${name}` : name;
  }

  get hasChildren() {
    return this.#children?.size > 0;
  }

  /** The nodes below it, in the order of their names. */
  get children() {
    this.#inOrder ??= [...this.#children.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#inOrder;
  }

  child(name) {
    return this.#children?.get(name);
  }

  makeChild(name) {
    this.#children ??= new Map();
    let child = this.#children.get(name);
    if (!child) {
      child = new Node(name, this);
      this.#children.set(name, child);
      this.#inOrder = undefined;
    }
    return child;
  }

  removeChild(name) {
    this.#children.delete(name);
    this.#inOrder = undefined;
  }
}

export class NameTree {
  root = new Node("");

  constructor(names = []) {
    for (const name of names) this.add(name);
  }

  add(name) {
    let node = this.root;
    for (const segment of name.split("/")) node = node.makeChild(segment);
    if (node.isSource) return;
    node.isSource = true;
    for (let above = node.parent; above; above = above.parent) above.count += 1;
  }

  remove(name) {
    let node = this.root;
    for (const segment of name.split("/")) {
      node = node.child(segment);
      if (!node) return;
    }
    if (!node.isSource) return;
    node.isSource = false;
    for (let above = node.parent; above; above = above.parent) above.count -= 1;
    // What leads to no source any more goes with it.
    for (; node.parent && !node.isSource && !node.hasChildren; node = node.parent) node.parent.removeChild(node.name);
  }

  /** The node of a first segment; a new one without sources if no name begins with it. */
  service(name) {
    return this.root.child(name) ?? new Node(name, this.root);
  }
}
