/// Clients with mixed load, and a record of their traffic.
///
/// All run on one thread, so that the record is ordered.
package final class Crowd {
  /// The entries recorded since ``takeEntries()``.
  private var entries: [Entry] = []
  private var clients: [LoadClient] = []
  private var random: SeededRandom
  private let path: String
  private let actionsPerSecond: Int

  /// The greatest position that a client has received.
  private(set) var known = 0

  /// The position up to which everything was checked, and read by all readers.
  package internal(set) var proved = 0

  /// The position from which on no event was to be removed.
  var compacted = 0

  /// The number of times that a reader has resumed.
  package internal(set) var resumes = 0
  package private(set) var crashes = 0
  package private(set) var repeats = 0

  /// - Parameter size: The number of clients: of four, two write, one watches and one reads. There
  ///   is also one housekeeper.
  package init(
    of size: Int = 16, at path: String, seed: UInt64, actionsPerSecond: Int
  ) {
    self.path = path
    self.actionsPerSecond = actionsPerSecond
    random = SeededRandom(seed: seed)
    for i in 0..<size {
      let seed = random.next()
      switch i % 8 {
      case 0, 2, 4, 6: clients.append(Writer("writer\(i)", in: self, seed: seed))
      case 1, 5: clients.append(Watcher("watcher\(i)", in: self, seed: seed))
      case 3: clients.append(Reader("reader\(i)", "events", in: self, seed: seed))
      default:
        clients.append(
          i % 16 == 7
            ? Reader("reader\(i)", "cells/**", in: self, seed: seed)
            : Reader("reader\(i)", "events", types: "lists.*", in: self, seed: seed))
      }
    }
    clients.append(Housekeeper("housekeeper", in: self, seed: random.next()))
  }

  /// Called at the end of a round, before clients are killed.
  package var beforeEnd: () -> Void = {}

  /// Whether clients stay connected when the daemon is restarted.
  ///
  /// Then they do not crash by themselves.
  package var isSteady = false

  /// The number of connections that the daemon has ended.
  package private(set) var dropped = 0

  func noteDropped() { dropped += 1 }

  /// Runs the clients for a time.
  package func work(milliseconds: Int) {
    let start = monotonicMilliseconds()
    var done = 0
    while case let time = monotonicMilliseconds() - start, time < milliseconds {
      for client in clients where client.socket == nil { client.connect(path) }
      while done < time * actionsPerSecond / 1000,
        let client = clients.randomElement(using: &random)
      {
        done += 1
        if !isSteady, random.once(in: 200) {
          client.crash("killed")
          crashes += 1
        } else if client.socket != nil {
          client.act()
        }
      }
      listen(milliseconds: 5)
    }
    beforeEnd()
  }

  /// Takes an entry that was received.
  private func listen(milliseconds: Int) {
    let now = monotonicMilliseconds()
    let awake = clients.filter { $0.deafUntil <= now }
    let ready = waitFor(awake.compactMap(\.socket), milliseconds: milliseconds)
    for socket in ready { socket.flush() }
    for client in awake where ready.contains(where: { $0 === client.socket }) { client.listen() }
  }

  /// Receives the remaining output of a daemon that has ended or is ending.
  package func listenToTheEnd() {
    let start = monotonicMilliseconds()
    while clients.contains(where: { $0.socket != nil }), monotonicMilliseconds() - start < 60_000 {
      for client in clients { client.listen() }
      waitFor(clients.compactMap(\.socket), milliseconds: 5)
    }
    leave("given up")
  }

  /// Disconnects all clients at once.
  package func leave(_ reason: String) {
    for client in clients { client.lose(reason) }
  }

  func record(_ entry: Entry) {
    entries.append(entry)
    switch entry.what {
    case .answered(let answer):
      if let seq = answer.seq { known = max(known, seq) }
      if answer.isReplayed { repeats += 1 }
    case .told(let notice): if let seq = notice.seq { known = max(known, seq) }
    default: break
    }
  }

  /// Returns the recorded entries and removes them.
  package func takeEntries() -> [Entry] {
    defer { entries = [] }
    return entries
  }

  /// The position from which all readers can resume.
  package var cursor: Int { clients.map(\.cursor).min() ?? .max }

  /// The commands that may be repeated.
  package var repeatable: Set<String> { Set(clients.flatMap(\.repeatable)) }
}
