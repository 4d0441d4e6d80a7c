/// The idempotency keys of commands in the journal, in bounded memory.
///
/// Of keys `NAME-NUMBER` the newest of each name are kept; an older one counts as seen.
package struct SeenCommands: Sendable {
  private struct Numbers {
    var newest = 0
    var numbers: Set<Int> = []
  }

  /// The number of keys kept for each name.
  private static let window = 20_000

  private var names: [Substring: Numbers] = [:]
  private var others: Set<String> = []

  /// Adds a key; returns whether it was new.
  mutating func insert(_ command: String) -> Bool {
    guard let dash = command.lastIndex(of: "-"),
      let number = Int(command[dash...].dropFirst())
    else { return others.insert(command).inserted }
    var known = names.removeValue(forKey: command[..<dash]) ?? Numbers()
    defer { names[command[..<dash]] = known }
    guard number > known.newest - Self.window else { return false }
    known.newest = max(known.newest, number)
    if known.numbers.count > 2 * Self.window {
      known.numbers = known.numbers.filter { $0 > known.newest - Self.window }
    }
    return known.numbers.insert(number).inserted
  }
}
