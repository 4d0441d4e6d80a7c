import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TreeConversionTests {
  @Test
  func `a patch converted to a diff and back gives the same tree`() {
    var random = Random(10)
    for round in 0..<10_000 {
      let script = TreeScript(nodes: 10, length: 3 + round % 9, &random)
      let diff = TreeDiff(from: script.patch)
      var tree = script.source
      tree.apply(diff.generatePatch(to: script.final))
      #expect(
        tree == script.final,
        "round \(round): \(script.source), \(script.patch), \(diff), \(script.final)")
      guard tree == script.final else { return }
    }
  }

  @Test
  func `a diff converted to a patch and back is the same diff`() {
    var random = Random(11)
    for round in 0..<4000 {
      let script = TreeScript(nodes: 10, length: 8, &random)
      let diff = TreeDiff(from: script.patch).sorted
      let again = TreeDiff(from: diff.generatePatch(to: script.final)).sorted
      #expect(again == diff, "round \(round): \(script.source), \(script.patch), \(again) \(diff)")
      guard again == diff else { return }
    }
  }

  @Test
  func `changes inside an inserted subtree are part of the insertion`() {
    let patch: [TreeOperation] = [
      .insert(TreeNode(1, [TreeNode(2)]), at: [1]), .insert(TreeNode(3), at: [1, 0]),
      .update(at: [1, 1], newElement: TreeNode(4)), .delete(at: [1, 0]),
    ]
    #expect(TreeDiff(from: patch) == TreeDiff(inserts: [[1]]))
  }

  @Test
  func `changes inside an updated subtree are part of the update`() {
    let patch: [TreeOperation] = [
      .update(at: [1], newElement: TreeNode(1, [TreeNode(2)])), .insert(TreeNode(3), at: [1, 0]),
      .delete(at: [1, 1]), .update(at: [1, 0], newElement: TreeNode(4)),
    ]
    #expect(TreeDiff(from: patch) == TreeDiff(updates: [[1]]))
  }

  @Test
  func `a move into an inserted or updated subtree is a deletion`() {
    let inserted: [TreeOperation] = [.insert(TreeNode(1), at: [0]), .move(from: [2], to: [0, 0])]
    #expect(TreeDiff(from: inserted) == TreeDiff(inserts: [[0]], deletes: [[1]]))
    let updated: [TreeOperation] = [
      .update(at: [0], newElement: TreeNode(1)), .move(from: [2], to: [0, 0]),
    ]
    #expect(TreeDiff(from: updated) == TreeDiff(deletes: [[2]], updates: [[0]]))
  }

  @Test
  func `a move of an inserted or updated node is an insertion at its final path`() {
    let inserted: [TreeOperation] = [.insert(TreeNode(1), at: [0]), .move(from: [0], to: [1, 2])]
    #expect(TreeDiff(from: inserted) == TreeDiff(inserts: [[1, 2]]))
    let updated: [TreeOperation] = [
      .update(at: [0], newElement: TreeNode(1)), .move(from: [0], to: [2]),
    ]
    #expect(TreeDiff(from: updated) == TreeDiff(inserts: [[2]], deletes: [[0]]))
  }

  @Test
  func `a node that leaves a deleted subtree is moved`() {
    let patch: [TreeOperation] = [.move(from: [0, 1], to: [2]), .delete(at: [0])]
    let diff = TreeDiff(from: patch)
    #expect(diff == TreeDiff(deletes: [[0]], moves: [(from: [0, 1], to: [1])]))
    var tree = TreeArray([TreeNode(0, [TreeNode(1), TreeNode(2)]), TreeNode(3)])
    var final = tree
    final.apply(patch)
    tree.apply(diff.generatePatch(to: final))
    #expect(tree == final)
  }

  @Test
  func `a single move stays one operation`() {
    let final = TreeArray(childrenValues: [1, 2, 0])
    let diff = TreeDiff(moves: [(from: [0], to: [2])])
    #expect(diff.generatePatch(to: final) == [.move(from: [0], to: [2])])
  }
}

extension OrderedCollectionDiff where Index == IndexPath {
  /// The same diff with its paths in a canonical order.
  var sorted: OrderedCollectionDiff {
    OrderedCollectionDiff(
      inserts: inserts.sorted(), deletes: deletes.sorted(), updates: updates.sorted(),
      moves: moves.sorted { $0.from < $1.from })
  }
}
