import Signals
import SignalsDialects
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TreeMutatorTests {
  let bag = DisposeBag()

  /// Changes a tree of 1 (2, 3) and 4.
  ///
  /// - Returns: The result, and the patches that an observer receives.
  private func told(
    _ change: (MutableObservableTree<TreeArray<Int>>) -> Void
  ) -> (tree: TreeArray<Int>, patches: [[TreeOperation]]) {
    let before = TreeArray([TreeNode(1, [TreeNode(2), TreeNode(3)]), TreeNode(4)])
    let tree = MutableObservableTree(before)
    var patches: [[TreeOperation]] = []
    var copy = before
    tree.dropFirst(1).observeNext { changeset in
      patches.append(changeset.patch)
      copy.apply(changeset.patch)
      #expect(copy == changeset.collection)
    }.dispose(in: bag)
    change(tree)
    #expect(copy == tree.tree)
    return (tree.collection, patches)
  }

  @Test
  func `a node is replaced`() {
    let (tree, patches) = told { $0[childAt: [0, 1]] = TreeNode(9) }
    #expect(tree.debugDescription == "[(1: (2: -), (9: -)), (4: -)]")
    #expect(patches == [[.update(at: [0, 1], newElement: TreeNode(9))]])
  }

  @Test
  func `nodes are appended and inserted`() {
    let (tree, patches) = told {
      $0.append(TreeNode(5))
      $0.insert(TreeNode(6), at: [0, 0])
      $0.insert(contentsOf: [TreeNode(7), TreeNode(8)], at: [1, 0])
      $0.insert(contentsOf: [], at: [0])
    }
    #expect(
      tree.debugDescription
        == "[(1: (6: -), (2: -), (3: -)), (4: (7: -), (8: -)), (5: -)]")
    #expect(patches.map(\.count) == [1, 1, 2])
  }

  @Test
  func `a node is moved`() {
    let (tree, patches) = told {
      $0.move(from: [0, 0], to: [2])
      $0.move(from: [0], to: [0])
    }
    #expect(tree.debugDescription == "[(1: (3: -)), (4: -), (2: -)]")
    #expect(patches == [[.move(from: [0, 0], to: [2])]])
  }

  @Test
  func `several nodes are moved at once`() {
    let (tree, patches) = told { $0.move(from: [[1], [0, 1]], to: [0, 0]) }
    #expect(tree.debugDescription == "[(1: (3: -), (4: -), (2: -))]")
    #expect(patches.count == 1)
  }

  @Test
  func `nodes are removed`() {
    let (tree, patches) = told {
      #expect($0.remove(at: [0, 0]).value == 2)
      $0.removeAll()
      $0.removeAll()
    }
    #expect(tree.children.isEmpty)
    #expect(patches == [[.delete(at: [0, 0])], [.delete(at: [1]), .delete(at: [0])]])
  }

  @Test
  func `a batch is one change`() {
    let (_, patches) = told {
      $0.batchUpdate {
        $0.append(TreeNode(5))
        $0.remove(at: [0])
      }
    }
    #expect(patches == [[.insert(TreeNode(5), at: [2]), .delete(at: [0])]])
  }

  @Test
  func `a tree is traversed in both orders, each node with its path`() {
    let root = TreeNode(0, [TreeNode(1, [TreeNode(2)]), TreeNode(3)])
    #expect(root.depthFirst.map(\.value) == [0, 1, 2, 3])
    #expect(root.depthFirst.indexPaths == [[], [0], [0, 0], [1]])
    #expect(root.breadthFirst.map(\.value) == [0, 1, 3, 2])
    #expect(root.breadthFirst.indexPaths == [[], [0], [1], [0, 0]])
    let array = TreeArray(root.children)
    #expect(array.depthFirst.map(\.value) == [1, 2, 3])
    #expect(array.depthFirst.indexPaths == [[0], [0, 0], [1]])
    #expect(array.breadthFirst.reversed().map(\.value) == [2, 3, 1])
  }

  @Test
  func `a change of a reference-typed tree is visible to all owners`() {
    let tree = TreeArray([TreeNode(1, [TreeNode(2)])]).asObject
    var child = tree[[0]]
    child.append(ObjectTreeNode(3))
    #expect(tree.asTreeArray == TreeArray([TreeNode(1, [TreeNode(2), TreeNode(3)])]))
    #expect(tree.depthFirst.map(\.value) == [1, 2, 3])
  }

  /// A tree that counts the nodes whose children are read.
  private struct CountedTree: TreeProtocol {
    final class Count {
      var visits: Set<Int> = []
    }

    let value: Int
    let depth: Int
    let count: Count

    var children: [CountedTree] {
      count.visits.insert(value)
      guard depth > 0 else { return [] }
      return (1...10).map { CountedTree(value: value * 10 + $0, depth: depth - 1, count: count) }
    }
  }

  @Test
  func `a search that ends early does not visit the rest`() {
    let count = CountedTree.Count()
    let root = CountedTree(value: 0, depth: 4, count: count)
    func visits(_ search: (CountedTree) -> Bool) -> Int {
      count.visits = []
      #expect(search(root))
      return count.visits.count
    }
    // Of 11,111 nodes: the first path down, with the siblings of each node on it.
    #expect(visits { $0.depthFirst.contains { $0.value == 1112 } } < 10)
    #expect(visits { $0.depthFirst.firstIndex { $0.value == 1112 } != nil } < 10)
    #expect(visits { $0.breadthFirst.first { $0.value == 12 } != nil } < 15)
    #expect(visits { $0.breadthFirst.firstIndex { $0.value == 12 } != nil } < 15)
    #expect(visits { $0.depthFirst.count == 11_111 } == 11_111)
    #expect(visits { $0.breadthFirst.last?.depth == 0 } == 11_111)
  }

  @Test
  func `indices and iteration give the same nodes`() {
    let root = TreeNode(0, [TreeNode(1, [TreeNode(2), TreeNode(4)]), TreeNode(3, [TreeNode(5)])])
    for view in [root.depthFirst, root.breadthFirst] {
      #expect(view.indices.map { view[$0].value } == view.map(\.value))
      #expect(view.indices.map(\.indexPath) == view.indexPaths)
      #expect(view.reversed().map(\.value) == view.map(\.value).reversed())
      #expect(view.endIndex.indexPath == [2])
    }
    let empty = TreeArray<Int>([])
    #expect(
      empty.depthFirst.isEmpty && empty.breadthFirst.startIndex == empty.breadthFirst.endIndex)
  }
}
