internal import Connections
internal import EventSourcing
internal import JSON

/// The events that wait for a durable reader, and its workers, now.
package struct ReaderFigures: Codable, Equatable {
  package let reader: String

  /// The position up to which all its events are done.
  package let seq: UInt64

  /// The positions after that one, of all events: at most so many wait, because the filter of the
  /// reader does not want all of them; 0 says that nothing waits.
  package let behind: UInt64

  /// Whether somebody reads with it; `nil` if only another daemon knows.
  package let held: Bool?

  /// The workers of a shared reader; `nil` of others.
  package private(set) var workers: Int?

  /// The events that were sent and are not acknowledged; `nil` if nobody reads.
  package private(set) var inHand: Int?

  /// The events of a shared reader that were read and wait for a worker.
  package private(set) var waiting: Int?

  /// `true` if more events may wait, which were not read yet; known while somebody reads.
  package private(set) var more: Bool?
  package private(set) var parked: Int?

  private enum CodingKeys: String, CodingKey {
    case reader, seq, behind, held, workers, waiting, more, parked
    case inHand = "in_hand"
  }

  /// - Parameter isActive: Whether the readers are in use here, and not at another daemon.
  init(
    _ name: String, _ readers: Readers, _ shared: SharedReader?, _ holder: LogSubscription?,
    upTo last: UInt64, isActive: Bool
  ) {
    reader = name
    let position = readers[name] ?? 0
    seq = position
    behind = last > position ? last - position : 0
    parked = readers.shared(name)?.parked.count
    guard isActive else {
      held = nil
      return
    }
    guard let shared, shared.hasWorkers else {
      held = holder != nil
      inHand = holder?.unacknowledgedCount
      more = holder?.isBehind == true ? true : nil
      return
    }
    held = true
    let figures = shared.figures
    (workers, inHand, waiting) = (figures.workers, figures.inHand, figures.waiting)
    more = figures.isMore ? true : nil
  }

  /// The figures of the moment, beside the value of the source `readers/NAME`.
  var now: JSONText {
    var text = ByteBuffer()
    text.object {
      $0.member("behind", behind)
      $0.member("held", held)
      $0.member("workers", workers)
      $0.member("in_hand", inHand)
      $0.member("waiting", waiting)
      $0.member("more", more)
    }
    return JSONText(trusted: text.string)
  }
}
