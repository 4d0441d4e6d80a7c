/// Items in sections; as a tree, its children are the sections and theirs the items.
package struct Array2D<SectionMetadata, Item>: Instantiatable {
  /// Items that belong together, and what is known of them as a whole.
  package struct Section {
    /// For example the title.
    package var metadata: SectionMetadata
    package var items: [Item]

    package init(metadata: SectionMetadata, items: [Item]) {
      self.metadata = metadata
      self.items = items
    }
  }

  package var sections: [Section]

  package init() {
    sections = []
  }

  package init(sections: [Section]) {
    self.sections = sections
  }

  package init(sectionsWithItems: [(SectionMetadata, [Item])]) {
    sections = sectionsWithItems.map { Section(metadata: $0.0, items: $0.1) }
  }

  /// The item at a path of two.
  package subscript(itemAt indexPath: IndexPath) -> Item {
    get { sections[indexPath.section].items[indexPath.item] }
    set { sections[indexPath.section].items[indexPath.item] = newValue }
  }

  /// The section at an index.
  package subscript(sectionAt index: Int) -> Section {
    get { sections[index] }
    set { sections[index] = newValue }
  }

  /// How many items are in all sections.
  package var numberOfItemsInAllSections: Int { sections.reduce(0) { $0 + $1.items.count } }
}

extension Array2D {
  /// Adds a section at the end.
  package mutating func appendSection(_ section: Section) {
    sections.append(section)
  }

  /// Adds a section without items at the end.
  package mutating func appendSection(_ metadata: SectionMetadata) {
    appendSection(Section(metadata: metadata, items: []))
  }

  /// Adds an item at the end of a section.
  package mutating func appendItem(_ item: Item, toSectionAt sectionIndex: Int) {
    sections[sectionIndex].items.append(item)
  }

  /// Inserts a section.
  package mutating func insert(section: Section, at index: Int) {
    sections.insert(section, at: index)
  }

  /// Inserts a section without items.
  package mutating func insert(section metadata: SectionMetadata, at index: Int) {
    insert(section: Section(metadata: metadata, items: []), at: index)
  }

  /// Inserts an item.
  package mutating func insert(item: Item, at indexPath: IndexPath) {
    sections[indexPath.section].items.insert(item, at: indexPath.item)
  }

  /// Inserts items of one section.
  package mutating func insert(contentsOf items: [Item], at indexPath: IndexPath) {
    sections[indexPath.section].items.insert(contentsOf: items, at: indexPath.item)
  }

  /// Takes a section out and inserts it in what is left.
  package mutating func moveSection(from fromIndex: Int, to toIndex: Int) {
    sections.move(from: fromIndex, to: toIndex)
  }

  /// Takes an item out and inserts it in what is left.
  package mutating func moveItem(from fromIndexPath: IndexPath, to toIndexPath: IndexPath) {
    insert(item: removeItem(at: fromIndexPath), at: toIndexPath)
  }

  /// Removes and returns a section.
  @discardableResult
  package mutating func removeSection(at index: Int) -> Section {
    sections.remove(at: index)
  }

  /// Removes and returns an item.
  @discardableResult
  package mutating func removeItem(at indexPath: IndexPath) -> Item {
    sections[indexPath.section].items.remove(at: indexPath.item)
  }

  /// Removes all items and keeps the sections.
  package mutating func removeAllItems() {
    for i in sections.indices { sections[i].items.removeAll() }
  }

  /// Removes all.
  package mutating func removeAllItemsAndSections() {
    sections.removeAll()
  }
}

extension Array2D.Section: Equatable where SectionMetadata: Equatable, Item: Equatable {}
extension Array2D: Equatable where SectionMetadata: Equatable, Item: Equatable {}
