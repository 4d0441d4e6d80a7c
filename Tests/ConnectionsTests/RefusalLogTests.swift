import Connections
import TestSupport
import Testing

@Suite(.leavesNothing)
struct RefusalLogTests {
  private final class Lines {
    var all: [String] = []
  }

  private let time = ManualTime()
  private let lines = Lines()
  private let refusals: RefusalLog

  init() {
    refusals = RefusalLog(on: time) { [lines] text, _, _ in lines.all.append(text) }
  }

  /// Returns the lines written since the last call.
  private func take() -> [String] {
    defer { lines.all = [] }
    return lines.all
  }

  @Test
  func `each refusal is logged with uid and pid, and repeats are counted`() {
    for pid in 1...20 as ClosedRange<Int32> { refusals.write(uid: 7, pid: pid, "to call a") }
    #expect(take() == (1...20).map { "refused uid 7 pid \($0): to call a" })
    refusals.write(uid: 7, pid: 1, "to call b")
    refusals.write(uid: 8, pid: 1, "to call b")
    for _ in 0..<1_000 { refusals.write(uid: 7, pid: 1, "to call a") }
    #expect(take() == ["refused uid 7 pid 1: to call b", "refused uid 8 pid 1: to call b"])
  }

  @Test
  func `a count is logged when the period ends, also without new refusals`() {
    for _ in 0..<5 { refusals.write(uid: 7, pid: 1, "to call a") }
    #expect(take().count == 1)
    time.advance(9_999)
    #expect(take() == [])
    time.advance(1)
    #expect(take() == ["refused uid 7 pid 1: to call a; 4 times more"])
    // Further refusals are only counted.
    refusals.write(uid: 7, pid: 1, "to call a")
    #expect(take() == [])
    time.advance(10_000)
    #expect(take() == ["refused uid 7 pid 1: to call a; 1 times more"])
    // After the pause refusals are written again, and no timer is pending.
    time.advance(10_000)
    #expect(take() == [])
    #expect(time.count == 0)
    refusals.write(uid: 7, pid: 1, "to call a")
    #expect(take() == ["refused uid 7 pid 1: to call a"])
  }

  @Test
  func `varied refusals of one user do not fill the log, and hide no other user`() {
    for i in 0..<10_000 { refusals.write(uid: 7, pid: 3, "to read cells/\(i)") }
    #expect(take().count == 64)
    refusals.write(uid: 8, pid: 4, "to connect")
    #expect(take() == ["refused uid 8 pid 4: to connect"])
    time.advance(10_000)
    #expect(take() == ["refused uid 7 pid 3 and before: 9936 more were not logged"])
  }

  @Test
  func `pending counts are logged at shutdown`() {
    for _ in 0..<3 { refusals.write(uid: 7, pid: 1, "to call a") }
    refusals.finish()
    #expect(take().last == "refused uid 7 pid 1: to call a; 2 times more")
    #expect(time.count == 0)
  }

  @Test
  func `a long refusal is cut at a character, and compared by the rest`() {
    let long = "to call " + String(repeating: "é", count: 500_000)
    refusals.write(uid: 7, pid: 1, long)
    refusals.write(uid: 7, pid: 1, long + "x")
    let lines = take()
    #expect(lines == ["refused uid 7 pid 1: to call " + String(repeating: "é", count: 96) + "…"])
    time.advance(10_000)
    #expect(take() == [(lines.first ?? "") + "; 1 times more"])
  }
}
