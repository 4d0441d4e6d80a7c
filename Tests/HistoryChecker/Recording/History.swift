internal import JSON

/// The record of a time span, and the known past before it.
package struct History: Sendable {
  /// The known past.
  package var past = Past()

  /// The events after ``Past/state``, in journal order.
  package var journal: [Event] = []

  /// The traffic of the clients, in the order of recording.
  package var entries: [Entry] = []

  /// Whether entries were left out, so that gaps are no violation.
  package internal(set) var isPart = false

  /// Whether connections have survived restarts, after which `skipped` of a pattern counts from zero.
  package var hasRestarts = false

  /// The positions of events whose calls were left out.
  package internal(set) var exempt: Set<Int> = []

  /// The last position of the journal, if its last events were left out.
  private var knownEnd: Int?

  package init() {}

  /// The last position of the journal.
  package internal(set) var end: Int {
    get { knownEnd ?? journal.last?.seq ?? past.state.seq }
    set { knownEnd = newValue }
  }

  /// Parses the format of ``text``: transcript lines and journal lines.
  package init(_ text: String) {
    for line in text.split(separator: "\n") {
      guard let space = line.firstIndex(of: " ") else { continue }
      let (head, rest) = (line[..<space], String(line[space...].dropFirst()))
      if head == "journal" {
        if let event = (try? JSONText(parsing: rest)).flatMap(Event.init) { journal.append(event) }
      } else if head.hasSuffix("->") {
        entries.append(Entry(sent: rest, by: String(head.dropLast(2))))
      } else if head.hasSuffix("<-") {
        entries.append(Entry(received: rest, by: String(head.dropLast(2))))
      } else if head.hasSuffix("!") {
        entries.append(Entry(lost: rest, by: String(head.dropLast(1))))
      }
    }
  }

  /// The past, the journal, then the entries.
  package var text: String {
    let before = past.state.sources.map { "# before: \($0) is \(past.state[$0])" }
    return (before + journal.map(\.line) + entries.map(\.line)).joined(separator: "\n")
  }
}

/// The known state before a history.
package struct Past: Sendable {
  /// The state before the first event of the history.
  package var state = State()

  /// The position up to which events were already checked against their calls.
  package var proved = 0

  /// The epoch of the journal, if it is known.
  package var epoch: String?

  /// The bindings of the daemon, by target cell.
  package var bindings: [String: KnownBinding] = [:]

  /// Earlier commands that may still be answered or repeated.
  package var commands: [String: KnownCommand] = [:]

  /// The idempotency keys of all commands in the journal so far.
  package var seen = SeenCommands()

  package init() {}
}

/// A command from before a history.
package struct KnownCommand: Sendable {
  let call: MethodCall
  let expect: [String: Int]
  /// Its effect; `nil` if it is not in the journal.
  let outcome: Effect?
  /// Whether it was answered.
  let isAnswered: Bool
}

/// A cell bound to another; each value follows one write later.
package struct KnownBinding: Sendable {
  let source: String
  /// The position of the last value that the binding wrote.
  var position = 0

  package init(to source: String) {
    self.source = source
  }
}
