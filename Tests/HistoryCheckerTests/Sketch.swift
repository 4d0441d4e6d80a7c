import HistoryChecker

/// Builds the history of a correct daemon line by line, so that a test can falsify one of them.
struct Sketch {
  private(set) var journal: [String] = []
  private(set) var lines: [String] = []
  private var versions: [String: Int] = [:]
  private var counts: [String: Int] = [:]

  var text: String { (journal + lines).joined(separator: "\n") }
  var history: History { History(text) }

  mutating func line(_ line: String) {
    lines.append(line)
  }

  /// Adds a command, its event and its answer.
  mutating func write(
    _ client: String, _ method: String, _ params: String, returns value: String, type: String,
    stream: String, data: String, isAnswered: Bool = true
  ) {
    let (seq, version) = (journal.count + 1, versions[stream, default: 0] + 1)
    versions[stream] = version
    let number = counts[client, default: 0] + 1
    counts[client] = number
    journal.append(
      #"journal {"seq":\#(seq),"event":{"type":"\#(type)","stream":"\#(stream)","version":\#(version),"data":\#(data),"cmd":"\#(client)-\#(number)"}}"#
    )
    lines.append(
      #"\#(client)-> {"id":\#(number),"method":"\#(method)","params":{\#(params),"_meta":{"cmd":"\#(client)-\#(number)"}}}"#
    )
    guard isAnswered else { return }
    lines.append(
      #"\#(client)<- {"id":\#(number),"result":{"value":\#(value),"seq":\#(seq),"version":\#(version)}}"#
    )
  }

  mutating func set(_ client: String, _ cell: String, _ value: Int, isAnswered: Bool = true) {
    write(
      client, "cells.set", #""name":"\#(cell)","value":\#(value)"#, returns: "\(value)",
      type: "cells.set", stream: "cells/\(cell)", data: #"{"value":\#(value)}"#,
      isAnswered: isAnswered)
  }

  mutating func insert(_ client: String, _ list: String, _ value: Int, at: Int) {
    write(
      client, "lists.insert", #""name":"\#(list)","at":\#(at),"value":\#(value)"#, returns: "\(at)",
      type: "lists.inserted", stream: "lists/\(list)", data: #"{"at":\#(at),"value":\#(value)}"#)
  }

  /// Adds unrelated commands of other clients.
  mutating func noise(_ count: Int) {
    for i in 0..<count {
      set("noise\(i % 3)", "noise\(i % 5)", i)
      if i % 4 == 0 { insert("noise\(i % 3)", "noise", i, at: 0) }
    }
  }

  /// Returns the history with one line replaced.
  func spoiled(_ line: String, _ other: String) -> History {
    History(text.replacing(line, with: other))
  }
}

/// Returns the violation in a history and a minimal history with it; empty if there is none.
func smallest(_ history: History) -> String {
  do throws(Violation) {
    _ = try HistoryChecker.check(history)
    return ""
  } catch {
    let example = Counterexample(of: history, breaking: error)
    return "\(error)\n\(example.history.text)"
  }
}
