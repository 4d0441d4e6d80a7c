package import Model
internal import Signals

/// The head of each stream by the number of its name, kept in memory because an index on disk would
/// slow every append.
///
/// A stream without state is charged to nobody. Only the last ``maxReleased`` of them are kept, so
/// names that come and go for ever need a bounded memory. A stream that begins again after it was
/// forgotten has a higher version than it ever had.
///
/// A copy shares its storage, and can be read on another thread.
package struct StreamHeads: Sendable {
  private var heads = NumberMap(empty: Head.none)

  /// The bytes charged to all streams.
  package private(set) var usage = StateUsage()

  /// The number of streams with events.
  package private(set) var count = 0

  /// The most streams without state that are kept.
  package static let maxReleased = 10_000

  /// A stream that has lost its state.
  private struct Release {
    let stream: Int

    /// The position of the stream's last event at that time.
    let head: UInt64

    /// The position of the event with which it lost its state.
    let seq: UInt64
  }

  /// The streams that have lost their state, in order; some have one again.
  private var released = Queue<Release>()

  /// The number of streams without state.
  private var releasedCount = 0

  /// A higher version than the forgotten streams of each service had.
  package private(set) var floors: [String: UInt64] = [:]

  package init() {}

  /// Returns the head of a stream; ``Head/none`` if it has no events.
  package subscript(stream: Int) -> Head { heads[stream] }

  /// The bytes that a stream costs in addition to its name and its values.
  private static let baseBytes = 256

  /// Makes an event the last one of its stream.
  ///
  /// - Parameters:
  ///   - names: Has the name of the stream.
  ///   - user: The uid charged for the stream from now on, if it grows. Removing something from a
  ///     stream does not make it one's own.
  ///   - growth: The bytes to add to its charge.
  /// - Returns: The head before and after.
  package mutating func advance(
    _ stream: Int, in names: Names, to seq: UInt64, by user: UInt32 = Charge.nobody,
    growth: Int = 0
  ) -> (before: Head, after: Head) {
    let before = heads[stream]
    var head = before
    head.seq = seq
    head.version &+= 1
    if before.charge.bytes == 0 {
      head.charge = Charge(
        user: user, bytes: Self.bytes(ofName: names.byteCount(of: stream), with: growth))
      if before.version > 0 { releasedCount -= 1 }
    } else if growth != 0 {
      head.charge.change(by: growth, for: user)
    }
    if before.version == 0 {
      count += 1
      head.version = floor(of: names[stream]) &+ 1
    }
    heads[stream] = head
    usage.change(before.charge, to: head.charge)
    return (before, head)
  }

  private static func bytes(ofName count: Int, with values: Int) -> UInt32 {
    UInt32(clamping: baseBytes + count + values)
  }

  /// Returns the bytes of state that a stream is charged for besides its name; `nil` if it is not
  /// charged.
  func chargedSize(of stream: Int, nameBytes: Int) -> Int? {
    let charge = heads[stream].charge
    return charge.bytes == 0 ? nil : Int(charge.bytes) - Self.baseBytes - nameBytes
  }

  /// Returns whether a charge is for a name of some bytes alone.
  package static func isBare(_ charge: Charge, nameBytes: Int) -> Bool {
    charge.bytes == bytes(ofName: nameBytes, with: 0)
  }

  /// Adds to the bytes charged to a stream.
  ///
  /// The stream of a service can be charged before it has an event: for the state that events in other
  /// streams of the service have made, and that no other stream is charged for.
  ///
  /// - Returns: Its charge.
  @discardableResult
  package mutating func grow(
    _ stream: Int, in names: Names, by growth: Int, for user: UInt32
  ) -> Charge {
    let before = heads[stream]
    var head = before
    if before.charge.bytes == 0 {
      // It has state again, or its first, by an event of another stream.
      guard growth > 0, before.version > 0 || isService(names[stream]) else { return .none }
      head.charge = Charge(
        user: user, bytes: Self.bytes(ofName: names.byteCount(of: stream), with: growth))
      if before.version > 0 { releasedCount -= 1 }
    } else {
      head.charge.change(by: growth, for: user)
    }
    heads[stream] = head
    usage.change(before.charge, to: head.charge)
    return head.charge
  }

  private func isService(_ name: Span<UInt8>) -> Bool {
    for i in name.indices where name[i] == UInt8(ascii: "/") { return false }
    return true
  }

  // MARK: Streams without state

  /// Charges nobody for a stream without state any more, until its next event.
  ///
  /// - Parameter seq: The position of the event with which it lost its state.
  package mutating func release(_ stream: Int, at seq: UInt64) {
    let before = heads[stream]
    guard before.charge.bytes > 0 else { return }
    var head = before
    head.charge = .none
    heads[stream] = head
    usage.change(before.charge, to: .none)
    guard before.version > 0 else { return }
    record(Release(stream: stream, head: head.seq, seq: seq))
  }

  private mutating func record(_ release: Release) {
    releasedCount += 1
    released.append(release)
    // Most have state again, such as those of a name that comes and goes.
    if released.count > 2 * (releasedCount + 64) { dropStaleReleases() }
  }

  private mutating func dropStaleReleases() {
    var left = Queue<Release>()
    for release in released where isPresent(release) { left.append(release) }
    released = left
  }

  private func isPresent(_ release: Release) -> Bool {
    let head = heads[release.stream]
    return head.isReleased && head.seq == release.head
  }

  /// Forgets the oldest streams without state beyond ``maxReleased``, and drops their names.
  ///
  /// - Parameter seq: The last durable position; streams that lost their state later are kept.
  package mutating func forgetReleased(upTo seq: UInt64, in names: Names) {
    while releasedCount > Self.maxReleased, let release = released.first, release.seq <= seq {
      _ = released.popFirst()
      guard isPresent(release) else { continue }
      let stream = release.stream
      let service = names[stream].service
      floors[service] = max(floors[service] ?? 0, heads[stream].version + 1)
      heads[stream] = .none
      count -= 1
      releasedCount -= 1
      names.drop(stream, by: .stream)
    }
  }

  /// Returns the version after which a stream begins that is not known: 0 if it is new.
  private func floor(of stream: Span<UInt8>) -> UInt64 {
    floors.isEmpty ? 0 : floors[stream.service] ?? 0
  }

  /// Returns whether the journal may have events of a stream which is not known any more.
  package func mayHaveForgotten(_ stream: String, in names: Names) -> Bool {
    let isKnown = names.number(of: stream).map { heads[$0].version > 0 } ?? false
    return !isKnown && floor(of: stream.utf8.span) > 0
  }

  /// Sets a head from a snapshot; call ``measure(_:)`` after all.
  package mutating func load(_ stream: Int, _ head: Head) {
    if heads[stream].version == 0 { count += 1 }
    heads[stream] = head
  }

  /// Sets the version after which the forgotten streams of a service begin, from a snapshot.
  package mutating func load(floor version: UInt64, of service: String) {
    floors[service] = version
  }

  /// Updates the head of a stream from a replayed event.
  ///
  /// - Parameter user: The uid that recorded it.
  package mutating func update(
    _ stream: Int, seq: UInt64, version: UInt64, by user: UInt32 = Charge.nobody
  ) {
    let head = heads[stream]
    if head.version == 0 { count += 1 }
    heads[stream] = Head(
      seq: seq, version: version, charge: Charge(user: user, bytes: head.charge.bytes))
  }

  /// Computes the charge of each stream, after all events were noted.
  ///
  /// - Parameter bytes: Returns the bytes of state that a stream keeps, and those of its name;
  ///   `nil` for no state.
  package mutating func measure(_ bytes: (_ stream: Int) -> (state: Int, name: Int)?) {
    var usage = StateUsage()
    var released: [Release] = []
    heads.changeEach { stream, head in
      guard head.version > 0 else { return }
      guard let (state, name) = bytes(stream) else {
        head.charge = .none
        return released.append(Release(stream: stream, head: head.seq, seq: head.seq))
      }
      head.charge.bytes = Self.bytes(ofName: name, with: state)
      usage.change(.none, to: head.charge)
    }
    self.usage = usage
    self.released = Queue()
    for release in released.sorted(by: { $0.seq < $1.seq }) { self.released.append(release) }
    releasedCount = released.count
  }

  /// Sets a head; removes the stream if the head is ``Head/none``.
  package mutating func restore(_ stream: Int, to head: Head) {
    let before = heads[stream]
    count += (head.version > 0 ? 1 : 0) - (before.version > 0 ? 1 : 0)
    usage.change(before.charge, to: head.charge)
    heads[stream] = head
    if before.isReleased { releasedCount -= 1 }
    if head.isReleased { record(Release(stream: stream, head: head.seq, seq: head.seq)) }
  }

  /// Calls `body` with each stream, in no particular order.
  package func forEach(_ body: (Int, Head) -> Void) {
    heads.forEach { if $1.version > 0 { body($0, $1) } }
  }
}

extension Charge {
  /// Adds bytes.
  ///
  /// The last user to add any is charged for the whole stream.
  fileprivate mutating func change(by growth: Int, for user: UInt32) {
    bytes = UInt32(clamping: Int(bytes) + growth)
    if growth > 0 { self.user = user }
  }
}

/// The last event of a stream, and the charge for it.
package struct Head: Equatable, Sendable {
  /// The `seq` of the last event; 0 if there is none.
  package var seq: UInt64

  /// The number of events that were ever appended to the stream.
  package var version: UInt64

  /// The bytes of state that the stream keeps, and the user who is charged for them.
  package var charge = Charge.none

  package init(seq: UInt64, version: UInt64, charge: Charge = .none) {
    self.seq = seq
    self.version = version
    self.charge = charge
  }

  /// Whether the stream has no state and is charged to nobody.
  package var isReleased: Bool { seq > 0 && charge.bytes == 0 }

  /// The head of a stream without events.
  package static let none = Head(seq: 0, version: 0)
}

/// The bytes of state that a stream keeps, and the user who recorded its last event.
package struct Charge: Equatable, Sendable {
  /// The uid; ``nobody`` if it is unknown.
  package var user: UInt32
  package var bytes: UInt32

  package init(user: UInt32, bytes: UInt32) {
    (self.user, self.bytes) = (user, bytes)
  }

  /// The value for an unknown user: `(uid_t) -1` is never a valid uid.
  package static let nobody = UInt32.max
  package static let none = Charge(user: nobody, bytes: 0)
}

/// The bytes of state, in total and per user.
package struct StateUsage: Sendable {
  package private(set) var total = 0

  /// The users with a charge, sorted.
  private var byUser: ContiguousArray<(user: UInt32, bytes: Int)> = []

  package init() {}

  package subscript(user user: UInt32) -> Int {
    let place = place(of: user)
    return place < byUser.count && byUser[place].user == user ? byUser[place].bytes : 0
  }

  /// Returns the index of the first user that is not below another one.
  private func place(of user: UInt32) -> Int {
    let users = byUser.span
    var (low, high) = (0, users.count)
    while low < high {
      let middle = (low + high) / 2
      if users[middle].user < user { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The bytes of all users and of one user.
  package struct Charges {
    package let total: Int
    package let user: Int

    package init(total: Int, user: Int) { (self.total, self.user) = (total, user) }
  }

  package func charges(of user: UInt32) -> Charges { Charges(total: total, user: self[user: user]) }

  /// The users and their charges, unordered.
  package var users: [(user: UInt32, bytes: Int)] { Array(byUser) }

  /// Replaces one charge by another.
  mutating func change(_ before: Charge, to after: Charge) {
    if before.user == after.user {
      return add(Int(after.bytes) - Int(before.bytes), after.user)
    }
    add(-Int(before.bytes), before.user)
    add(Int(after.bytes), after.user)
  }

  private mutating func add(_ bytes: Int, _ user: UInt32) {
    guard bytes != 0 else { return }
    total += bytes
    let place = place(of: user)
    if place == byUser.count || byUser[place].user != user {
      return byUser.insert((user, bytes), at: place)
    }
    byUser[place].bytes += bytes
    if byUser[place].bytes == 0 { byUser.remove(at: place) }
  }
}
