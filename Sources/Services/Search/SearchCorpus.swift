package import Signals

/// What of a service can be found by its text.
package struct SearchCorpus {
  /// What begins the names of its texts, with a slash behind it: the service.
  package let service: String

  /// All texts that are durable now.
  package let all: () -> [SearchText]

  /// Every change from now on, those of one write at a time.
  package let changes: SafeSignal<[SearchChange]>

  /// What is shown of a text beside itself; `nil` when it is there no more.
  package let describe: (_ id: String) -> (title: String, source: String)?

  package init(
    _ service: String, all: @escaping () -> [SearchText], changes: SafeSignal<[SearchChange]>,
    describe: @escaping (_ id: String) -> (title: String, source: String)?
  ) {
    (self.service, self.all, self.changes, self.describe) = (service, all, changes, describe)
  }
}

/// A text that can be found.
package struct SearchText: Equatable, Sendable {
  /// For example `"threads/1/3"`.
  package let id: String
  package let text: String

  package init(id: String, text: String) {
    (self.id, self.text) = (id, text)
  }
}

/// How what can be found changes.
package enum SearchChange: Equatable, Sendable {
  /// A text, new or other than before.
  case put(SearchText)
  case remove(id: String)
  /// A text and all whose names begin with its name and a slash.
  case removeAll(id: String)
}
