internal import EventLoop
internal import Journal
internal import Model

/// The connections of a store that only read, and the threads that wait for the server.
struct PostgresReaders {
  /// Reads before the loop runs, and blocks the caller.
  let start: PostgresReader
  private var threads: Threads?

  /// Each starts with its first job.
  private struct Threads {
    let prompt: Background<any JournalReader>
    let long: Background<any JournalReader>
    let care: Background<any JournalReader>
    let trial: Background<any JournalReader>

    /// Writes snapshots, and removes events.
    let chores: Background<PostgresChores>
  }

  init(_ string: ConnectionString, on loop: Loop) {
    start = PostgresReader(string)
    func reader(isLowPriority: Bool) -> Background<any JournalReader> {
      Background(on: loop, isLowPriority: isLowPriority) {
        PostgresReader(string, isServing: true)
      }
    }
    threads = Threads(
      prompt: reader(isLowPriority: false), long: reader(isLowPriority: true),
      care: reader(isLowPriority: true), trial: reader(isLowPriority: true),
      chores: Background(on: loop, isLowPriority: true) { PostgresChores(string) })
  }

  /// The thread that writes snapshots, and removes events; `nil` after the end.
  var chores: Background<PostgresChores>? { threads?.chores }

  /// Returns the thread for a pace; `nil` after the end.
  func thread(for pace: ReadingPace) -> Background<any JournalReader>? {
    switch pace {
    case .prompt: threads?.prompt
    case .long: threads?.long
    case .care: threads?.care
    case .trial: threads?.trial
    }
  }

  /// Ends the threads.
  ///
  /// - Parameter isAway: Whether the database is away: a thread that waits for it ends with the
  ///   process.
  mutating func close(isAway: Bool) {
    guard let threads else { return }
    self.threads = nil
    for reader in [threads.prompt, threads.long, threads.care, threads.trial] {
      if isAway { reader.abandon() } else { reader.close() }
    }
    if isAway { threads.chores.abandon() } else { threads.chores.close() }
  }
}
