internal import Model
internal import Signals

/// The graph of values that bindings pass from source to source, used to detect cycles.
///
/// A source and its parts, such as `people/1` and `people/1/name`, count as one node: a change of
/// one changes the other.
struct BindingGraph {
  /// The number of bindings from one source to another, and how many of them are ending.
  private struct Flows {
    var count = 0
    var ending = 0
  }

  /// The edges in one direction, from a source to the sources one step away.
  private struct Side {
    private var flows: [String: [String: Flows]] = [:]
    private let names = NameSet()

    /// Adjusts the number of bindings between two sources.
    mutating func change(_ from: String, _ to: String, count: Int, ending: Int) {
      if flows[from] == nil { names.insert(from) }
      var changed = flows[from, default: [:]][to] ?? Flows()
      changed.count += count
      changed.ending += ending
      flows[from, default: [:]][to] = changed.count > 0 ? changed : nil
      guard flows[from]?.isEmpty == true else { return }
      flows[from] = nil
      names.remove(from)
    }

    /// Returns the sources one step away from a source, from its parts and from the sources that it
    /// is part of.
    func next(of source: String, withoutEnding: Bool) -> [String] {
      var found: [String] = []
      func add(_ name: String) {
        for (to, flows) in flows[name] ?? [:] where !withoutEnding || flows.count > flows.ending {
          found.append(to)
        }
      }
      add(source)
      for (i, byte) in source.utf8.enumerated() where byte == UInt8(ascii: "/") {
        add(String(source.prefix(i)))  // names are ASCII
      }
      names.search(withPrefix: source + "/") { name in
        add(name)
        return true
      }
      return found
    }
  }

  /// A search in one direction, one source at a time.
  private struct Search {
    private let end: String
    private var open: [String]

    /// The predecessor of each source that was reached.
    private var origins: [String: String?]

    init(from start: String, to end: String) {
      (open, origins, self.end) = ([start], [start: nil], end)
    }

    enum Step {
      case found(path: [String])
      case more
      case nothing
    }

    mutating func step(_ side: Side, withoutEnding: Bool) -> Step {
      guard let source = open.popLast() else { return .nothing }
      if BindingGraph.areOne(source, end) { return .found(path: path(to: source)) }
      for next in side.next(of: source, withoutEnding: withoutEnding) where origins[next] == nil {
        origins[next] = source
        open.append(next)
      }
      return .more
    }

    private func path(to source: String) -> [String] {
      var path = [source]
      while let last = path.last, let origin = origins[last] ?? nil { path.append(origin) }
      return path.reversed()
    }
  }

  private var forward = Side()
  private var backward = Side()

  /// Adds an expression (`count` 1) or removes it (`count` -1).
  mutating func change(_ expression: BindExpression, count: Int, ending: Int = 0) {
    for (from, to) in expression.flows {
      forward.change(from, to, count: count, ending: ending)
      backward.change(to, from, count: count, ending: ending)
    }
  }

  /// Returns the cycle that an additional expression would close, from a source back to itself;
  /// `nil` if there is none.
  ///
  /// - Parameter withoutEnding: Whether bindings that are ending count as ended.
  /// - Complexity: O(*n*) in the reachable sources, in the direction with fewer of them.
  func circle(with expression: BindExpression, withoutEnding: Bool = false) -> [String]? {
    for (from, to) in expression.flows {
      var (ahead, back) = (Search(from: to, to: from), Search(from: from, to: to))
      search: while true {
        switch ahead.step(forward, withoutEnding: withoutEnding) {
        case .found(let path): return [from] + path
        case .nothing: break search
        case .more: break
        }
        switch back.step(backward, withoutEnding: withoutEnding) {
        case .found(let path): return [from] + path.reversed()
        case .nothing: break search
        case .more: break
        }
      }
    }
    return nil
  }

  /// Whether two names denote the same data: they are equal, or one is part of the other, as
  /// `people/1/name` is part of `people/1`.
  static func areOne(_ one: String, _ other: String) -> Bool {
    guard one != other else { return true }
    let (short, long) = one.utf8.count < other.utf8.count ? (one, other) : (other, one)
    return long.utf8.starts(with: short.utf8)
      && long.utf8.dropFirst(short.utf8.count).first == UInt8(ascii: "/")
  }
}

extension BindExpression {
  /// The directions in which the binding passes values.
  var flows: [(from: String, to: String)] {
    (self.operator.goesRight ? leftPaths.map { ($0.text, right) } : [])
      + (self.operator.goesLeft ? leftPaths.map { (right, $0.text) } : [])
  }

  /// The sources that give values.
  var reads: [String] {
    (self.operator.goesRight ? leftPaths.map(\.text) : [])
      + (self.operator.goesLeft ? [right] : [])
  }

  /// The sources that receive values.
  var writes: [String] {
    (self.operator.goesLeft ? leftPaths.map(\.text) : [])
      + (self.operator.goesRight ? [right] : [])
  }
}
