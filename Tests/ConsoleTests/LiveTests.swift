import Console
import JSON
import Model
import Testing

/// The screens that stay in place, and their parts.
struct LiveTests {
  private let plain = Style(isOn: false)

  private func text(_ json: String) throws -> JSONText { try JSONText(parsing: json) }

  @Test(arguments: [
    (0.0, "0 B"), (512, "512 B"), (1023, "1,023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
    (1_048_575, "1 MiB"), (26_214_400, "25 MiB"), (9.9 * 1_073_741_824, "9.9 GiB"),
    (.infinity, "–"),
  ])
  func `bytes have a unit`(bytes: Double, wanted: String) {
    #expect(Amount.bytes(bytes) == wanted)
  }

  @Test(arguments: [
    (0.0, "0"), (0.04, "0"), (0.25, "0.3"), (9.94, "9.9"), (9.96, "10"), (12.4, "12"),
    (12_345.6, "12,346"), (-1234, "-1,234"), (.nan, "–"),
  ])
  func `numbers have one decimal below ten`(number: Double, wanted: String) {
    #expect(Amount.number(number) == wanted)
  }

  @Test(arguments: [
    (0.0, "0s"), (59.9, "59s"), (60, "1m"), (190, "3m 10s"), (7500, "2h 5m"), (356_400, "4d 3h"),
    (-1, "0s"),
  ])
  func `times have their two largest units`(seconds: Double, wanted: String) {
    #expect(Amount.time(seconds: seconds) == wanted)
  }

  @Test
  func `a sparkline is scaled from zero to its largest value`() {
    #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7], width: 8) == "▁▂▃▄▅▆▇█")
    #expect(Sparkline.text([5, 5], width: 8) == "██")
    #expect(Sparkline.text([0, 0], width: 8) == "▁▁")
    #expect(Sparkline.text([9, 1, 2], width: 2) == "▅█")
    #expect(Sparkline.text([.nan, -1, 1], width: 3) == "▁▁█")
    #expect(Sparkline.text([1], width: -1).isEmpty)
  }

  @Test
  func `a tree shows names by segment, with values`() {
    var tree = SourceTree()
    for (source, value) in [("a/b/c", "1"), ("a/b", "2"), ("a/d", "3"), ("e/f", "4")] {
      tree.add(source, value)
    }
    #expect(
      tree.lines(depth: .max, width: nil, plain) == [
        "a", "├── b  2", "│   └── c  1", "└── d  3", "e", "└── f  4",
      ])
    #expect(
      tree.lines(depth: 2, width: nil, plain) == [
        "a", "├── b  2  (1 source)", "└── d  3", "e", "└── f  4",
      ])
  }

  @Test
  func `a board of the page has its tiles in order, with titles, units and digits`() throws {
    let value = try JSONValue(
      parsing:
        #"{"title":"House","tiles":[{"source":"cells/b","title":"Hall","digits":1},{"source":"cells/a"},7,{"source":"cells/b"},{"source":"cells/c","unit":"kW","digits":99}]}"#
    )
    let named = try #require(NamedBoard(value, name: "house"))
    #expect(named.tiles.map(\.source) == ["cells/b", "cells/a", "cells/c"])
    let types = KnownTypes([
      ("cells/*", #"number, "°C", "Any""#), ("cells/a", #"number, "%", "Attic", digits 2"#),
      ("cells/x", "damaged"),
    ])
    var board = Board(named, types: types)
    for (source, text) in [("cells/a", "2.5"), ("cells/b", "20.06"), ("cells/z", "1")] {
      board.update(source, try JSONText(parsing: text), isPresent: true, at: 0)
    }
    let plain = Style(isOn: false)
    let lines = board.lines(width: 60, height: 10, plain, status: nil, at: 0)
    #expect(lines[0] == "House  3 sources")
    let rows = lines[3...5].map { $0.split(whereSeparator: { $0 == " " }).joined(separator: " ") }
    #expect(
      rows == ["Hall cells/b 20.1 °C", "Attic cells/a 2.50 %", "Any cells/c (no value yet)"])
    #expect(NamedBoard(.string("no board"), name: "x") == nil)
    #expect(try NamedBoard(JSONValue(parsing: "{}"), name: "x") == nil)
    for width in [1, 5, 200] {
      let lines = board.lines(width: width, height: 4, plain, status: "lost", at: 0)
      #expect(lines.count == 4 && lines.allSatisfy { $0.columns <= width })
    }
  }

  @Test
  func `a board marks what has changed, for three seconds`() throws {
    var board = Board(["cells/**"])
    board.update("cells/a", try text("1"), isPresent: true, at: 0)
    board.update("cells/b", try text(#""x""#), isPresent: true, at: 0)
    func row(_ name: String, at now: UInt64) -> String? {
      board.lines(width: 60, height: 10, plain, status: nil, at: now)
        .first { $0.contains(name) }
        .map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
    }
    #expect(row("cells/a", at: 0) == "cells/a 1")
    board.update("cells/a", try text("2"), isPresent: false, at: 1000)
    #expect(row("cells/a", at: 1500) == "▲ cells/a 2 now")
    #expect(row("cells/a", at: 5000) == "cells/a 2 4s ago")
    board.update("cells/a", try text("2"), isPresent: false, at: 6000)
    #expect(row("cells/a", at: 6000) == "cells/a 2 5s ago")
    board.update("cells/a", try text("-3"), isPresent: false, at: 6000)
    #expect(row("cells/a", at: 6000) == "▼ cells/a -3 now")
    board.update("cells/b", nil, isPresent: false, at: 6000)
    #expect(row("cells/b", at: 6000) == "- cells/b (gone) now")
    #expect(row("cells/b", at: 20_000) == nil)
    board.update("cells/b", try text("null"), isPresent: false, at: 21_000)
    #expect(row("cells/b", at: 21_000) == "+ cells/b null now")
  }

  @Test(arguments: [(80, 24), (200, 50), (20, 5), (1, 1)])
  func `screens have the size of the terminal`(width: Int, height: Int) throws {
    var board = Board(["cells/**"])
    var top = TopScreen(of: "/run/binder/bus.sock") { "user \($0)" }
    let clients = (0..<100).map {
      #"{"id":\#($0),"uid":1,"pid":\#($0),"client":"한국어 program","subscriptions":1,"#
        + #""requests":5,"output_bytes":0}"#
    }
    top.update(
      "daemon/connections", try text("[\(clients.joined(separator: ","))]"), isPresent: true, at: 0)
    for i in 0..<100 {
      board.update("cells/한국어\(i)", try text(#""日本茶 \#(i)""#), isPresent: false, at: 0)
      top.update(
        "daemon/streams",
        try text(
          #"{"streams":[{"stream":"cells/long\#(i)","events_per_second":5,"bytes_per_second":9}]}"#),
        isPresent: false, at: 0)
      top.update("daemon/stats", try text(#"{"requests":\#(i)}"#), isPresent: false, at: UInt64(i))
    }
    let readers = (0..<100).map { #"{"reader":"日本茶 \#($0)","seq":1,"behind":\#($0),"held":true}"# }
    top.update(
      "daemon/readers", try text("[\(readers.joined(separator: ","))]"), isPresent: true, at: 0)
    for style in [plain, Style(isOn: true)] {
      let bare = Style(isOn: false) == style
      for lines in [
        board.lines(width: width, height: height, style, status: "lost", at: 0),
        top.lines(width: width, height: height, style, status: "lost", at: 0),
      ] {
        #expect(lines.count == height)
        if bare { #expect(lines.allSatisfy { $0.columns <= width }) }
      }
    }
  }

  @Test
  func `top sorts streams by events or by bytes, and forgets quiet ones`() throws {
    var top = TopScreen(of: "") { "\($0)" }
    func take(_ rows: String) throws {
      top.update("daemon/streams", try text("{\"streams\":[\(rows)]}"), isPresent: false, at: 0)
    }
    func streams() -> [String] {
      top.lines(width: 80, height: 24, plain, status: nil, at: 0).filter { $0.hasPrefix("s/") }
        .map { String($0.prefix { $0 != " " }) }
    }
    try take(
      #"{"stream":"s/a","events_per_second":9,"bytes_per_second":1},"#
        + #"{"stream":"s/b","events_per_second":1,"bytes_per_second":9}"#)
    #expect(streams() == ["s/a", "s/b"])
    top.press(.character("b"))
    #expect(streams() == ["s/b", "s/a"])
    for _ in 0..<20 { try take("") }
    #expect(streams().isEmpty)
  }

  @Test
  func `top shows no rate that it does not know, and how many streams are left out`() throws {
    var top = TopScreen(of: "") { "\($0)" }
    func take(_ names: [String], of count: Int) throws {
      let rows = names.map {
        #"{"stream":"\#($0)","events_per_second":10,"bytes_per_second":1}"#
      }
      top.update(
        "daemon/streams",
        try text(#"{"count":\#(count),"streams":[\#(rows.joined(separator: ","))]}"#),
        isPresent: false, at: 0)
    }
    func shown() -> [String] {
      top.lines(width: 80, height: 24, plain, status: nil, at: 0)
        .filter { $0.hasPrefix("s/") || $0.hasPrefix("STREAM") }
        .map { $0.split(separator: " ").dropLast(2).joined(separator: " ") }
    }
    try take(["s/a", "s/b"], of: 2)
    try take(["s/a"], of: 1)
    #expect(shown() == ["STREAM", "s/a 10", "s/b 6"], "s/b was not written")
    try take(["s/a"], of: 500)
    #expect(
      shown() == ["STREAM (499 more not reported)", "s/a 10"], "the rate of s/b is not known")
  }

  @Test
  func `arrows scroll what is visible of the streams, or of the clients`() throws {
    var top = TopScreen(of: "") { "\($0)" }
    let streams = (10..<60).map {
      #"{"stream":"s/\#($0)","events_per_second":10,"bytes_per_second":1}"#
    }
    let clients = (10..<60).map {
      #"{"id":\#($0),"uid":1,"pid":1\#($0),"client":"c\#($0)","subscriptions":1,"#
        + #""requests":5,"output_bytes":0}"#
    }
    top.update(
      "daemon/streams", try text(#"{"count":50,"streams":[\#(streams.joined(separator: ","))]}"#),
      isPresent: false, at: 0)
    top.update(
      "daemon/connections", try text("[\(clients.joined(separator: ","))]"), isPresent: true, at: 0)
    func lines() -> [String] { top.lines(width: 80, height: 24, plain, status: nil, at: 0) }
    func first(_ part: String) -> String? { lines().first { $0.contains(part) } }
    #expect(first("STREAM")?.hasPrefix("STREAM (1–6 of 50) ") == true)
    #expect(first("PROGRAM")?.contains("PROGRAM (1–7 of 50) ") == true)
    top.press(.down)
    #expect(lines().first { $0.hasPrefix("s/") }?.hasPrefix("s/11 ") == true, "it moves at once")
    #expect(first("STREAM")?.hasPrefix("STREAM (2–7 of 50) ") == true)
    top.press(.end)
    #expect(first("STREAM")?.hasPrefix("STREAM (45–50 of 50) ") == true)
    top.press(.up)
    #expect(first("STREAM")?.hasPrefix("STREAM (44–49 of 50) ") == true)
    top.press(.tab)
    top.press(.pageDown)
    #expect(first("PROGRAM")?.contains("PROGRAM (7–13 of 50) ") == true)
    #expect(first("STREAM")?.hasPrefix("STREAM (44–49 of 50) ") == true)
    #expect(lines().last?.contains("arrows scroll clients   tab streams") == true)
  }

  @Test
  func `top shows the readers for which most waits, with their workers`() throws {
    var top = TopScreen(of: "") { "\($0)" }
    func shown() -> [String] {
      top.lines(width: 80, height: 24, plain, status: nil, at: 0)
        .filter { $0.hasPrefix("READER") || $0.hasPrefix("r/") }
        .map { $0.split(separator: " ").joined(separator: " ") }
    }
    #expect(shown().isEmpty, "no reader takes no line")
    top.update(
      "daemon/readers",
      try text(
        #"[{"reader":"r/idle","seq":9,"behind":3,"held":false},"#
          + #"{"reader":"r/jobs","seq":2,"behind":99,"held":true,"workers":2,"in_hand":4,"waiting":7,"more":true,"parked":1}]"#
      ), isPresent: true, at: 0)
    #expect(
      shown() == ["READER WAITING WORKERS IN HAND PARKED", "r/jobs 7+ 2 4 1", "r/idle 3 – – 0"])
    top.update(
      "daemon/readers",
      try text(
        #"[{"reader":"r/all","seq":2,"behind":99,"held":true,"in_hand":4},"#
          + #"{"reader":"r/some","seq":2,"behind":98,"held":true,"in_hand":1,"more":true}]"#
      ), isPresent: true, at: 0)
    #expect(
      shown().dropFirst() == ["r/some 98 – 1 0", "r/all 0 – 4 0"],
      "it was sent all that it wants, and has it")
    let many = (0..<50).map { #"{"reader":"r/\#($0)","seq":0,"behind":\#($0),"held":true}"# }
    top.update(
      "daemon/readers", try text("[\(many.joined(separator: ","))]"), isPresent: true, at: 0)
    #expect(shown().first?.hasPrefix("READER (") == true)
    #expect(shown().first?.contains(" more)") == true)
    #expect(shown()[1].hasPrefix("r/49 "))
  }

  @Test
  func `top computes requests per second, also after a restart of the daemon`() throws {
    var top = TopScreen(of: "") { "\($0)" }
    func rate(_ requests: Int, at now: UInt64) throws -> String? {
      top.update("daemon/stats", try text(#"{"requests":\#(requests)}"#), isPresent: false, at: now)
      return top.lines(width: 80, height: 24, plain, status: nil, at: now)
        .first { $0.hasPrefix("requests/s") }
        .map { String($0.split(separator: " ")[1]) }
    }
    #expect(try rate(100, at: 0) == "–")
    #expect(try rate(150, at: 500) == "100")
    #expect(try rate(5, at: 1000) == "100")
    #expect(try rate(25, at: 2000) == "20")
  }
}
