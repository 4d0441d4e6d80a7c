internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The values of sources that come and go and are not journaled, by full name.
final class LiveValues {
  let service: String
  private var values: [String: JSONText] = [:]
  private let names = NameSet()

  /// The user who has published each value, and the bytes of each user.
  private var owners: [String: UInt32] = [:]
  private var bytes: [UInt32: Int] = [:]

  /// The most bytes of the names and values that one user publishes.
  private static let maxBytes = 16 << 20

  /// The bytes that an entry needs beside its name and value.
  private static let entryBytes = 256

  /// The declared types, which the values must fit.
  weak var types: SourceTypes?

  /// Called when a source gets its first value, and when its value is removed.
  var onExistence: (_ source: String, _ exists: Bool) -> Void = { _, _ in }

  private let changed = PassthroughSubject<SourceChange, Never>()
  private let bySource = KeyedSubject<String, SourceChange>()

  init(_ service: String) {
    self.service = service
  }

  /// Sets a value of a user, or removes it; ``check(_:by:)`` has found room for it.
  func publish(_ source: String, _ value: JSONText?, by owner: UInt32) {
    let name = "\(service)/\(source)"
    if let last = owners.removeValue(forKey: name), let old = values[name] {
      bytes[last, default: 0] -= Self.size(name, old)
      if bytes[last] == 0 { bytes[last] = nil }
    }
    if let value {
      owners[name] = owner
      bytes[owner, default: 0] += Self.size(name, value)
    }
    set(name, value)
  }

  /// Checks that there is room for the values of a user, which are set in order.
  ///
  /// - Throws: ``WireError`` `rejected` if the user's values are too large, or do not fit their types.
  func check(_ new: [(source: String, value: JSONText?)], by owner: UInt32) throws(WireError) {
    guard !new.isEmpty else { return }
    var total = bytes[owner] ?? 0
    var sizes: [String: Int] = [:]
    for (source, value) in new {
      let name = "\(service)/\(source)"
      if let value, let types, types.isOn, let mismatch = types.mismatch(of: value, for: name) {
        throw WireError(mismatch)
      }
      let old = owners[name] == owner ? values[name].map { Self.size(name, $0) } : nil
      let size = value.map { Self.size(name, $0) } ?? 0
      total += size - (sizes.updateValue(size, forKey: name) ?? old ?? 0)
    }
    guard total <= Self.maxBytes || new.allSatisfy({ $0.value == nil }) else {
      throw WireError(
        .rejected, "the live values of a user have at most \(Self.maxBytes) bytes",
        ["reason": .string("too_large")])
    }
  }

  private static func size(_ name: String, _ value: JSONText) -> Int {
    entryBytes + name.utf8.count + value.text.utf8.count
  }

  /// Sets a value, or removes it.
  func set(_ source: String, _ value: JSONText?) {
    let isKnown = values[source] != nil
    guard value != nil || isKnown else { return }
    values[source] = value
    if value == nil { names.remove(source) } else if !isKnown { names.insert(source) }
    if (value == nil) == isKnown { onExistence(source, value != nil) }
    let change = SourceChange(source: source, seq: 0, value: value)
    bySource.send(change, to: source)
    changed.send(change)
  }

  /// Returns the sources for clients.
  func sources(_ description: SourceProvider.Description) -> SourceProvider {
    SourceProvider(
      descriptions: [description], isJournaled: false,
      exists: { [service] in SourceName.isSource($0, of: service) },
      value: { [unowned self] in values[$0] },
      search: { [unowned self] pattern, excluded, place, body throws(NameIndex.TooVain) in
        try names.search(pattern, without: excluded, from: &place, body)
      },
      canSearchGoOn: { true },
      neighbours: { [unowned self] in
        names.neighbours(of: $0, count: SourceProvider.neighbourCount)
      },
      changes: { [unowned self] source in bySource.elements(of: source) },
      changesMatching: { [unowned self] pattern in
        changed.toSignal().filter { pattern.matches($0.source) }
      })
  }
}
