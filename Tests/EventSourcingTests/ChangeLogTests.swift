import JSON
import Model
import TestSupport
import Testing

@testable import EventSourcing

/// The changes that the observers of patterns have not collected.
@Suite(.leavesNothing)
struct ChangeLogTests {
  private func change(_ source: Int, _ value: Int?, before: Int? = nil) -> SourceChange {
    SourceChange(
      source: "cells/c\(source)", seq: 1, value: value.map { JSONText($0) },
      before: before.map { JSONText($0) })
  }

  /// Returns all changes of a log in their order.
  private func runs(of log: ChangeLog) -> [ChangeRun] {
    var (runs, next) = ([ChangeRun](), log.place(from: 0))
    while let place = next {
      runs.append(log[place])
      next = log.place(after: place)
    }
    return runs
  }

  @Test(arguments: [(3, 4_700), (10_000, 22_600), (40_000, 90_100)])
  func `changes that nobody collects are joined in short steps`(sources: Int, most: Int) {
    let log = ChangeLog()
    log.feedFellBehind()
    var (before, found, step) = (0, 0, 0)
    for i in 0..<100_000 {
      _ = log.append(change(i % sources, i))
      step = max(step, before + 1 - log.count)
      found = max(found, log.count)
      before = log.count
    }
    #expect(step <= ChangeLog.joinedAtOnce)
    #expect(found <= most)
    let runs = runs(of: log)
    #expect(runs.count == log.count)
    #expect(runs.reduce(0) { $0 + $1.count } == 100_000)
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.number < $1.number })
    var last: [String: JSONText] = [:]
    for run in runs { last[run.newest.source] = run.newest.value }
    #expect(last.count == sources)
    for i in 100_000 - sources..<100_000 {
      #expect(last["cells/c\(i % sources)"] == JSONText(i))
    }
    log.feedCaughtUp()
    #expect(log.count == 0 && log.place(from: 0) == nil)
    _ = log.append(change(1, 1))
    #expect(log.count == 1)
  }

  @Test
  func `large values are joined early, and those before are dropped`() {
    let log = ChangeLog()
    log.feedFellBehind()
    let large = JSONText(string: String(repeating: "x", count: 200_000))
    var before: JSONText?
    for i in 0..<100 {
      let value = JSONText(string: (large.string ?? "") + "\(i)")
      _ = log.append(SourceChange(source: "cells/a", seq: 1, value: value, before: before))
      before = value
      #expect(log.count < 30)
    }
    for i in 0..<60 {
      _ = log.append(SourceChange(source: "cells/b\(i)", seq: 1, value: large, before: large))
    }
    #expect(runs(of: log).filter(\.isBeforeKnown).count < 30)
    #expect(log.lastJoined > 100)
  }

  @Test(arguments: 0..<5)
  func `joined changes are those of one after the other`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let log = ChangeLog()
    log.feedFellBehind()
    var values: [Int: Int] = [:]
    var all: [String: [SourceChange]] = [:]
    for i in 0..<30_000 {
      let source = Int.random(in: 0..<50, using: &random)
      let value = Bool.random(using: &random) ? i % 3 : nil
      guard value != nil || values[source] != nil else { continue }
      let one = change(source, value, before: values[source])
      values[source] = value
      all[one.source, default: []].append(one)
      _ = log.append(one)
    }
    func joined(_ runs: [ChangeRun]) -> ChangeRun? {
      guard var newest = runs.last else { return nil }
      for run in runs.dropLast().reversed() { newest.join(run) }
      return newest
    }
    let kept = Dictionary(grouping: runs(of: log)) { $0.newest.source }
    #expect(kept.count == all.count)
    for (source, changes) in all {
      let wanted = joined(changes.map { ChangeRun($0) })
      let found = joined(kept[source] ?? [])
      #expect(found?.newest.value == wanted?.newest.value)
      #expect(found?.count == wanted?.count)
      #expect(found?.sinceGone == wanted?.sinceGone)
      #expect(found?.isNew == wanted?.isNew && found?.isRepeat == wanted?.isRepeat)
    }
  }
}
