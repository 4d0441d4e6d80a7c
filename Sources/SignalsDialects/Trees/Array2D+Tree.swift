/// Items in sections, as a constraint for extensions of their containers.
public protocol Array2DProtocol: RangeReplaceableTreeProtocol
where Children == [Array2D<SectionMetadata, Item>.Node] {
  associatedtype SectionMetadata
  associatedtype Item

  /// The value as its concrete type.
  var asArray2D: Array2D<SectionMetadata, Item> { get set }
}

extension Array2D: Array2DProtocol {
  /// A section or an item.
  public enum Node {
    case section(Section)
    case item(Item)

    /// The section; `nil` for an item.
    public var section: Section? {
      if case .section(let section) = self { section } else { nil }
    }

    /// The item; `nil` for a section.
    public var item: Item? {
      if case .item(let item) = self { item } else { nil }
    }
  }

  /// The value itself.
  public var asArray2D: Array2D {
    get { self }
    _modify { yield &self }
  }

  /// The sections as nodes; setting it drops any items among the new nodes.
  public var children: [Node] {
    get { sections.map(Node.section) }
    set { sections = newValue.compactMap(\.section) }
  }

  /// The section or the item at a path that is not empty.
  public subscript(childAt indexPath: IndexPath) -> Node {
    get {
      indexPath.count == 1 ? .section(sections[indexPath[0]]) : .item(self[itemAt: indexPath])
    }
    set {
      switch newValue {
      case .section(let section): sections[indexPath.section] = section
      case .item(let item): self[itemAt: indexPath] = item
      }
    }
  }

  /// Replaces a range of sections, or a range of items in one section.
  public mutating func replaceSubrange(
    _ subrange: Range<IndexPath>, with newChildren: some Collection<Node>
  ) {
    let (from, to) = (subrange.lowerBound, subrange.upperBound)
    precondition(from.dropLast() == to.dropLast(), "a range of paths has one parent")
    switch from.count {
    case 1: sections.replaceSubrange(from[0]..<to[0], with: newChildren.compactMap(\.section))
    case 2:
      sections[from[0]].items.replaceSubrange(
        from[1]..<to[1], with: newChildren.compactMap(\.item))
    default: preconditionFailure("an item has no children")
    }
  }
}

extension Array2D.Node: RangeReplaceableTreeProtocol {
  /// The items of a section as nodes; empty for an item.
  public var children: [Array2D.Node] {
    get { section?.items.map(Array2D.Node.item) ?? [] }
    set {
      if case .section(var section) = self {
        section.items = newValue.compactMap(\.item)
        self = .section(section)
      }
    }
  }
}

extension Array2D.Node: Equatable where SectionMetadata: Equatable, Item: Equatable {}
