/// A set of names, searchable by pattern or by prefix.
public final class NameSet {
  private let names = Names()
  private var index = NameIndex()

  /// Creates a set.
  ///
  /// - Parameter names: Its names in any order.
  public init(_ names: some Sequence<String> = []) {
    var numbers: [Int] = []
    for name in names where !contains(name) {
      numbers.append(self.names.add(name))
      self.names.hold(numbers[numbers.count - 1], by: .source)
    }
    index = NameIndex(numbers, in: self.names.list)
  }

  /// The number of names.
  public var count: Int { names.count }

  /// Returns whether a name is in the set.
  public func contains(_ name: String) -> Bool { names.number(of: name) != nil }

  /// Inserts a name, unless it exists.
  public func insert(_ name: String) {
    guard !contains(name) else { return }
    let number = names.add(name)
    names.hold(number, by: .source)
    index.insert(number, in: names.list)
  }

  /// Removes a name if it exists.
  public func remove(_ name: String) {
    guard let number = names.number(of: name) else { return }
    index.remove(number, in: names.list)
    names.drop(number, by: .source)
  }

  /// Calls `body` with each name that matches a pattern, until `body` returns `false`; see
  /// ``NameIndex/search(_:without:in:from:_:)``.
  public func search(
    _ pattern: Pattern, without excluded: [Pattern] = [], _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    var place = SearchPlace()
    try search(pattern, without: excluded, from: &place, body)
  }

  /// Calls `body` with each name that matches a pattern, from a place on; see
  /// ``NameIndex/search(_:without:in:from:_:)``.
  public func search(
    _ pattern: Pattern, without excluded: [Pattern], from place: inout SearchPlace,
    _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    try index.search(pattern, without: excluded, in: names.list, from: &place, body)
  }

  /// Calls `body` with each name that has a prefix, until `body` returns `false`; see
  /// ``NameIndex/search(withPrefix:in:from:_:)``.
  public func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    var place = SearchPlace()
    index.search(withPrefix: prefix, in: names.list, from: &place, body)
  }

  /// Returns up to `count` names on each side of the position of `name`, among those with as many
  /// segments.
  public func neighbours(of name: String, count: Int) -> [String] {
    index.neighbours(of: name, count: count, in: names.list)
  }
}
