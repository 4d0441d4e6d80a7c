package import Connections
package import JSON
internal import Model

/// The present values of some sources, of which long lists and maps are decoded and folded in steps.
package final class SourceReading {
  /// A source, and the first fold of its transformers.
  package struct Source {
    package let provider: SourceProvider
    package let name: String
    package let fold: PreparedFold?

    package init(_ provider: SourceProvider, _ name: String, _ fold: PreparedFold?) {
      (self.provider, self.name, self.fold) = (provider, name, fold)
    }

    /// Whether it is a long list or map now.
    package var isLong: Bool { provider.collection(name)?.isLong ?? false }
  }

  private let sources: [Source]
  private var long: [LongValue?] = []
  private var short: [JSONValue?] = []

  /// The place of the source that is read.
  private var place = 0

  /// - Parameter value: Returns the value of a source that is no long list or map.
  package init(
    _ sources: [Source], at position: UInt64, _ value: (Source) -> JSONValue?
  ) {
    self.sources = sources
    for source in sources {
      let list = LongValue(source.provider.collection(source.name), number: 0, at: position)
      long.append(list)
      short.append(list == nil ? value(source) : nil)
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
      if let list = long[place], sources[place].fold?.step(over: list.value) == true { return true }
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
    for source in sources { source.fold?.clear() }
    for place in long.indices {
      guard let (values, members) = long[place]?.parts() else { continue }
      long[place] = nil
      context.free(values, for: user)
      context.free(members, for: user)
    }
  }
}
