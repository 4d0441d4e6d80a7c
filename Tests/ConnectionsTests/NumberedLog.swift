import Connections
import Model
import Signals
import Wire

/// A log of numbered entries; the test appends them and answers reads.
///
/// Positions without entries are possible.
final class NumberedLog {
  /// The key under which clients of the same log share the window in memory.
  let key: String

  init(_ key: String = "log") {
    self.key = key
  }

  let live = PassthroughSubject<LogEntry, Never>()
  private(set) var entries: [LogEntry] = []
  private(set) var last: UInt64 = 0
  private var holes: [ClosedRange<UInt64>] = []

  /// The first retained position.
  var first: UInt64 = 1
  private var readings: [() -> Void] = []
  private(set) var readCount = 0
  private(set) var listenerCount = 0
  var error: WireError?

  func append(_ count: Int, filler: String = "") {
    let batch = (0..<count).map { _ in
      last += 1
      return LogEntry(seq: last, tail: "\"seq\":\(last)\(filler)}}\n")
    }
    entries += batch
    for entry in batch { live.send(entry) }
  }

  /// Advances by positions without entries.
  func pass(_ count: UInt64) {
    last += count
  }

  /// Removes entries between others.
  func remove(_ seqs: ClosedRange<UInt64>) {
    entries.removeAll { seqs.contains($0.seq) }
    holes.append(seqs)
  }

  /// The most entries of each page that was asked for.
  private(set) var limits: [Int] = []

  /// Appends entries that a read finds before the notification; returns the notification.
  func appendUntold(_ count: Int) -> () -> Void {
    let batch = (0..<count).map { _ in
      last += 1
      return LogEntry(seq: last, tail: "\"seq\":\(last)}}\n")
    }
    entries += batch
    return { [self] in for entry in batch { live.send(entry) } }
  }

  var source: LogSource {
    LogSource(
      key: key,
      live: Signal { [self] observer in
        listenerCount += 1
        return live.observe(with: observer.on)
      }, position: { [self] in last }, first: { [self] in first },
      read: { [self] seq, limit in
        Signal { [self] observer in
          limits.append(limit)
          readings.append { [self] in
            if let error { return observer.fail(error) }
            guard seq + 1 >= first else { return observer.fail(WireError(.seqExpired, "gone")) }
            let page = Array(entries.drop { $0.seq <= seq }.prefix(100))
            let end = page.count < 100 ? min(last, seq + 4096) : page.last?.seq ?? seq
            let holes = holes.filter { $0.lowerBound > seq && $0.upperBound < end }
            observer.receive(Page(entries: page, end: end, holes: holes))
            observer.complete()
          }
          return NonDisposable.instance
        }
      })
  }

  /// Answers the pending reads.
  func read() {
    let readings = readings
    self.readings = []
    readCount += readings.count
    for reading in readings { reading() }
  }
}
