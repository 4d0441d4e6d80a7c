internal import Glibc
internal import HistoryChecker

/// Mixed load on a daemon that is killed repeatedly, checked after each round.
enum Soak {
  private static let usage =
    "usage: soak MINUTES BINDERD DIRECTORY [SEED] [ACTIONS_PER_SECOND] [SERVICE_MANAGER]"

  /// The number of rounds between restarts of the daemon, repeated in this order.
  private static let lives = [1, 2, 1, 4, 1, 1, 10]

  private static let roundMilliseconds = 20_000

  /// The time between restarts by a service manager.
  private static let restartMilliseconds = 200

  static func run(_ arguments: [String]) -> CInt {
    guard arguments.count >= 4, let minutes = Int(arguments[1]), minutes > 0 else {
      print(usage)
      return EX_USAGE
    }
    let seed = arguments.count > 4 ? UInt64(arguments[4]) : nil
    let rate = arguments.count > 5 ? Int(arguments[5]) : nil
    let manager = arguments.count > 6 ? arguments[6] : nil
    do {
      return try run(
        minutes: minutes, arguments[2], arguments[3], under: manager,
        seed: seed ?? UInt64(getpid()), actionsPerSecond: rate ?? 400)
    } catch {
      print("soak: \(error)")
      return EXIT_FAILURE
    }
  }

  private static func run(
    minutes: Int, _ executable: String, _ directory: String, under manager: String?, seed: UInt64,
    actionsPerSecond: Int
  ) throws -> CInt {
    print(
      "seed \(seed), \(actionsPerSecond) actions a second, files in \(directory)")
    fflush(nil)
    let daemon = try LoadedDaemon(executable, in: directory, under: manager)
    let crowd = Crowd(at: daemon.socket, seed: seed, actionsPerSecond: actionsPerSecond)
    let trial = try Trial(daemon, crowd)
    trial.onViolation = { violation, history in
      let file = "\(directory)/history"
      print("broken: \(violation)\nthe whole history is in \(file), the smallest one comes")
      if let output = fopen(file, "w") {
        fputs(history.text, output)
        fclose(output)
      }
      fflush(nil)
    }
    var random = SeededRandom(seed: seed)
    var summary = Summary()
    var plan = Plan(lives)
    let end = monotonicMilliseconds() + minutes * 60_000
    while monotonicMilliseconds() < end {
      let how = plan.next(&random)
      crowd.beforeEnd = { summary.sample(daemon.residentKibibytes) }
      let time = min(roundMilliseconds, max(1_000, end - monotonicMilliseconds()))
      let failure: Counterexample?
      if manager == nil {
        failure = try trial.round(milliseconds: time, how)
      } else {
        crowd.isSteady = true
        failure = try trial.restarts(
          time / restartMilliseconds, everyMilliseconds: restartMilliseconds
        ) {
          _ in random.below(5) > 0
        }
      }
      summary.count(how)
      if let failure {
        print("\n\(failure)\nthe daemon's files are left in \(directory)")
        return EXIT_FAILURE
      }
      if summary.rounds % 10 == 0, case let code = daemon.verify(), code != 0 {
        print("binderd --verify says \(code); see \(daemon.log)")
        return EXIT_FAILURE
      }
      print(summary.line(trial))
      fflush(nil)
    }
    let (isUnchanged, removed) = try trial.isUnchanged()
    let code = max(daemon.verify(), daemon.end(SIGTERM))
    print(summary.text(trial, minutes: minutes, removed: removed))
    if !isUnchanged { print("the journal is not what it was when it was read piece by piece") }
    if code != 0 { print("binderd, or its --verify, has ended with \(code)") }
    return isUnchanged && code == 0 && summary.isFlat != false ? EXIT_SUCCESS : EXIT_FAILURE
  }
}

/// The end of each round.
private struct Plan {
  private let lives: [Int]
  private var life = 0
  private var round = 0

  init(_ lives: [Int]) {
    self.lives = lives
  }

  mutating func next(_ random: inout SeededRandom) -> Trial.End {
    round += 1
    guard round >= lives[life % lives.count] else { return .clientsKilled }
    round = 0
    life += 1
    switch random.below(5) {
    case 0: return .daemonEnded
    case 1: return .allKilled
    default: return .daemonKilled
    }
  }
}
