internal import JSON

/// One of a crowd: it does at random what clients do, leaves without a word, and comes back.
class LoadClient {
  let name: String
  unowned let crowd: Crowd
  var random: SeededRandom
  private(set) var socket: LoadSocket?
  private var lastID = 0

  /// Until when it does not read, in milliseconds.
  private(set) var deafUntil = 0

  init(_ name: String, in crowd: Crowd, seed: UInt64) {
    self.name = name
    self.crowd = crowd
    random = SeededRandom(seed: seed)
  }

  /// Does one thing.
  func act() {}

  /// Takes up what it was at before.
  func resume() {}

  /// Takes what has come.
  func take(_ what: Entry.What) {}

  /// The connection is over.
  func forget() {}

  /// From which position on it wants to read when it comes back.
  var cursor: Int { .max }

  /// Commands that it may ask for again.
  var repeatable: [String] { [] }

  // MARK: Connection

  final func connect(_ path: String) {
    guard socket == nil, let new = LoadSocket(path) else { return }
    socket = new
    resume()
  }

  /// Leaves without a word, at times within a line.
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

  /// Does not read for a while.
  final func becomeDeaf(forMilliseconds time: Int) {
    deafUntil = monotonicMilliseconds() + time
  }

  /// Takes the lines that have come.
  final func listen() {
    guard let socket else { return }
    for line in socket.lines() {
      let entry = Entry(received: line, by: name)
      crowd.record(entry)
      take(entry.what)
    }
    if socket.isOver { lose("hung up on") }
  }

  /// Sends a request.
  ///
  /// - Parameter meta: The members of `_meta`; empty for none.
  /// - Returns: Its id, as the answer has it.
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
