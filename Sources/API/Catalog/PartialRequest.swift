internal import Connections
internal import Model

/// The work of a request that is done in slices of the client's time.
///
/// A request whose slice is over runs again in a later turn, and its work goes on where it has stopped:
///
///     let values = try context.inParts(call, "get \\(pattern)") { ValueCollection(…) }
///     call.answer { values.write(to: &$0) }
package class PartialRequest {
  /// The steps between two looks at the clock.
  static let atOnce = 32

  /// The steps that are done while another request of the user is done in parts.
  private static let mostBeside = 256

  /// Tells the request from others of the client.
  fileprivate var key = ""

  /// The number of the request.
  fileprivate var run: UInt64 = 0

  /// The right to be done in parts; `nil` in the first slice.
  fileprivate var turn: PartsTurn?

  /// The context and the user of the client.
  fileprivate var owner: (context: ConnectionContext, uid: UInt32)?

  private var steps = 0

  /// Goes on until the slice is over.
  ///
  /// - Returns: Whether the work is complete.
  func goOn(_ slice: Slice) throws -> Bool { true }

  /// Frees values in the time of the user; the caller must hold them nowhere else.
  final func free<Value>(_ values: consuming [Value]) {
    guard let owner else { return }
    owner.context.free(values, for: owner.uid)
  }

  /// A slice of the client's time.
  struct Slice {
    fileprivate let context: ConnectionContext

    /// Whether what is done is kept for later slices: no other request of the user is done in parts.
    let isAlone: Bool
    fileprivate unowned let request: PartialRequest

    /// Counts a step, or more for a long one, and returns whether the slice is over.
    func isOver(steps: Int = 1) -> Bool {
      request.steps += steps
      guard request.steps % PartialRequest.atOnce == 0 else { return false }
      return context.isWorkTimeUp || !isAlone && request.steps >= PartialRequest.mostBeside
    }
  }
}

extension CallContext {
  /// Does the work of a request, or goes on with it.
  ///
  /// - Parameter begin: Creates the work.
  /// - Throws: ``Postponed`` if the request must run again in a later turn; the errors of the work.
  func inParts<Work: PartialRequest>(
    _ call: Call, _ key: String, _ begin: () throws -> Work
  ) throws -> Work {
    let connection = call.connection
    let work: Work
    if let begun = interrupted as? Work, begun.key == key, begun.run == connection.requests {
      work = begun
    } else {
      interrupted = nil
      work = try begin()
      (work.key, work.owner) = (key, (connection.context, connection.peer.uid))
    }
    interrupted = nil
    let isAlone = work.turn != nil || connection.mayBeginParts
    let slice = PartialRequest.Slice(
      context: connection.context, isAlone: isAlone, request: work)
    guard try !work.goOn(slice) else { return work }
    if work.turn == nil { work.turn = connection.beginParts() }
    if work.turn != nil {
      work.run = connection.requests
      interrupted = work
    }
    throw Postponed()
  }

  /// Ends a request that was interrupted.
  @usableFromInline
  package func endParts() { interrupted = nil }
}

/// Postpones a request to a later turn, because the time of the client's slice is over.
package struct Postponed: Error {}
