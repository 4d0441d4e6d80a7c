import API
import BinderTesting
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

/// Changes and events that many patterns and filters want: a commit keeps each once, and their readers
/// collect them in the time of their clients.
@Suite(.leavesNothing)
struct FeedTests {
  private let bench: Bench

  /// Another user.
  private let other: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let lists = ListsService(in: parts.host)
      return { bindLists($0, to: lists) }
    })
    other = bench.connect(uid: 1001)
  }

  private func atomic(_ calls: [String]) -> String {
    #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#
  }

  private func set(_ cell: String, _ value: String) -> String {
    #"{"method":"cells.set","params":["\#(cell)",\#(value)]}"#
  }

  private func write(_ calls: [String]) {
    other.send(atomic(calls))
    #expect(other.settle().contains { $0.contains("result") })
  }

  /// The patterns of a name with seven segments.
  private var patterns: [Pattern] {
    (0..<128).compactMap { bits in
      let segments = (0..<7).map { bits >> $0 & 1 == 1 ? "*" : "s" }
      return Pattern("cells/" + segments.joined(separator: "/"))
    }
  }

  // MARK: Patterns

  @Test
  func `a commit tells each of many patterns once that there are changes`() {
    let feeds = patterns.map { bench.cells.ledger.feed(of: $0) }
    var news = 0
    for feed in feeds { feed.onNews = { news += 1 } }
    write((0..<500).map { set("s/s/s/s/s/s/s", "\($0)") })
    #expect(news == 128)
    for feed in feeds {
      var count = 0
      while feed.next(until: { false }) != nil {
        feed.removeNext()
        count += 1
      }
      #expect(count == 500)
    }
    write([set("s/s/s/s/s/s/s", "-1")])
    #expect(news == 256, "and again after all were collected")
    for feed in feeds { feed.end() }
    #expect(!bench.cells.ledger.isWatched)
  }

  @Test
  func `changes that a pattern does not collect are joined by source`() {
    guard let pattern = Pattern("cells/*") else { return }
    let feed = bench.cells.ledger.feed(of: pattern)
    defer { feed.end() }
    for part in 0..<6 { write((0..<1000).map { set("c\($0 % 3)", "\(part * 1000 + $0)") }) }
    #expect(feed.hasJoined)
    var (runs, last) = (0, [String: String]())
    var changes: UInt64 = 0
    while let run = feed.next(until: { false }) {
      feed.removeNext()
      runs += 1
      changes += run.count
      last[run.newest.source] = run.newest.value?.text
    }
    #expect(changes == 6000)
    #expect(runs <= 4096)
    #expect(last == ["cells/c0": "5999", "cells/c1": "5997", "cells/c2": "5998"])
  }

  @Test(arguments: 0..<30)
  func `watchers of patterns that have little time get the last values`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let watched = ["cells/a/*", "cells/*/x", "cells/**", "cells/a/x", "**", "cells/*/*"]
    let clients = watched.map { pattern in
      let client = bench.connect(uid: 1000)
      _ = client.call(
        #"{"id":1,"method":"subscribe","params":{"source":"\#(pattern)","sub":"s"}}"#)
      return client
    }
    var shown = watched.map { _ in [String: String]() }
    func collect() {
      for (i, client) in clients.enumerated() {
        for line in client.received() {
          guard let params = JSONText(trusted: line).members?["params"]?.members else { continue }
          let source = params["source"]?.string ?? watched[i]
          shown[i][source] = params["value"]?.text
        }
      }
    }
    var values: [String: String] = [:]
    for _ in 0..<40 {
      let calls = (0..<Int.random(in: 1...60, using: &random)).map { _ in
        let name = ["a/x", "a/y", "b/x", "b"].randomElement(using: &random) ?? "b"
        values["cells/" + name] = "\(random.next() % 1000)"
        return set(name, values["cells/" + name] ?? "")
      }
      bench.time.nanosecondsPerLook = [0, 100_000, 1_000_000].randomElement(using: &random) ?? 0
      other.send(atomic(calls))
      bench.store.commit()
      collect()
    }
    bench.time.nanosecondsPerLook = 0
    for _ in 0..<10 {
      bench.store.commit()
      collect()
    }
    for (i, pattern) in watched.enumerated() {
      let wanted = values.filter { Pattern(pattern)?.matches($0.key) == true }
      #expect(shown[i].filter { $0.key.hasPrefix("cells/") } == wanted, "\(pattern)")
    }
  }

  @Test
  func `every change of a pattern comes once, also if there is little time`() {
    let client = bench.connect(uid: 1000)
    for (i, pattern) in ["cells/*", "cells/**"].enumerated() {
      let params = #"{"source":"\#(pattern)","mode":"every","sub":"s\#(i)"}"#
      _ = client.call(#"{"id":1,"method":"subscribe","params":\#(params)}"#)
    }
    bench.time.nanosecondsPerLook = 100_000
    var lines: [String] = []
    for part in 0..<12 {
      // More than the log keeps one by one.
      other.send(atomic((0..<1000).map { set("c\($0 % 7)", "\(part * 1000 + $0)") }))
      bench.store.commit()
      if part % 4 == 3 { lines += client.received() }
    }
    bench.time.nanosecondsPerLook = 0
    for _ in 0..<200 {
      bench.store.commit()
      bench.store.read()
      lines += client.received()
    }
    for i in 0..<2 {
      let seqs = lines.filter { $0.contains(#""method":"next","params":{"sub":"s\#(i)""#) }
        .compactMap { JSONText(trusted: $0).members?["params"]?.members?["seq"]?.number?.int64 }
      #expect(seqs == (1...12_000).map { Int64($0) })
    }
  }

  @Test
  func `a list of a pattern is as it was at its position, also if there is little time`() {
    let client = bench.connect(uid: 1000)
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"lists/*","sub":"s"}}"#)
    bench.time.nanosecondsPerLook = 500_000
    var lines: [String] = []
    for part in 0..<20 {
      let calls = (0..<51).map {
        #"{"method":"lists.append","params":["l\#($0 % 3)",\#(part * 51 + $0)]}"#
      }
      other.send(atomic(calls))
      bench.store.commit()
      lines += client.received()
    }
    bench.time.nanosecondsPerLook = 0
    for _ in 0..<50 {
      bench.store.commit()
      lines += client.received()
    }
    var last: [String: Int] = [:]
    for line in lines {
      guard let params = JSONText(trusted: line).members?["params"]?.members,
        let source = params["source"]?.string, let seq = params["seq"].flatMap({ Int($0.text) })
      else { continue }
      let list = params["value"]?.elements?.compactMap { Int($0.text) } ?? []
      #expect(list.last == seq - 1, "\(source) at \(seq)")
      #expect(list.count == (seq + 2) / 3)
      last[source] = seq
    }
    #expect(last == ["lists/l0": 1018, "lists/l1": 1019, "lists/l2": 1020])
  }

  // MARK: Events

  @Test
  func `a commit tells each of many filters once that there are events`() throws {
    let some = try #require(Pattern("cells/h"))
    let feeds = try (0..<500).map { i in
      let none = try #require(Pattern("cells/none\(i)"))
      return bench.host.eventFeed(EventFilter(streams: [some, none]))
    }
    let type = try #require(Pattern("cells.removed", separator: "."))
    let removals = bench.host.eventFeed(EventFilter(streams: [some], types: [type]))
    var news = 0
    for feed in feeds { feed.onNews = { news += 1 } }
    write((0..<200).map { set("h", "\($0)") } + [set("other", "1")])
    #expect(news == 500)
    var events: [RecentEvent] = []
    for feed in feeds {
      var seqs: [UInt64] = []
      while feed.hasNews {
        let dropped = feed.collect(until: { seqs.count % 7 == 0 }) {
          seqs.append($0.seq)
          events.append($0)
        }
        #expect(dropped == nil)
      }
      #expect(seqs == Array(1...200))
    }
    #expect(Set(events.map(ObjectIdentifier.init)).count == 200, "each is kept once")
    #expect(removals.hasNews)
    #expect(removals.collect(until: { false }) { _ in Issue.record("no cell was removed") } == nil)
    for feed in feeds + [removals] { feed.end() }
  }

  @Test
  func `events that a reader has not collected in time are read from the journal`() {
    let client = bench.connect(uid: 1000)
    for i in 0..<3 {
      let filter = #"{"streams":["cells/h","cells/none\#(i)"]}"#
      let params = #"{"source":"events","sub":"s\#(i)","filter":\#(filter)}"#
      _ = client.call(#"{"id":1,"method":"subscribe","params":\#(params)}"#)
    }
    let long = String(repeating: "x", count: 20_000)
    var lines: [String] = []
    bench.time.nanosecondsPerLook = 1_000_000
    for part in 0..<8 {
      other.send(atomic((0..<40).map { _ in set("h", #""\#(long)""#) }))
      bench.store.commit()
      if part % 3 == 0 { lines += client.received() }
    }
    bench.time.nanosecondsPerLook = 0
    for _ in 0..<200 {
      bench.store.commit()
      bench.store.read()
      lines += client.received()
    }
    for i in 0..<3 {
      let seqs = lines.filter { $0.contains(#""method":"next","params":{"sub":"s\#(i)""#) }
        .compactMap { JSONText(trusted: $0).members?["params"]?.members?["seq"]?.number?.int64 }
      #expect(seqs == (1...320).map { Int64($0) })
    }
  }

  // MARK: Parts

  @Test
  func `many subscriptions to parts scan each long value once`() {
    let client = bench.connect(uid: 1000)
    for i in 0..<40 {
      let params = #"{"source":"cells/*","sub":"p\#(i)","pick":"/p\#(i)"}"#
      client.send(#"{"id":1,"method":"subscribe","params":\#(params)}"#)
    }
    #expect(client.settle().count == 40)
    let filler = String(repeating: "x", count: 1500)
    write((0..<50).map { set("c\($0)", #"{"p7":\#($0),"filler":"\#(filler)"}"#) })
    _ = client.settle()
    let before = bench.catalog.parts.scans
    write((0..<50).map { set("c\($0)", #"{"p7":\#(1000 + $0),"filler":"\#(filler)"}"#) })
    #expect(client.settle().count == 50)
    #expect(bench.catalog.parts.scans - before <= 100, "the values before, and the new ones")
  }
}
