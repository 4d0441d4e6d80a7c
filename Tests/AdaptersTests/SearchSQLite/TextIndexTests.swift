import AppAdapters
import Apps
import EventLoop
import Signals
import Testing

struct TextIndexTests {
  private let loop: Loop
  private let changes = PassthroughSubject<[SearchChange], Never>()
  private let index: TextIndex

  init() throws {
    loop = try Loop()
    let corpus = SearchCorpus(
      "t",
      all: {
        [
          SearchText(id: "t/1", text: "Tea"), SearchText(id: "t/1/1", text: "Green tea, or Grüner"),
          SearchText(id: "t/1/2", text: "Black tea is tea as tea should be"),
          SearchText(id: "t/10/1", text: "Coffee \"to go\""),
        ]
      },
      changes: changes.toSignal(),
      describe: { $0 == "t/1/9" ? nil : (title: "T", source: $0) })
    index = TextIndex([corpus], on: loop)
  }

  /// Ends the thread and runs the loop to its end.
  private func end() {
    index.stop()
    loop.run()
  }

  private func find(_ term: String, limit: Int = 10) -> [String] {
    var found: [String]?
    let run = index.find(term, limit: limit).observe { event in
      switch event {
      case .next(let hits): found = hits.map(\.id)
      case .failed(let error): found = ["\(error)"]
      case .completed: break
      }
    }
    while found == nil { loop.runOnce() }
    run.dispose()
    return found ?? []
  }

  @Test
  func `all words must occur, in any order and case; the last may be a prefix`() {
    #expect(Set(find("tea")) == ["t/1", "t/1/1", "t/1/2"])
    #expect(find("TEA green") == ["t/1/1"])
    #expect(find("gre") == ["t/1/1"])
    #expect(find("gruner") == ["t/1/1"])
    #expect(find("green coffee") == [])
    #expect(find("tea", limit: 2).count == 2)
    end()
  }

  @Test
  func `a word is found within text without spaces`() {
    _ = find("x")
    changes.send([
      .put(SearchText(id: "t/3", text: "今日は日本です")),
      .put(SearchText(id: "t/4", text: "green 日本茶 tea")),
      .put(SearchText(id: "t/5", text: "本日のお茶")), .put(SearchText(id: "t/6", text: "วันนี้ดื่มชา")),
    ])
    #expect(Set(find("日本")) == ["t/3", "t/4"])
    #expect(find("日本 tea") == ["t/4"])
    #expect(find("本日") == ["t/5"])
    #expect(Set(find("茶")) == ["t/4", "t/5"])
    #expect(find("ดื่ม") == ["t/6"])
    #expect(find("日本\" OR \"") == [])
    var texts: [String] = []
    let run = index.find("お茶", limit: 1).observe {
      if case .next(let found) = $0 { texts = found.map(\.text) }
    }
    while texts.isEmpty { loop.runOnce() }
    #expect(texts == ["本日のお茶"], "as it was written")
    run.dispose()
    end()
  }

  @Test
  func `no search term causes an error`() {
    for term in [
      "\"", "to \"go", "* OR NEAR(", "-tea'", "()", "text:", "…", "AND", "\0", "\u{0D4E}\"",
      "tea\u{0D4E}\" OR \u{0600}\"x",
    ] {
      #expect(find(term).allSatisfy { $0.hasPrefix("t/") }, "\(term)")
    }
    #expect(find("to \"go") == ["t/10/1"])
    end()
  }

  @Test
  func `the index follows changes`() {
    #expect(find("oolong") == [])
    changes.send([
      .put(SearchText(id: "t/1/3", text: "Oolong")), .put(SearchText(id: "t/1/9", text: "oolong")),
      .put(SearchText(id: "t/1/1", text: "White")), .remove(id: "t/1/2"),
    ])
    #expect(find("oolong") == ["t/1/3"], "what has gone meanwhile is not shown")
    #expect(find("green") == [])
    #expect(find("white") == ["t/1/1"])
    #expect(find("black") == [])
    changes.send([.removeAll(id: "t/1")])
    #expect(find("tea") == [])
    #expect(find("oolong") == [])
    #expect(find("coffee") == ["t/10/1"], "another whose name begins alike")
    end()
  }

  @Test
  func `a cancelled search has no result, and a search after the end fails`() {
    var answers = 0
    let run = index.find("tea", limit: 1).observe { _ in answers += 1 }
    run.dispose()
    #expect(find("coffee") == ["t/10/1"])
    #expect(answers == 0)
    end()
    var error: SearchError?
    _ = index.find("tea", limit: 1).observe {
      if case .failed(let failure) = $0 { error = failure }
    }
    #expect(error == .failed("no thread can be started"))
  }

  @Test
  func `a hit has the words around the match`() {
    let long = Array(repeating: "word", count: 200).joined(separator: " ")
    changes.send([])
    _ = find("x")
    changes.send([.put(SearchText(id: "t/2", text: "\(long) needle \(long)"))])
    var hits: [SearchHit] = []
    let run = index.find("needle", limit: 1).observe {
      if case .next(let found) = $0 { hits = found }
    }
    while hits.isEmpty { loop.runOnce() }
    #expect(hits[0].title == "T")
    #expect(hits[0].text.contains("needle"))
    #expect(hits[0].text.utf8.count < 300)
    run.dispose()
    end()
  }
}
