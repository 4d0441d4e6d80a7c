internal import EventSourcing
internal import JSON

/// The events that wait for a durable reader, and its workers, now.
package struct ReaderFigures: Codable, Equatable {
  package let reader: String

  /// The position up to which all its events are done.
  package let seq: UInt64

  /// The positions after that one, of all events: 0 says that nothing waits.
  package let behind: UInt64

  /// Whether somebody reads with it.
  package let held: Bool

  /// The figures of a shared reader with workers; `nil` of others.
  package private(set) var workers: Int?
  package private(set) var inHand: Int?

  /// The events that were read and wait for a worker.
  package private(set) var waiting: Int?

  /// Whether more events may wait, which were not read yet.
  package private(set) var more: Bool?
  package private(set) var parked: Int?

  private enum CodingKeys: String, CodingKey {
    case reader, seq, behind, held, workers, waiting, more, parked
    case inHand = "in_hand"
  }

  init(
    _ name: String, _ readers: Readers, _ shared: SharedReader?, isHeld: Bool, upTo last: UInt64
  ) {
    reader = name
    let position = readers[name] ?? 0
    seq = position
    behind = last > position ? last - position : 0
    parked = readers.shared(name)?.parked.count
    guard let shared, shared.hasWorkers else {
      held = isHeld
      return
    }
    held = true
    let figures = shared.figures
    (workers, inHand, waiting) = (figures.workers, figures.inHand, figures.waiting)
    more = figures.isMore ? true : nil
  }
}
