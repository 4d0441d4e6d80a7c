extension SQLiteStore {
  /// When an event counts as durable.
  package enum Durability: Equatable, Sendable {
    /// When the disk has it.
    case always
    /// When the kernel has it; the disk has it a number of milliseconds later at the most.
    case interval(milliseconds: UInt64)
    /// When the kernel has it; the disk has it whenever the kernel pleases.
    case os

    var name: String {
      switch self {
      case .always: "always"
      case .interval: "interval"
      case .os: "os"
      }
    }
  }

  /// What becomes of the write-ahead log when another process reads in one long transaction.
  package enum LogNotice: Equatable, Sendable {
    /// It has so many bytes and cannot get shorter; `path` is a file that the other has open.
    case held(bytes: Int, path: String)
    /// It can again.
    case released
  }

  /// How long commits took, since the last question.
  package struct CommitTimes: Equatable {
    package var commits = 0
    package var events = 0
    package var totalNanoseconds: UInt64 = 0
    package var maxNanoseconds: UInt64 = 0

    package var meanMilliseconds: Double {
      commits == 0 ? 0 : Double(totalNanoseconds / UInt64(commits) / 1000) / 1000
    }

    package var maxMilliseconds: Double { Double(maxNanoseconds / 1000) / 1000 }
  }
}
