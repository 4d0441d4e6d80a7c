package import EventSourcing
package import JSON
internal import Wire

/// The events of a lease; the lease is the stream.
package enum LeaseEvent: ServiceEvent, Codable, Equatable {
  /// - Parameter ttl: The milliseconds after which it ends unless it is renewed; `nil` if it ends
  ///   with a connection.
  case granted(uid: UInt32, pid: Int32, ttl: Int?)
  case renewed

  /// The calls to run when the lease ends: a JSON array as in `atomic`, their number, and the groups
  /// of the client, which decide on its role; `nil` for no calls.
  case willed(calls: String?, count: Int?, groups: [UInt32]?)

  /// A part of a state was written under the lease.
  case attached(part: LeasedPart)

  /// The part was removed, or written without the lease.
  case detached(part: LeasedPart)
  case ended(reason: LeaseEnd)

  package static var kinds: Set<String> {
    ["granted", "renewed", "willed", "attached", "detached", "ended"]
  }
}

/// The reason why a lease has ended.
package enum LeaseEnd: String, Codable {
  /// Its connection has ended.
  case disconnected

  /// It was not renewed in time.
  case expired

  /// Its owner has ended it.
  case released
}

/// The state of all leases.
package struct Leases: ServiceState, Codable {
  /// A lease: its owner, and what ends with it.
  package struct Lease: Codable, Equatable, Sendable {
    package let uid: UInt32
    package let pid: Int32

    /// The milliseconds after which it ends unless it is renewed; `nil` if it ends with a
    /// connection.
    package let ttl: Int?

    /// The time at which it was granted, in microseconds since 1970.
    package let since: Int64

    /// The time at which it was granted or last renewed.
    package fileprivate(set) var renewed: Int64

    /// The calls to run when it ends; `nil` for none.
    package fileprivate(set) var will: Will?

    /// The written parts, with the position of the event.
    package fileprivate(set) var parts: [LeasedPart: UInt64] = [:]
  }

  /// See ``LeaseEvent/willed(calls:count:groups:)``.
  package struct Will: Codable, Equatable, Sendable {
    package let text: String

    /// The number of calls.
    package let calls: Int

    /// The groups of the client that has set it.
    package let groups: [UInt32]
  }

  /// The leases by full name, for example `"lease/7"`.
  private var leases: [String: Lease] = [:]

  /// The lease of each written part.
  private var holders: [LeasedPart: String] = [:]

  /// The number of leases of each user.
  private var counts: [UInt32: Int] = [:]

  /// The number of the last lease.
  package private(set) var last = 0

  package init() {}

  package subscript(name: String) -> Lease? { leases[name] }

  package var names: some Sequence<String> { leases.keys }

  /// Whether nothing ends with a lease.
  package var isWithoutParts: Bool { holders.isEmpty }

  /// Returns the lease that a part ends with; `nil` if there is none.
  package func holder(of part: LeasedPart) -> String? { holders[part] }

  /// Returns the position at which a part of a stream was written under its lease; `nil` if none was.
  ///
  /// A cell is one part, and is found at once; the keys of a map are not.
  package func position(of stream: String) -> UInt64? {
    let cell = LeasedPart(stream: stream, kind: "removed", data: "{}")
    if let name = holders[cell] { return leases[name]?.parts[cell] }
    guard stream.hasPrefix("maps/") else { return nil }
    return holders.lazy.filter { $0.key.stream == stream }
      .compactMap { leases[$0.value]?.parts[$0.key] }.min()
  }

  package func count(of uid: UInt32) -> Int { counts[uid] ?? 0 }

  package mutating func apply(_ event: LeaseEvent, at place: EventContext) {
    let name = place.stream
    switch event {
    case .granted(let uid, let pid, let ttl):
      leases[name] = Lease(
        uid: uid, pid: pid, ttl: ttl, since: place.time, renewed: place.time)
      counts[uid, default: 0] += 1
      last = max(last, Self.number(of: name) ?? 0)
    case .renewed: leases[name]?.renewed = place.time
    case .willed(let calls, let count, let groups):
      leases[name]?.will = calls.map { Will(text: $0, calls: count ?? 1, groups: groups ?? []) }
    case .attached(let part):
      guard leases[name] != nil else { return }
      leases[name]?.parts[part] = place.seq
      holders[part] = name
    case .detached(let part):
      leases[name]?.parts[part] = nil
      if holders[part] == name { holders[part] = nil }
    case .ended:
      guard let lease = leases.removeValue(forKey: name) else { return }
      for part in lease.parts.keys { holders[part] = nil }
      counts[lease.uid] = counts[lease.uid].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  /// Returns the number in the full name of a lease.
  static func number(of name: String) -> Int? { Int(name.dropFirst("lease/".count)) }

  // MARK: Sources

  package func value(of source: String) -> JSONText? {
    guard let lease = leases[source] else { return nil }
    var text = ByteBuffer()
    text.object {
      $0.member("uid", Int(lease.uid))
      $0.member("pid", Int(lease.pid))
      $0.member("since", Timestamp(microseconds: lease.since).text)
      if let ttl = lease.ttl {
        let end = lease.renewed + Int64(ttl) * 1000
        $0.member("ttl_ms", ttl)
        $0.member("until", Timestamp(microseconds: end).text)
      }
      $0.member("sources", lease.parts.count)
      $0.member("will", lease.will != nil)
    }
    return JSONText(trusted: text.string)
  }

  package func has(_ source: String) -> Bool { leases[source] != nil }

  package var sources: some Sequence<String> { leases.keys }

  package static func sources(changedBy event: LeaseEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  // MARK: Sizes

  package func size(of stream: Stream) -> Int {
    guard let lease = leases[stream.name] else { return 0 }
    return lease.parts.keys.reduce(Self.leaseBytes + Self.size(of: lease.will)) {
      $0 + Self.size(of: $1)
    }
  }

  package func growth(by event: LeaseEvent, in stream: Stream) -> Int? {
    switch event {
    case .granted: Self.leaseBytes
    case .renewed: 0
    case .willed(let calls, _, let groups):
      Self.size(of: calls.map { Will(text: $0, calls: 0, groups: groups ?? []) })
        - Self.size(of: leases[stream.name]?.will)
    case .attached(let part): leases[stream.name]?.parts[part] == nil ? Self.size(of: part) : 0
    case .detached(let part): leases[stream.name]?.parts[part] == nil ? 0 : -Self.size(of: part)
    case .ended: -size(of: stream)
    }
  }

  private static let leaseBytes = 200

  private static func size(of will: Will?) -> Int {
    will.map { $0.text.utf8.count + 8 * $0.groups.count } ?? 0
  }

  private static func size(of part: LeasedPart) -> Int {
    160 + 2 * (part.stream.utf8.count + part.data.utf8.count)
  }
}
