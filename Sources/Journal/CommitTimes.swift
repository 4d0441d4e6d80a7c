/// The durations of commits since they were last taken.
package struct CommitTimes: Equatable, Sendable {
  package var commits = 0
  package var events = 0
  package var totalNanoseconds: UInt64 = 0
  package var maxNanoseconds: UInt64 = 0

  package init() {}

  package var meanMilliseconds: Double {
    commits == 0 ? 0 : Double(totalNanoseconds / UInt64(commits) / 1000) / 1000
  }

  package var maxMilliseconds: Double { Double(maxNanoseconds / 1000) / 1000 }
}
