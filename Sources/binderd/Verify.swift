import EventLoop
import Glibc
import Journal
import JournalSQLite

/// Reads a whole journal and says what it holds and what is damaged.
///
/// - Returns: 0 when everything reads back, 1 when something does not, 78 when it cannot be opened.
func verify(_ path: String) -> CInt {
  do throws(JournalError) {
    let report = try JournalCheck(path: path).run()
    print(
      "\(path): epoch \(report.epoch), events \(report.first) to \(report.last)")
    for damage in report.damages { print("damaged: \(damage)") }
    let kept = report.last + 1 - report.first - report.removed
    print("\(report.count) of \(kept) events read back")
    return report.damages.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE
  } catch {
    print("\(error)")
    return EX_CONFIG
  }
}
