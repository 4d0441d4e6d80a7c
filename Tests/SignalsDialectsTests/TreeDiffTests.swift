import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TreeDiffTests {
  let bag = DisposeBag()

  @Test
  func `the diff of any two trees turns one into the other`() {
    var random = Random(24)
    for _ in 0..<3000 {
      let script = TreeScript(nodes: 12, length: 6, &random)
      let diff = script.source.diff(script.final) { $0.value == $1.value }
      var tree = script.source
      tree.apply(diff.generatePatch(to: script.final))
      #expect(tree == script.final, "\(script.source) \(script.final) \(diff)")
      guard tree == script.final else { return }
    }
  }

  @Test
  func `a tree diff names the different nodes and not their ancestors`() {
    let trees = Signal<TreeArray<Int>, Never>(sequence: [
      TreeArray([TreeNode(1, [TreeNode(2), TreeNode(3)])]),
      TreeArray([TreeNode(1, [TreeNode(3), TreeNode(4)])]),
    ])
    let diffs = trees.diff().map(\.diff).elementsAtOnce()
    #expect(diffs == [TreeDiff(), TreeDiff(inserts: [[0, 1]], deletes: [[0, 0]])])
  }

  @Test
  func `replacing the items of a section sends the differences`() {
    let array = MutableObservableArray2D(
      Array2D<String, Int>(sectionsWithItems: [("a", [1, 2]), ("b", [3])]))
    var diffs: [TreeDiff] = []
    array.dropFirst(1).observeNext { diffs.append($0.diff) }.dispose(in: bag)
    array.replaceItems(ofSectionAt: 0, with: [2, 4], performDiff: true)
    array.replaceItems(ofSectionAt: 0, with: [2, 4], performDiff: true)
    array.replace(
      with: Array2D(sectionsWithItems: [("a", [2]), ("c", [])]), performDiff: true)
    #expect(
      diffs == [
        TreeDiff(inserts: [[0, 1]], deletes: [[0, 0]]),
        TreeDiff(inserts: [[1]], deletes: [[1], [0, 1]]),
      ])
  }
}
