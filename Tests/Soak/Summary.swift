internal import HistoryChecker

/// The results of a soak.
struct Summary {
  private var kills = 0
  private var ends = 0
  private(set) var rounds = 0

  /// The daemon's resident memory in KiB at the end of each round.
  private var memory: [Int] = []

  mutating func sample(_ kibibytes: Int) {
    memory.append(kibibytes)
  }

  mutating func count(_ end: Trial.End) {
    rounds += 1
    switch end {
    case .daemonKilled, .allKilled: kills += 1
    case .daemonEnded: ends += 1
    case .clientsKilled: break
    }
  }

  /// Whether memory is flat: the median of the last quarter of the rounds is at most 10 % over that
  /// of the second quarter.
  ///
  /// By the second quarter the daemon remembers its maximum number of command ids. `nil` if there
  /// were too few rounds.
  var isFlat: Bool? {
    let quarter = memory.count / 4
    guard quarter >= 15 else { return nil }
    return median(memory.suffix(quarter)) * 10 <= median(memory[quarter..<2 * quarter]) * 11
  }

  private func median(_ values: ArraySlice<Int>) -> Int {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  func line(_ trial: Trial) -> String {
    "round \(rounds): \(trial.events) events, \(trial.lines) lines, \(kills) kills, \(trial.crowd.crashes) of clients, RSS \(memory.last ?? 0) KiB"
  }

  func text(_ trial: Trial, minutes: Int, removed: Int) -> String {
    let flat = isFlat.map { $0 ? "flat" : "not flat" } ?? "too short to say whether flat"
    let quarter = memory.count / 4
    return """

      \(minutes) minutes, \(rounds) rounds, every one proved
      events            \(trial.events)
      events removed    \(removed), by compactions while all went on
      lines checked     \(trial.lines)
      daemon            killed \(kills) times, ended in order \(ends) times
      clients killed    \(trial.crowd.crashes), and all of them at the end of each round
      commands repeated \(trial.crowd.repeats)
      readers resumed   \(trial.crowd.resumes)
      RSS               first \(memory.first ?? 0) KiB, last \(memory.last ?? 0), most \(memory.max() ?? 0); medians of \
      the second and the last quarter \(median(memory.dropFirst(quarter).prefix(quarter))) and \
      \(median(memory.suffix(quarter))): \(flat)
      nothing lost, nothing doubled, nothing out of order
      """
  }
}
