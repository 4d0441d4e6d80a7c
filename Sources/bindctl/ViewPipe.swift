import BinderClient
import Console
import Glibc
import JSON
import Wire

/// Views as lines of JSON on stdin and stdout.
final class ViewPipe {
  private let link: ViewLink
  private let output: Output
  private let client: BinderClient

  /// The file whose saved versions are shown; `nil` for none.
  private let followed: FollowedFile?
  private var input = LineSplitter(limit: 1 << 20)
  private var first: JSONValue = .null

  /// The pending requests, by ID.
  private var waiting: [Int: JSONObject] = [:]
  private var isInputOpen = true
  private var isOpen = false
  private var wasLost = false

  /// The final `sync` request; `nil` before the end of the input, and after its answer.
  private var last: Int?

  /// The line of the input that could not be read; the answers to those before it come first.
  private var fault: UsageError?

  /// Whether only answers that come in a later turn are missing.
  private var isSynchronized = false

  init(
    _ link: ViewLink, _ output: Output, _ client: BinderClient, following file: FollowedFile?
  ) {
    (self.link, self.output, self.client) = (link, output, client)
    followed = file
  }

  func run() throws -> ExitCode {
    while true {
      // Negative descriptors are ignored by poll.
      var ends = [
        pollfd(fd: link.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isInputOpen && isOpen ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: output.isPipe ? STDOUT_FILENO : -1, events: 0, revents: 0),
      ]
      let count = poll(
        &ends, nfds_t(ends.count), FollowedFile.pollTime(link.pollTime, followed))
      if count < 0 { continue }
      if ends[2].revents & Int16(POLLERR) != 0 { return .readerGone }
      if ends[1].revents != 0 { readInput() }
      switch followed?.change {
      case .text(let text)?: link.replace(by: text)
      case .fault(let fault)?: note(fault)
      case nil: break
      }
      guard count == 0 || ends[0].revents != 0 else { continue }
      for one in try link.receive() where try write(one) {
        if let fault { throw fault }
        return .done
      }
    }
  }

  /// - Returns: Whether the program is done.
  private func write(_ news: ViewLink.News) throws -> Bool {
    switch news {
    case .open(let answer):
      if wasLost { client.onNote?(.resumed(after: nil)) }
      isOpen = true
      first = answer["view"] ?? .null
      output.line(JSONValue.object(answer).text.text)
    case .changed:
      output.line(
        JSONValue.object(["closed": .object(["view": first, "reason": .string("changed")])]).text
          .text)
    case .refused(let error): note(error.description)
    case .lost(let reason): try lose(reason)
    case .notification(let method, let params):
      output.line(JSONValue.object([method: .object(params)]).text.text)
      return method == "closed" && params["view"] == first
        || method == "fail" && params["view"] == first
    case .answer(let id, let result):
      guard var answer = waiting.removeValue(forKey: id) else {
        if id == last { isSynchronized = true }
        return isSynchronized && waiting.isEmpty
      }
      switch result {
      case .success(let object): for member in object.members { answer[member.name] = member.value }
      case .failure(.refused(let error)):
        var text = ByteBuffer()
        error.write(to: &text)
        answer["error"] = try JSONValue(parsing: text.string, maxMembers: JSONLimits.anyMembers)
      case .failure(.unknownError(let error)): answer["error"] = error.value
      case .failure(let error): throw error
      }
      output.line(JSONValue.object(["answer": .object(answer)]).text.text)
      return isSynchronized && waiting.isEmpty
    }
    return false
  }

  /// Reports the loss of the daemon, with the unanswered requests.
  ///
  /// - Throws: ``ClientError`` after the end of the input, because there is nothing left to wait
  ///   for.
  private func lose(_ reason: String?) throws {
    guard isInputOpen else { throw ClientError.lost(reason: reason) }
    (isOpen, wasLost) = (false, true)
    client.onNote?(.lost(reason: reason))
    var lost = JSONObject()
    lost["reason"] = reason.map { .string($0) }
    let unanswered = waiting.sorted { $0.key < $1.key }.map { JSONValue.object($0.value) }
    if !unanswered.isEmpty { lost["unanswered"] = .array(unanswered) }
    waiting = [:]
    output.line(JSONValue.object(["lost": .object(lost)]).text.text)
  }

  private func readInput() {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    var lines: [JSONText?] = []
    let take: LineSplitter.Taker = { line in
      guard let line else {
        lines.append(nil)
        return .done
      }
      if !line.isEmpty { lines.append(try? JSONText(parsing: line)) }
      return .done
    }
    if count > 0 {
      chunk.withUnsafeBufferPointer { input.feed($0.extracting(..<count).span, take) }
    } else {
      isInputOpen = false
      input.finish(take)
    }
    do throws(UsageError) {
      for line in lines { try ask(line) }
    } catch {
      (fault, isInputOpen) = (error, false)
    }
    // The changes caused by the intents arrive before this reply.
    if !isInputOpen { last = link.send("sync", [:]) }
  }

  private func ask(_ line: JSONText?) throws(UsageError) {
    guard case .object(let asked)? = line?.value else {
      throw UsageError("a line of stdin is not a JSON object", command: "open")
    }
    if let view = asked["close"] {
      waiting[link.send("close", ["view": view])] = ["close": view]
      return
    }
    guard let intent = asked["intent"] else {
      throw UsageError(#"a line of stdin has neither "intent" nor "close""#, command: "open")
    }
    var params: JSONObject = ["view": asked["view"] ?? first, "name": intent]
    params["args"] = asked["args"]
    params["_meta"] = asked["_meta"]
    waiting[link.send("intent", params)] = ["intent": intent]
  }
}
