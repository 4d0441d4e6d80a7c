/// The names of sources as a tree, by the segments between slashes.
package struct SourceTree {
  private final class Node {
    var children: [String: Node] = [:]

    /// The value of the source with this name; `nil` if there is no such source.
    var value: String?

    /// The number of sources at this node and below.
    var count = 0
  }

  private let root = Node()

  package init() {}

  package mutating func add(_ source: String, _ value: String) {
    var node = root
    node.count += 1
    for segment in source.split(separator: "/") {
      let child = node.children[String(segment)] ?? Node()
      node.children[String(segment)] = child
      node = child
      node.count += 1
    }
    node.value = value
  }

  /// Returns the lines of the tree.
  ///
  /// - Parameters:
  ///   - depth: The most levels to show; deeper sources are counted.
  ///   - width: The width to which values are cut; `nil` for no limit.
  package func lines(depth: Int, width: Int?, _ style: Style) -> [String] {
    var lines: [String] = []
    add(root, "", "", depth, width, style, to: &lines, isRoot: true)
    return lines
  }

  private func add(
    _ node: Node, _ name: String, _ lead: String, _ depth: Int, _ width: Int?, _ style: Style,
    to lines: inout [String], isRoot: Bool
  ) {
    for (i, child) in node.children.sorted(by: { $0.key < $1.key }).enumerated() {
      let isLast = i == node.children.count - 1
      let branch = isRoot ? "" : isLast ? "└── " : "├── "
      let name = child.key.harmless()
      var line = lead + branch
      line += child.value.children.isEmpty ? name : style.bold(name)
      let used = lead.columns + branch.columns + name.columns
      if let value = child.value.value {
        let room = width.map { max(4, $0 - used - 2) }
        let text = value.harmless()
        line += "  " + style.value(room.map { text.cut(to: $0) } ?? text)
      }
      let isCut = depth <= 1 && !child.value.children.isEmpty
      if isCut {
        let below = child.value.count - (child.value.value == nil ? 0 : 1)
        line += style.dim(below == 1 ? "  (1 source)" : "  (\(below) sources)")
      }
      lines.append(line)
      guard !isCut else { continue }
      let space = isRoot ? "" : isLast ? "    " : "│   "
      add(
        child.value, child.key, lead + space, depth - 1, width, style, to: &lines, isRoot: false)
    }
  }
}
