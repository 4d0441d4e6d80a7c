import Signals
import SignalsDialects
import SignalsTestSupport

typealias TreeOperation = OrderedCollectionOperation<TreeNode<Int>, IndexPath>
typealias TreeDiff = OrderedCollectionDiff<IndexPath>

/// Random operations on a tree, with their result.
struct TreeScript {
  let source: TreeArray<Int>
  private(set) var final: TreeArray<Int>
  private(set) var patch: [TreeOperation] = []
  private var newValue = 1000

  init(nodes: Int, length: Int, _ random: inout Random) {
    var tree = TreeArray<Int>()
    for value in 0..<random.below(nodes) {
      tree.insert(TreeNode(value), at: Self.gap(in: tree, &random))
    }
    source = tree
    final = tree
    for _ in 0..<random.below(length) { take(&random) }
  }

  private mutating func take(_ random: inout Random) {
    let paths = final.depthFirst.indexPaths
    let kind = paths.isEmpty ? 0 : random.below(4)
    newValue += 10
    let path = paths.isEmpty ? [] : paths[random.below(paths.count)]
    let operation: TreeOperation
    switch kind {
    case 0: operation = .insert(node(&random), at: Self.gap(in: final, &random))
    case 1: operation = .delete(at: path)
    case 2: operation = .update(at: path, newElement: node(&random))
    default:
      var left = final
      left.remove(at: path)
      operation = .move(from: path, to: Self.gap(in: left, &random))
    }
    patch.append(operation)
    final.apply(operation)
  }

  private func node(_ random: inout Random) -> TreeNode<Int> {
    TreeNode(newValue, (0..<random.below(3)).map { TreeNode(newValue + 1 + $0) })
  }

  /// The paths at which a node can be inserted.
  static func gap(in tree: TreeArray<Int>, _ random: inout Random) -> IndexPath {
    let parents = [[]] + tree.depthFirst.indexPaths
    let parent = parents[random.below(parents.count)]
    let count = parent.isEmpty ? tree.children.count : tree[parent].children.count
    return parent.appending(random.below(count + 1))
  }
}
