import Signals
import Testing

@Suite(.leavesNothing)
struct TreeMutatorTests {
  let bag = DisposeBag()

  /// What a tree of 1 (2, 3) and 4 is after a change, and what its observers are told.
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
  func `nodes are moved together`() {
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
  func `a tree is shown in both orders, each node at its path`() {
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
  func `a tree of objects is changed where it is shared`() {
    let tree = TreeArray([TreeNode(1, [TreeNode(2)])]).asObject
    var child = tree[[0]]
    child.append(ObjectTreeNode(3))
    #expect(tree.asTreeArray == TreeArray([TreeNode(1, [TreeNode(2), TreeNode(3)])]))
    #expect(tree.depthFirst.map(\.value) == [1, 2, 3])
  }
}
