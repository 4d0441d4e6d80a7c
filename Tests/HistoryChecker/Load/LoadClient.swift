internal import JSON

/// A client of a crowd: it acts at random, disconnects without notice, and returns.
class LoadClient {
  let name: String
  unowned let crowd: Crowd
  var random: SeededRandom
  private(set) var socket: LoadSocket?
  private var lastID = 0

  /// The time until which it does not read, in milliseconds of the monotonic clock.
  private(set) var deafUntil = 0

  init(_ name: String, in crowd: Crowd, seed: UInt64) {
    self.name = name
    self.crowd = crowd
    random = SeededRandom(seed: seed)
  }

  /// Performs one random action.
  func act() {}

  /// Continues its work on a new connection.
  func resume() {}

  /// Takes an entry that was received.
  func take(_ what: Entry.What) {}

  /// Discards the state of the lost connection.
  func forget() {}

  /// The position from which it resumes.
  var cursor: Int { .max }

  /// The commands that it may repeat.
  var repeatable: [String] { [] }

  // MARK: Connection

  final func connect(_ path: String) {
    guard socket == nil, let new = LoadSocket(path) else { return }
    socket = new
    resume()
  }

  /// Disconnects without notice, sometimes within a line.
  final func crash(_ reason: String) {
    guard let socket else { return }
    if random.once(in: 3) { socket.send(#"{"id":1,"method":"cells.add","par"#) }
    lose(reason)
  }

  final func lose(_ reason: String) {
    guard let socket else { return }
    socket.close()
    self.socket = nil
    deafUntil = 0
    crowd.record(Entry(lost: reason, by: name))
    forget()
  }

  /// Stops reading for a time.
  final func becomeDeaf(forMilliseconds time: Int) {
    deafUntil = monotonicMilliseconds() + time
  }

  /// Takes the received lines.
  final func listen() {
    guard let socket else { return }
    for line in socket.lines() {
      let entry = Entry(received: line, by: name)
      crowd.record(entry)
      take(entry.what)
    }
    if socket.isOver {
      crowd.noteDropped()
      lose("hung up on")
    }
  }

  /// Sends a request.
  ///
  /// - Parameter meta: The members of `_meta`; empty for none.
  /// - Returns: Its id, as in the answer.
  @discardableResult
  final func send(
    _ method: String, _ params: [String: JSONText], meta: [String: JSONText] = [:],
    isAnswered: Bool = true
  ) -> String {
    lastID += 1
    var params = params
    if !meta.isEmpty { params["_meta"] = JSONText(members: meta) }
    let id = isAnswered ? #""id":\#(lastID),"# : ""
    let text =
      #"{\#(id)"method":\#(JSONText(string: method)),"params":\#(JSONText(members: params))}"#
    crowd.record(Entry(sent: text, by: name))
    socket?.send(text + "\n")
    return "\(lastID)"
  }
}
