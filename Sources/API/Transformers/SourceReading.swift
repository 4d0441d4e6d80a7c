package import Connections
package import JSON
internal import Model

/// The present values of some sources, of which long ones are decoded and folded in steps.
package final class SourceReading {
  /// A source, and the results of its transformers that are prepared for a long value.
  package struct Source {
    package let provider: SourceProvider
    package let name: String
    package let prepared: PreparedResults?

    package init(_ provider: SourceProvider, _ name: String, _ prepared: PreparedResults?) {
      (self.provider, self.name, self.prepared) = (provider, name, prepared)
    }

    /// Whether its value is decoded in steps now.
    package var isLong: Bool { provider.isLong(name) }
  }

  private let sources: [Source]
  private var long: [LongValue?] = []
  private var short: [JSONValue?] = []

  /// The place of the source that is read.
  private var place = 0

  /// - Parameter makeShort: Returns the value of a source that is not long.
  package init(
    _ sources: [Source], at position: UInt64, _ makeShort: (Source) -> JSONValue?
  ) {
    self.sources = sources
    for source in sources {
      let value = LongValue(of: source.name, source.provider, number: 0, at: position)
      long.append(value)
      short.append(value == nil ? makeShort(source) : nil)
    }
  }

  /// Reads a part.
  ///
  /// - Returns: Whether a part is left.
  package func step() -> Bool {
    while place < sources.count {
      if long[place]?.isComplete == false {
        long[place]?.step()
        return true
      }
      if let value = long[place]?.value, sources[place].prepared?.step(over: value) == true {
        return true
      }
      place += 1
    }
    return false
  }

  /// The values, in the order of the sources; `nil` for one without a value.
  package var values: [JSONValue?] {
    zip(long, short).map { long, short in long.map { $0.value } ?? short }
  }

  /// Frees the long values in the time of a user, when nothing else holds them.
  package func free(in context: ConnectionContext, for user: UInt32) {
    for source in sources { source.prepared?.clear() }
    for place in long.indices {
      guard let (values, members) = long[place]?.parts() else { continue }
      long[place] = nil
      context.free(values, for: user)
      context.free(members, for: user)
    }
  }
}

extension SourceProvider {
  /// Returns whether the value of a source is decoded in steps now.
  package func isLong(_ source: String) -> Bool {
    collection(source).map(\.isLong) ?? LongValue.isLong(value(source))
  }
}
