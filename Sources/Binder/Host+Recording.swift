internal import EventSourcing
internal import Model
public import Signals

// What services ask about what they have recorded, and about who records.
extension Host {
  /// Returns a signal that emits once all events that are recorded so far are durable.
  ///
  /// It fails if some of them are lost, because the journal did not take them. An event that its command
  /// has taken back is not waited for.
  public func durability() -> Signal<Void, NotRecorded> {
    engine.durability(of: engine.last).mapError { NotRecorded(reason: "\($0)") }
  }

  /// Returns the most things that one user may have, if the user of the running command has as many.
  ///
  /// It is half of what all users together may have, so that one user leaves room for others. Owners of
  /// the daemon have no such limit.
  ///
  ///     if let max = host.exhaustedShare(of: 1000, { uid in feeds.count { $0.maker == uid } }) {
  ///       throw Rejection.rejected("too_many", "one user has at most \(max) feeds")
  ///     }
  ///
  /// - Parameters:
  ///   - all: The most things of all users.
  ///   - count: Returns the number of things of a user.
  /// - Returns: `nil` if the user may have one more.
  public func exhaustedShare(of all: Int, _ count: (_ uid: UInt32) -> Int) -> Int? {
    engine.exhaustedShare(of: all, count)
  }

  /// Records as ``perform(_:_:)`` does, under a user: the events are theirs, and are charged to them.
  ///
  /// - Parameter user: The uid, for example of the user for whom something was fetched; `nil` for the
  ///   daemon itself.
  public func perform<Value>(
    _ method: String, as user: UInt32?, _ body: () throws -> Value
  ) throws -> Value {
    try perform(
      Command(method: method, caller: user.map { Peer(uid: $0) } ?? engine.daemon), body)
  }

  /// Begins something when the daemon starts, and ends it when it stops.
  ///
  /// It runs when ``schedule(after:_:)`` does.
  ///
  /// - Parameter begin: Returns a disposable that ends it.
  public func whileRunning(_ begin: @escaping () -> any Disposable) { timers.run(begin) }
}
