/// A node that a diff names, or the parent of one: where it was, where it will be, and where it is
/// while the moves and deletions are made, one after another.
final class TreePlan {
  private unowned let sourceParent: TreePlan?
  private let sourceIndex: Int
  private unowned var finalParent: TreePlan?
  private var finalIndex = 0
  /// Whether it is where it will be.
  private var hasArrived = false
  /// The children that were there in the source and are named.
  private var known: [Int: TreePlan] = [:]
  private var leaving: [Int] = []
  private var arriving: [Int: TreePlan] = [:]
  private var inserted: [Int] = []
  /// Made when all that leaves and arrives is known.
  private lazy var plan = SiblingPlan(
    leaving: leaving, arriving: Array(arriving.keys), inserted: inserted)

  /// The root.
  init() {
    sourceParent = nil
    sourceIndex = 0
  }

  private init(sourceParent: TreePlan, sourceIndex: Int) {
    self.sourceParent = sourceParent
    self.sourceIndex = sourceIndex
  }

  /// The node that was at a path; asked of the root, as the next two.
  func source(_ path: IndexPath) -> TreePlan {
    path.reduce(self) { $0.source($1) }
  }

  /// Takes note that the node that was at a path leaves its place.
  func willLeave(_ path: IndexPath) -> TreePlan {
    let node = source(path)
    node.sourceParent?.leaving.append(node.sourceIndex)
    return node
  }

  /// Takes note of what will be at a path: a node that moves there, or `nil` for a new one.
  ///
  /// Shorter paths come first, and all that leaves before.
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

  /// Where it will be.
  var finalPath: IndexPath {
    if let finalParent { return finalParent.finalPath.appending(finalIndex) }
    guard let sourceParent else { return [] }
    return sourceParent.finalPath.appending(sourceParent.plan.finalIndex(ofSource: sourceIndex))
  }

  /// Where it is.
  var path: IndexPath {
    if hasArrived, let finalParent {
      return finalParent.path.appending(finalParent.plan.position(ofArriving: finalIndex))
    }
    guard let sourceParent else { return [] }
    return sourceParent.path.appending(sourceParent.plan.position(ofSource: sourceIndex))
  }

  /// Takes it out of its place.
  func leave() {
    sourceParent?.plan.leave(sourceIndex)
  }

  /// Puts it where it will be.
  func arrive() {
    finalParent?.plan.arrive(finalIndex)
    hasArrived = true
  }

  /// Lets all nodes go, when they are needed no more.
  ///
  /// What has moved below what was its child holds it, and is held by it.
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
