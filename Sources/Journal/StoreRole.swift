/// The part of a daemon in a journal that several daemons may share.
///
/// Only one daemon appends: the active one. The others follow: they apply its events.
package enum StoreRole: Equatable, Sendable {
  /// Not decided yet.
  case joining

  /// This daemon appends.
  ///
  /// The term grows with each change of the active daemon. A store for a single daemon has the
  /// term 0.
  case active(term: UInt64)

  /// Another daemon appends; `nil` while nobody does.
  case following(ActiveNode?)

  /// This daemon must open the journal again, for this reason; the store does nothing any more.
  case over(reason: String)

  /// Whether this daemon has joined the daemons that share the journal.
  package var takesPart: Bool {
    switch self {
    case .active, .following: true
    case .joining, .over: false
    }
  }
}

/// The daemon that appends.
package struct ActiveNode: Equatable, Sendable {
  package let name: String

  /// The address at which it takes commands; `nil` if it takes none.
  package let address: String?

  package init(name: String, address: String?) {
    (self.name, self.address) = (name, address)
  }
}

extension EventStore {
  package var isShared: Bool { false }
  package var role: StoreRole { .active(term: 0) }
  package var interruption: String? { nil }
  package var isInterrupted: Bool { interruption != nil }
  package func contend() {}
  package func stopContending() {}
  package func resign() {}
}
