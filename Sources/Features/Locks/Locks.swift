package import EventSourcing
package import JSON
internal import Wire

/// The events of a lock; the lock is the stream.
package enum LockEvent: ServiceEvent, Codable, Equatable {
  /// A lease asks for the lock, and has it once no earlier one has or wants it.
  case asked(lease: String, uid: UInt32, pid: Int32)

  /// A lease gives the lock back, or wants it no more.
  case left(lease: String)

  package static var kinds: Set<String> { ["asked", "left"] }
}

/// The state of all locks.
package struct Locks: ServiceState, Codable {
  /// A lease that has a lock or waits for it.
  package struct Claim: Codable, Equatable, Sendable {
    package let lease: String
    package let uid: UInt32
    package let pid: Int32

    /// The fencing token: the position of the event that gave it the lock; `nil` while it waits.
    package fileprivate(set) var token: UInt64?

    /// The time at which it got the lock, or else asked for it, in microseconds since 1970.
    package fileprivate(set) var since: Int64
  }

  /// The claims by full name of the lock, for example `"locks/backup"`: the holder, then those who
  /// wait, in order.
  private var claims: [String: [Claim]] = [:]

  /// The number of claims of each user.
  private var counts: [UInt32: Int] = [:]

  /// The leases with a claim, by full name of the lock: many may wait for one lock.
  private var leases: [String: Set<String>] = [:]

  private enum CodingKeys: String, CodingKey {
    case claims, counts
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    claims = try container.decode([String: [Claim]].self, forKey: .claims)
    counts = try container.decode([UInt32: Int].self, forKey: .counts)
    leases = claims.mapValues { Set($0.map(\.lease)) }
  }

  /// Returns the holder of a lock; `nil` if it is free.
  package func holder(of lock: String) -> Claim? { claims[lock]?.first }

  /// Returns the number of locks that a user's leases have or wait for.
  package func count(of uid: UInt32) -> Int { counts[uid] ?? 0 }

  /// Returns whether a lease has a lock or waits for it.
  package func has(_ lease: String, in lock: String) -> Bool {
    leases[lock]?.contains(lease) ?? false
  }

  package mutating func apply(_ event: LockEvent, at place: EventContext) {
    let lock = place.stream
    switch event {
    case .asked(let lease, let uid, let pid):
      guard !has(lease, in: lock) else { return }
      let isFree = claims[lock] == nil
      counts[uid, default: 0] += 1
      leases[lock, default: []].insert(lease)
      claims[lock, default: []].append(
        Claim(
          lease: lease, uid: uid, pid: pid, token: isFree ? place.seq : nil, since: place.time))
    case .left(let lease):
      guard has(lease, in: lock),
        let i = claims[lock]?.firstIndex(where: { $0.lease == lease })
      else { return }
      leases[lock]?.remove(lease)
      if let uid = claims[lock]?.remove(at: i).uid {
        counts[uid] = counts[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
      if claims[lock]?.isEmpty == true {
        (claims[lock], leases[lock]) = (nil, nil)
      } else if i == 0 {
        claims[lock]?[0].token = place.seq
        claims[lock]?[0].since = place.time
      }
    }
  }

  // MARK: Leases

  package static func removal(after event: LockEvent, in stream: Stream) -> LockEvent? {
    switch event {
    case .asked(let lease, _, _), .left(let lease): .left(lease: lease)
    }
  }

  package func has(toRemove removal: LockEvent, in stream: Stream) -> Bool {
    guard case .left(let lease) = removal else { return false }
    return has(lease, in: stream.name)
  }

  // MARK: Sources

  /// The most waiting leases that a value lists.
  private static let maxListed = 32

  package func value(of source: String) -> JSONText? {
    guard let claims = claims[source], let holder = claims.first else { return nil }
    var text = ByteBuffer()
    text.object {
      $0.object("holder") { $0.add(holder) }
      $0.array("waiting") {
        for claim in claims.dropFirst().prefix(Self.maxListed) {
          $0.separate()
          $0.object { $0.add(claim) }
        }
      }
      $0.member("waiting_count", claims.count - 1)
    }
    return JSONText(trusted: text.string)
  }

  package func has(_ source: String) -> Bool { claims[source] != nil }

  package var sources: some Sequence<String> { claims.keys }

  package static func sources(changedBy event: LockEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  // MARK: Sizes

  private static let claimBytes = 128

  package func size(of stream: Stream) -> Int {
    (claims[stream.name]?.count ?? 0) * Self.claimBytes
  }

  package func growth(by event: LockEvent, in stream: Stream) -> Int? {
    switch event {
    case .asked(let lease, _, _): has(lease, in: stream.name) ? 0 : Self.claimBytes
    case .left(let lease): has(lease, in: stream.name) ? -Self.claimBytes : 0
    }
  }
}

extension ByteBuffer {
  /// Appends the members of a claim.
  fileprivate mutating func add(_ claim: Locks.Claim) {
    member("lease", claim.lease)
    member("uid", Int(claim.uid))
    member("pid", Int(claim.pid))
    member("token", claim.token)
    member("since", Timestamp(microseconds: claim.since).text)
  }
}
