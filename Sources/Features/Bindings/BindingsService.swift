package import EventSourcing
internal import JSON

/// An error from adding or removing a binding.
package enum BindingError: ServiceError, Equatable {
  case exists(name: String)
  case unknown(name: String)
  case tooMany(max: Int)

  /// The user has reached the per-user limit.
  case tooManyOfUser(max: Int)

  package var kind: ServiceErrorKind {
    switch self {
    case .exists(let name): .alreadyExists(what: "binding", id: name)
    case .unknown(let name): .notFound(what: "binding", id: name)
    case .tooMany, .tooManyOfUser: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .exists(let name): "there is a binding '\(name)' already"
    case .unknown(let name): "there is no binding '\(name)'"
    case .tooMany(let max): "the daemon keeps at most \(max) bindings"
    case .tooManyOfUser(let max):
      "the daemon keeps at most \(max) bindings of one user; end some with unbind"
    }
  }
}

/// The bindings that survive a restart of the daemon: their names and expressions.
///
/// This service only stores them. Its caller activates them.
package final class BindingsService {
  /// The maximum number of bindings.
  package static let maxCount = 1000

  package let ledger: Ledger<StoredBindings>
  private let host: ServiceHost

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger("bindings", in: host)
  }

  /// Stores a binding.
  package func add(_ name: String, _ expression: String) throws(BindingError) {
    let all = ledger.pending.expressions
    guard all["bindings/\(name)"] == nil else { throw .exists(name: name) }
    guard all.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(of: Self.maxCount, ledger.pending.count(of:)) {
      throw .tooManyOfUser(max: max)
    }
    ledger.record(.bound(expression: expression), in: "bindings/\(name)")
  }

  /// Removes a binding.
  package func remove(_ name: String) throws(BindingError) {
    guard ledger.pending.expressions["bindings/\(name)"] != nil else { throw .unknown(name: name) }
    ledger.record(.unbound, in: "bindings/\(name)")
    dropState(Self.stateKey(of: name))
  }

  // MARK: States of operators

  /// Returns the stream with the state of a binding.
  static func stateKey(of name: String) -> String { "bindings/\(name)/state" }

  /// Returns the state of the operators of a binding, including changes that are not durable yet.
  func state(_ key: String) -> JSONText? { ledger.pending.operatorStates[key] }

  /// Stores the state of the operators of a binding; call it within a command.
  func keepState(_ state: JSONText, _ key: String) { ledger.record(.kept(state: state), in: key) }

  /// Removes the state of the operators of a binding; call it within a command.
  func dropState(_ key: String) {
    if state(key) != nil { ledger.record(.dropped, in: key) }
  }

  /// The streams of all states.
  var stateKeys: [String] { ledger.pending.operatorStates.keys.sorted() }
}
