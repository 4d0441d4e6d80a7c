internal import JSON

/// Reads the journal over the socket, page by page.
package struct JournalReader {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let socket: LoadSocket

  package init(_ path: String) throws(Failure) {
    guard let socket = LoadSocket(path) else {
      throw Failure(description: "nobody listens at \(path)")
    }
    self.socket = socket
  }

  private func answer(_ request: String) throws(Failure) -> Answer {
    socket.send(request + "\n")
    var start = monotonicMilliseconds()
    while monotonicMilliseconds() - start < 60_000 {
      waitFor([socket], milliseconds: 1_000)
      for line in socket.lines() {
        if let answer = Answer(line) { return answer }
      }
      if socket.isOver { start = 0 }
    }
    throw Failure(description: "\(request) is not answered")
  }

  private func call(_ request: String) throws(Failure) -> [String: JSONText] {
    let answer = try answer(request)
    guard let result = answer.result else {
      throw Failure(description: "\(request) is refused: \(answer.error ?? "")")
    }
    return result
  }

  /// Binds a cell to another; the binding survives restarts.
  package func bind(_ source: String, to target: String, name: String) throws(Failure) {
    _ = try call(
      #"{"id":1,"method":"bind","params":{"expr":"\#(source) ~> \#(target)","binding":"\#(name)","scope":"daemon"}}"#
    )
  }

  /// Waits until a bound cell has the value of its source.
  package func wait(until target: String, has source: String) throws(Failure) {
    func value(_ source: String) throws(Failure) -> JSONText {
      try answer(#"{"id":1,"method":"get","params":{"source":"\#(source)"}}"#).result?["value"]
        ?? .null
    }
    let start = monotonicMilliseconds()
    while monotonicMilliseconds() - start < 60_000 {
      if try value(source) == value(target) { return }
      waitFor([], milliseconds: 5)
    }
    throw Failure(description: "\(target) does not follow \(source)")
  }

  /// Returns the epoch of the journal.
  package func epoch() throws(Failure) -> String {
    try call(#"{"id":1,"method":"hello"}"#)["epoch"]?.string ?? ""
  }

  /// Returns the first retained position.
  package func first() throws(Failure) -> Int {
    try call(#"{"id":1,"method":"hello"}"#)["first"]?.int ?? 1
  }

  /// Waits until no other client is connected, so that nothing changes any more.
  package func waitForSilence() throws(Failure) {
    let start = monotonicMilliseconds()
    while monotonicMilliseconds() - start < 60_000 {
      let stats = try call(#"{"id":1,"method":"stats"}"#)["stats"]?.members
      if stats?["connections"]?.int == 1 { return }
      waitFor([], milliseconds: 5)
    }
    throw Failure(description: "clients that have gone are still connected")
  }

  /// Passes all events after a position to `take`.
  package func read(after position: Int, _ take: (Event) -> Void) throws(Failure) {
    var position = position
    var isMore = true
    while isMore {
      let page = try call(
        #"{"id":1,"method":"history","params":{"source":"events","after":\#(position),"limit":1000}}"#
      )
      guard let items = page["items"]?.elements, let end = page["after"]?.int else {
        throw Failure(description: "a page of events without items")
      }
      for item in items {
        guard let event = Event(item) else { throw Failure(description: "no event: \(item)") }
        take(event)
      }
      position = end
      isMore = page["more"]?.bool ?? false
    }
  }
}
