internal import JSON

/// What was recorded between two moments, and what is known of the time before.
package struct History: Sendable {
  /// What is known of the time before.
  package var past = Past()

  /// The events behind ``Past/state``, in the order in which the journal gives them.
  package var journal: [Event] = []

  /// What the clients did and saw, in the order in which it happened to whoever recorded it.
  package var entries: [Entry] = []

  /// Whether something was left out of it, so that holes are no fault.
  package internal(set) var isPart = false

  /// Events whose calls were left out.
  package internal(set) var exempt: Set<Int> = []

  /// The last position of the journal, when its last events were left out.
  private var knownEnd: Int?

  package init() {}

  /// The last position of the journal.
  package internal(set) var end: Int {
    get { knownEnd ?? journal.last?.seq ?? past.state.seq }
    set { knownEnd = newValue }
  }

  /// A history by its text, as ``text`` gives it: lines of transcripts, and those of the journal.
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

  /// What was before, the journal, then what was recorded.
  package var text: String {
    let before = past.state.sources.map { "# before: \($0) is \(past.state[$0])" }
    return (before + journal.map(\.line) + entries.map(\.line)).joined(separator: "\n")
  }
}

/// What is known of the time before a history.
package struct Past: Sendable {
  /// The state behind which the journal of the history begins.
  package var state = State()

  /// Events up to here were held against their calls already.
  package var proved = 0

  /// The identity of the journal, when it is known.
  package var epoch: String?

  /// The bindings that the daemon keeps, by the cell that follows another.
  package var bindings: [String: KnownBinding] = [:]

  /// Commands of before that may be answered, or asked for again.
  package var commands: [String: KnownCommand] = [:]

  /// The identities of all commands that were in the journal.
  package var seen = SeenCommands()

  package init() {}
}

/// A command of the time before a history.
package struct KnownCommand: Sendable {
  let call: MethodCall
  let expect: [String: Int]
  /// What its answer is; `nil` when it is not in the journal.
  let outcome: Effect?
  /// Whether it was answered.
  let isAnswered: Bool
}

/// A cell that follows another, one write later.
package struct KnownBinding: Sendable {
  let source: String
  /// The position of the value that it was given last.
  var position = 0

  package init(to source: String) {
    self.source = source
  }
}
