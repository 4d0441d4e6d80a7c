internal import JSON
internal import Wire

/// What the daemon holds for a client, and for all clients of its user together.
///
/// While it holds more than `buffered_user` for a user, it gathers no more than a few KiB for each of
/// the user's clients at a time: it reads from a client only when that has taken its answers, refuses
/// what is longer, and sends what is watched in small pieces.
extension Connection {
  /// Bytes of an answer, of a line without an end or of output that are always taken.
  static let crowdedBytes = 4 << 10

  /// Whether as much is held for the clients of the user as may be.
  var isCrowded: Bool { user.bufferedBytes >= hub.limits.bufferedPerUser }

  /// Bytes of output from which on the client is read no more.
  var outputSoft: Int { isCrowded ? min(Self.crowdedBytes, limits.outputSoft) : limits.outputSoft }

  /// How much output is gathered before it is sent.
  var chunkSize: Int { isCrowded ? Self.crowdedBytes : Hub.chunkSize }

  /// Counts what is held for this client; to be called whenever something has come or left.
  func noteBuffered() {
    guard !isEnded else { return }
    let bytes = input.keptBytes + outputBytes + held.byteCount + heldLate.byteCount + batchBytes
    user.bufferedBytes += bytes - bufferedBytes
    bufferedBytes = bytes
  }

  /// Refuses a line that has begun and not ended, when too much is held for the user already.
  func refuseLongLine() {
    guard isCrowded, input.isWithinLine, input.keptBytes > Self.crowdedBytes else { return }
    input.drop()
    refuse(.null, .limit(.bufferedPerUser, limits, .overloaded))
    noteBuffered()
  }

  /// The error in place of an answer of some bytes, when that cannot be held.
  func refusal(ofAnswerWith size: Int) -> WireError? {
    guard isCrowded, size > Self.crowdedBytes else { return nil }
    return .limit(.bufferedPerUser, limits, .overloaded)
  }

  /// Bytes that the next answer may have, outside of a batch.
  var room: Int { isCrowded ? min(lineOut, Self.crowdedBytes) : lineOut }

  /// Calls `answer` when the client takes its output: now, or later.
  ///
  /// For answers to async calls, which may come all at once.
  package func whenTaken(_ answer: @escaping () -> Void) {
    guard !isEnded else { return }
    guard !postponedAnswers.isEmpty || outputBytes >= outputSoft else { return answer() }
    postponedAnswers.append(answer)
  }

  /// Gives the answers that have waited for the client to take its output.
  func answerPostponed() {
    var next = 0
    while next < postponedAnswers.count, outputBytes < outputSoft {
      postponedAnswers[next]()
      next += 1
    }
    postponedAnswers.removeFirst(min(next, postponedAnswers.count))
  }
}
