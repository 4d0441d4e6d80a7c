package import Signals

/// The searchable texts of a service.
package struct SearchCorpus {
  /// The service: the prefix of its texts' ids, followed by a slash.
  package let service: String

  /// Returns all durable texts.
  package let all: () -> [SearchText]

  /// Emits every change from now on; changes of one commit may come together.
  package let changes: SafeSignal<[SearchChange]>

  /// Returns the title and the source of a text, or `nil` if the text no longer exists.
  package let describe: (_ id: String) -> (title: String, source: String)?

  package init(
    _ service: String, all: @escaping () -> [SearchText], changes: SafeSignal<[SearchChange]>,
    describe: @escaping (_ id: String) -> (title: String, source: String)?
  ) {
    (self.service, self.all, self.changes, self.describe) = (service, all, changes, describe)
  }
}

/// A searchable text.
package struct SearchText: Equatable, Sendable {
  /// The identifier, for example `"threads/1/3"`.
  package let id: String
  package let text: String

  package init(id: String, text: String) {
    (self.id, self.text) = (id, text)
  }
}

/// A change of the searchable texts.
package enum SearchChange: Equatable, Sendable {
  /// Adds or replaces a text.
  case put(SearchText)
  case remove(id: String)
  /// Removes a text and all texts whose ids begin with its id and a slash.
  case removeAll(id: String)
}
