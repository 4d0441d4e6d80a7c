internal import JSON
internal import Wire

/// The memory that the daemon holds for a client and for all clients of its user.
///
/// While a user exceeds `buffered_user`, the daemon buffers only a few KiB for each of that user's
/// clients. It reads from a client only when the client has taken its answers, refuses longer lines
/// and answers, and sends subscription updates in small chunks.
extension Connection {
  /// The bytes of an answer, an incomplete line or output that are always allowed.
  static let crowdedBytes = 4 << 10

  /// Whether the clients of the user together have reached their memory limit.
  var isCrowded: Bool { user.bufferedBytes >= hub.limits.bufferedPerUser }

  /// The bytes of pending output at which the daemon stops reading from the client.
  var outputSoft: Int { isCrowded ? min(Self.crowdedBytes, limits.outputSoft) : limits.outputSoft }

  /// The bytes of output to gather before sending.
  var chunkSize: Int { isCrowded ? Self.crowdedBytes : Hub.chunkSize }

  /// Updates the memory count of this client.
  ///
  /// Call it after every change.
  func noteBuffered() {
    guard !isEnded else { return }
    let bytes = input.keptBytes + outputBytes + held.byteCount + heldLate.byteCount + batchBytes
    user.bufferedBytes += bytes - bufferedBytes
    bufferedBytes = bytes
  }

  /// Refuses a long incomplete line if the user exceeds the memory limit.
  func refuseLongLine() {
    guard isCrowded, input.isWithinLine, input.keptBytes > Self.crowdedBytes else { return }
    input.drop()
    refuse(.null, .limit(.bufferedPerUser, limits, .overloaded))
    noteBuffered()
  }

  /// Returns the error that replaces an answer of `size` bytes, or `nil` if the answer fits.
  func refusal(ofAnswerWith size: Int) -> WireError? {
    guard isCrowded, size > Self.crowdedBytes else { return nil }
    return .limit(.bufferedPerUser, limits, .overloaded)
  }

  /// The bytes available for the next answer outside of a batch.
  var room: Int { isCrowded ? min(lineOut, Self.crowdedBytes) : lineOut }

  /// Calls `answer` now, or later if too much output is pending.
  ///
  /// Use it for answers to late calls, many of which may complete at once.
  package func whenTaken(_ answer: @escaping () -> Void) {
    guard !isEnded else { return }
    guard !postponedAnswers.isEmpty || outputBytes >= outputSoft else { return answer() }
    postponedAnswers.append(answer)
  }

  /// Gives the postponed answers while there is room for output.
  func answerPostponed() {
    var next = 0
    while next < postponedAnswers.count, outputBytes < outputSoft {
      postponedAnswers[next]()
      next += 1
    }
    postponedAnswers.removeFirst(min(next, postponedAnswers.count))
  }
}
