internal import Signals

/// A node that a diff names, or an ancestor of one, with its source, current and final positions.
///
/// The current position changes while the moves and deletes are applied in order.
final class TreePlan {
  private unowned let sourceParent: TreePlan?
  private let sourceIndex: Int
  private unowned var finalParent: TreePlan?
  private var finalIndex = 0
  /// Whether it is at its final position.
  private var hasArrived = false
  /// Named children from the source, by source index.
  private var known: [Int: TreePlan] = [:]
  private var leaving: [Int] = []
  private var arriving: [Int: TreePlan] = [:]
  private var inserted: [Int] = []
  /// Created when all leaving and arriving nodes are known.
  private lazy var plan = SiblingPlan(
    leaving: leaving, arriving: Array(arriving.keys), inserted: inserted)

  /// Creates the root.
  init() {
    sourceParent = nil
    sourceIndex = 0
  }

  private init(sourceParent: TreePlan, sourceIndex: Int) {
    self.sourceParent = sourceParent
    self.sourceIndex = sourceIndex
  }

  /// Returns the node at a source path.
  ///
  /// Call this and the next two methods on the root.
  func source(_ path: IndexPath) -> TreePlan {
    path.reduce(self) { $0.source($1) }
  }

  /// Registers that the node at a source path leaves its position, and returns the node.
  func willLeave(_ path: IndexPath) -> TreePlan {
    let node = source(path)
    node.sourceParent?.leaving.append(node.sourceIndex)
    return node
  }

  /// Registers the node at a final path: a moved node, or `nil` for an inserted one.
  ///
  /// Call it after all calls of `willLeave`, shorter paths first.
  func willArrive(_ node: TreePlan?, at path: IndexPath) {
    let parent = path.dropLast().reduce(self) { $0.final($1) }
    let index = path[path.count - 1]
    if let node {
      parent.arriving[index] = node
      node.finalParent = parent
      node.finalIndex = index
    } else {
      parent.inserted.append(index)
    }
  }

  /// The final path.
  var finalPath: IndexPath {
    if let finalParent { return finalParent.finalPath.appending(finalIndex) }
    guard let sourceParent else { return [] }
    return sourceParent.finalPath.appending(sourceParent.plan.finalIndex(ofSource: sourceIndex))
  }

  /// The current path.
  var path: IndexPath {
    if hasArrived, let finalParent {
      return finalParent.path.appending(finalParent.plan.position(ofArriving: finalIndex))
    }
    guard let sourceParent else { return [] }
    return sourceParent.path.appending(sourceParent.plan.position(ofSource: sourceIndex))
  }

  /// Removes the node from its source position.
  func leave() {
    sourceParent?.plan.leave(sourceIndex)
  }

  /// Moves the node to its final position.
  func arrive() {
    finalParent?.plan.arrive(finalIndex)
    hasArrived = true
  }

  /// Releases all nodes.
  ///
  /// Two nodes can retain each other: when a node moves below its former child.
  func dismantle() {
    var rest = [self]
    while let node = rest.popLast() {
      rest += node.known.values
      rest += node.arriving.values
      node.known = [:]
      node.arriving = [:]
    }
  }

  private func source(_ index: Int) -> TreePlan {
    if let node = known[index] { return node }
    let node = TreePlan(sourceParent: self, sourceIndex: index)
    known[index] = node
    return node
  }

  private func final(_ index: Int) -> TreePlan {
    arriving[index] ?? source(plan.sourceIndex(ofFinal: index))
  }
}
