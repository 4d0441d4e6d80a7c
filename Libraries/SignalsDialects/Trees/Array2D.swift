public import Signals

/// Items in sections.
///
/// As a tree, the root's children are the sections, and theirs are the items.
public struct Array2D<SectionMetadata, Item>: Instantiatable {
  /// A group of items with metadata.
  public struct Section {
    /// Data about the section as a whole, for example the title.
    public var metadata: SectionMetadata
    /// The items of the section.
    public var items: [Item]

    /// Creates a section from its metadata and its items.
    public init(metadata: SectionMetadata, items: [Item]) {
      self.metadata = metadata
      self.items = items
    }
  }

  /// The sections, in order.
  public var sections: [Section]

  /// Creates a value without sections.
  public init() {
    sections = []
  }

  /// Creates a value from its sections.
  public init(sections: [Section]) {
    self.sections = sections
  }

  /// Creates a value from the metadata and the items of each section.
  public init(sectionsWithItems: [(SectionMetadata, [Item])]) {
    sections = sectionsWithItems.map { Section(metadata: $0.0, items: $0.1) }
  }

  /// The item at a path of section and item.
  public subscript(itemAt indexPath: IndexPath) -> Item {
    get { sections[indexPath.section].items[indexPath.item] }
    set { sections[indexPath.section].items[indexPath.item] = newValue }
  }

  /// The section at an index.
  public subscript(sectionAt index: Int) -> Section {
    get { sections[index] }
    set { sections[index] = newValue }
  }

  /// The number of items in all sections.
  public var numberOfItemsInAllSections: Int { sections.reduce(0) { $0 + $1.items.count } }
}

extension Array2D {
  /// Appends a section.
  public mutating func appendSection(_ section: Section) {
    sections.append(section)
  }

  /// Appends a section without items.
  public mutating func appendSection(_ metadata: SectionMetadata) {
    appendSection(Section(metadata: metadata, items: []))
  }

  /// Appends an item to a section.
  public mutating func appendItem(_ item: Item, toSectionAt sectionIndex: Int) {
    sections[sectionIndex].items.append(item)
  }

  /// Inserts a section.
  public mutating func insert(section: Section, at index: Int) {
    sections.insert(section, at: index)
  }

  /// Inserts a section without items.
  public mutating func insert(section metadata: SectionMetadata, at index: Int) {
    insert(section: Section(metadata: metadata, items: []), at: index)
  }

  /// Inserts an item.
  public mutating func insert(item: Item, at indexPath: IndexPath) {
    sections[indexPath.section].items.insert(item, at: indexPath.item)
  }

  /// Inserts items into one section.
  public mutating func insert(contentsOf items: [Item], at indexPath: IndexPath) {
    sections[indexPath.section].items.insert(contentsOf: items, at: indexPath.item)
  }

  /// Removes a section, then inserts it at `toIndex` in the rest.
  public mutating func moveSection(from fromIndex: Int, to toIndex: Int) {
    sections.move(from: fromIndex, to: toIndex)
  }

  /// Removes an item, then inserts it at `toIndexPath` in the rest.
  public mutating func moveItem(from fromIndexPath: IndexPath, to toIndexPath: IndexPath) {
    insert(item: removeItem(at: fromIndexPath), at: toIndexPath)
  }

  /// Removes and returns a section.
  @discardableResult
  public mutating func removeSection(at index: Int) -> Section {
    sections.remove(at: index)
  }

  /// Removes and returns an item.
  @discardableResult
  public mutating func removeItem(at indexPath: IndexPath) -> Item {
    sections[indexPath.section].items.remove(at: indexPath.item)
  }

  /// Removes all items and keeps the sections.
  public mutating func removeAllItems() {
    for i in sections.indices { sections[i].items.removeAll() }
  }

  /// Removes all items and sections.
  public mutating func removeAllItemsAndSections() {
    sections.removeAll()
  }
}

extension Array2D.Section: Equatable where SectionMetadata: Equatable, Item: Equatable {}
extension Array2D: Equatable where SectionMetadata: Equatable, Item: Equatable {}

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
