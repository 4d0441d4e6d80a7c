import BinderClient
import Console
import Glibc
import JSON
import Wire

/// What a command is run with.
final class Context {
  let invocation: Invocation
  let output: Output
  let client: BinderClient

  init(_ invocation: Invocation) throws(UsageError) {
    self.invocation = invocation
    output = try Output(invocation)
    client = BinderClient(
      socket: invocation.value("socket"), name: "bindctl", version: Release.version)
    // A pipe whose reader goes away ends a command that waits for something to write.
    if output.isPipe { client.output = STDOUT_FILENO }
    client.onNote = { note($0.forPeople) }
    client.limits = try limits()
  }

  /// For how long answers are waited for: what -t says, else long enough for a daemon that reads a large
  /// journal, and not for ever.
  private func limits() throws(UsageError) -> AnswerLimits {
    if let milliseconds = try milliseconds("timeout") {
      return AnswerLimits(deadline: Deadline(inMilliseconds: milliseconds), noteMilliseconds: 5_000)
    }
    return AnswerLimits(milliseconds: 300_000, noteMilliseconds: 5_000)
  }

  /// The operand at a place; the parser has seen to it that it is there.
  func operand(_ place: Int) -> String {
    place < invocation.operands.count ? invocation.operands[place] : ""
  }

  /// A number that an option gives.
  func number(_ option: String) throws(UsageError) -> UInt64? {
    guard let text = invocation.value(option) else { return nil }
    guard let number = UInt64(text) else {
      throw UsageError("--\(option) takes a number, not '\(text)'", command: invocation.command)
    }
    return number
  }

  /// A span of time that an option gives, in milliseconds.
  func milliseconds(_ option: String) throws(UsageError) -> UInt64? {
    guard let text = invocation.value(option) else { return nil }
    guard let milliseconds = Duration.milliseconds(text) else {
      throw UsageError(
        "--\(option) takes a time as 250ms, 2s, 5m or 1h, not '\(text)'",
        command: invocation.command)
    }
    return milliseconds
  }

  /// A moment that an option gives.
  func moment(_ option: String) throws(UsageError) -> When? {
    guard let text = invocation.value(option) else { return nil }
    return try When(text)
  }
}

/// Says something that is no result, on stderr.
func note(_ text: String) {
  write("bindctl: \(isatty(STDERR_FILENO) == 1 ? text.harmless() : text)\n", to: STDERR_FILENO)
}

extension ConnectionNote {
  fileprivate var forPeople: String {
    switch self {
    case .lost(nil): "the connection is lost; waiting for the daemon"
    case .lost(let reason?): "the daemon has closed the connection (\(reason)); waiting for it"
    case .resumed(nil): "connected again"
    case .resumed(let seq?): "connected again; going on after \(seq)"
    case .silent(let path):
      "somebody has taken the connection at \(path) and says nothing yet: a daemon may be reading its"
        + " journal; Ctrl-C ends the wait"
    }
  }
}
