/// Clients that do everything at once, and a record of it; one thread, so that the record has an order.
package final class Crowd {
  /// What was recorded since it was taken last.
  private var entries: [Entry] = []
  private var clients: [LoadClient] = []
  private var random: SeededRandom
  private let path: String
  private let actionsPerSecond: Int

  /// The greatest position that anybody was shown.
  private(set) var known = 0

  /// Up to where everything was checked, and read by all readers.
  package internal(set) var proved = 0

  /// Nothing from here on was ever to be removed.
  var compacted = 0

  /// How often a reader has gone on where it was, and how often clients were killed.
  package internal(set) var resumes = 0
  package private(set) var crashes = 0
  package private(set) var repeats = 0

  /// - Parameter size: How many there are: two of four write, one watches, one reads. Beside them is
  ///   one housekeeper.
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

  /// Called when the time of a round is over, before anybody is killed.
  package var beforeEnd: () -> Void = {}

  /// Works for a time.
  package func work(milliseconds: Int) {
    let start = monotonicMilliseconds()
    var done = 0
    while case let time = monotonicMilliseconds() - start, time < milliseconds {
      for client in clients where client.socket == nil { client.connect(path) }
      while done < time * actionsPerSecond / 1000,
        let client = clients.randomElement(using: &random)
      {
        done += 1
        if random.once(in: 200) {
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

  /// Takes what has come.
  private func listen(milliseconds: Int) {
    let now = monotonicMilliseconds()
    let awake = clients.filter { $0.deafUntil <= now }
    let ready = waitFor(awake.compactMap(\.socket), milliseconds: milliseconds)
    for socket in ready { socket.flush() }
    for client in awake where ready.contains(where: { $0 === client.socket }) { client.listen() }
  }

  /// Takes all that a daemon that has ended, or is ending, had still sent.
  package func listenToTheEnd() {
    let start = monotonicMilliseconds()
    while clients.contains(where: { $0.socket != nil }), monotonicMilliseconds() - start < 20_000 {
      for client in clients { client.listen() }
      waitFor(clients.compactMap(\.socket), milliseconds: 5)
    }
    leave("given up")
  }

  /// All leave at once, without a word.
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

  /// Hands over what was recorded.
  package func takeEntries() -> [Entry] {
    defer { entries = [] }
    return entries
  }

  /// From where on all readers can go on.
  package var cursor: Int { clients.map(\.cursor).min() ?? .max }

  /// The commands that may be asked for again.
  package var repeatable: Set<String> { Set(clients.flatMap(\.repeatable)) }
}
