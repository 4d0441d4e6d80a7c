import Connections
import JSON
import Signals
import TestSupport
import Testing
import Wire

/// Views that exceed the length of a line, and views beyond the limit.
@Suite(.leavesNothing)
struct LongViewTests {
  private func texts(_ list: [String]) -> [JSONText] { list.map { JSONText(string: $0) } }

  @Test
  func `a list that does not fit into the line of its view follows in other lines`() throws {
    let bench = Bench()
    let list = Property((0..<2000).map { "element \($0) of a list that is long" })
    let view = try bench.connection.views.open("test", as: Handle(name: "v1")) { view in
      list.bind(to: view["list"])
      view.assign("name", "kim")
      view.open("child", as: .push) { list.bind(to: $0["list"]) }
    }
    var answer = ByteBuffer()
    view.writeAnswer(&answer, size: 10_000)
    var (parent, child) = (ReceivedList("v1"), ReceivedList("v1.1"))
    #expect(9_900...10_000 ~= answer.count)
    #expect(answer.string.contains(#""name":{"kind":"state","value":"kim"}"#))
    try parent.take(#"{"result":\#(answer.string)}"#)
    #expect(parent.isMore)
    let lines = bench.lines()
    for line in lines {
      #expect(line.utf8.count < 64 << 10)
      try parent.take(line)
      try child.take(line)
    }
    for shown in [parent, child] {
      #expect(shown.elements == texts(list.value))
      #expect(!shown.isMore)
      #expect(shown.frames > 1)
    }
    list.value.removeFirst()
    #expect(bench.lines().count == 2, "what fits comes in one frame")
  }

  @Test
  func `a client that takes long lines gets long lists in short ones all the same`() throws {
    let bench = Bench { $0.lineOut = 16 << 20 }
    let element = String(repeating: "x", count: 9_000)
    let long = String(repeating: "y", count: 700_000)
    let lists = (0..<3).map { i in Property((0..<200).map { "\(i) \($0) \(element)" }) }
    let text = Property("")
    let view = try bench.connection.views.open("test", as: Handle(name: "v1")) { view in
      for (i, list) in lists.enumerated() { list.bind(to: view["list\(i)"]) }
      text.bind(to: view["text"])
    }
    var answer = ByteBuffer()
    view.writeAnswer(&answer, size: 16 << 20)
    var shown = lists.indices.map { ReceivedList("v1", "list\($0)") }
    func show(_ line: String, most: Int) throws {
      #expect(line.utf8.count < most)
      for i in shown.indices { try shown[i].take(line) }
    }
    func showAll(most: Int) throws {
      while case let lines = bench.lines(), !lines.isEmpty {
        for line in lines { try show(line, most: most) }
        bench.connection.becameWritable()
      }
      for (list, shown) in zip(lists, shown) {
        #expect(shown.elements == texts(list.value))
        #expect(!shown.isMore)
      }
    }
    try show(#"{"result":\#(answer.string)}"#, most: 300_000)
    try showAll(most: 300_000)
    // A single long value or element has a frame of its own.
    text.value = long
    for list in lists { list.value = list.value.reversed() + [long] }
    try showAll(most: 1_100_000)
    #expect(bench.connection.views.all.count == 1)
  }

  @Test
  func `changes of one turn that do not fit into a line arrive in several`() throws {
    let bench = Bench()
    let list = MutableObservableArray(["a"])
    let name = Property("kim")
    _ = try bench.connection.views.open("test", as: Handle(name: "v1")) { view in
      list.bind(to: view["list"])
      name.bind(to: view["name"])
    }
    var shown = ReceivedList("v1")
    shown.elements = texts(["a"])
    _ = bench.lines()
    for count in [16, 40] {
      for _ in 0..<count { list.append(String(repeating: "x", count: 4000)) }
      name.value = String(repeating: "n", count: 4000 + count)
      let lines = bench.lines()
      #expect(lines.count == (count == 16 ? 2 : 4))
      for (i, line) in lines.enumerated() {
        #expect(line.utf8.count < 64 << 10)
        try shown.take(line)
        #expect(shown.isMore == (i < lines.count - 1))
      }
      #expect(lines.count { $0.contains(#""name":{"value":"nnn"#) } == 1)
      #expect(shown.elements == texts(list.collection))
    }
  }

  @Test
  func `an element that does not fit into a line ends the view with the reason`() throws {
    let bench = Bench()
    let list = Property(["a"])
    _ = try bench.connection.views.open("test", as: Handle(name: "v1")) {
      list.bind(to: $0["list"])
    }
    _ = bench.lines()
    list.value = ["a", "b", String(repeating: "x", count: 70_000), "c"]
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#""list":{"value":["a","b"]}},"more":true"#) == true)
    #expect(
      lines.last?.contains(#""fail","params":{"view":"v1","seq":0,"error":{"code":-32010"#) == true)
    #expect(lines.last?.contains(#""limit":"line_out","max":65536"#) == true)
    #expect(bench.connection.views.all.isEmpty)
  }

  @Test(arguments: 0..<40)
  func `random changes while a list is sent give the client the final list`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let bench = Bench { $0.lineOut = 1024 }
    func element() -> String {
      String(repeating: "e", count: .random(in: 1...200, using: &random)) + "\(random.next())"
    }
    let list = MutableObservableArray((0..<60).map { _ in element() })
    let view = try bench.connection.views.open("test", as: Handle(name: "v1")) { view in
      list.bind(to: view["list"])
    }
    var answer = ByteBuffer()
    view.writeAnswer(&answer, size: 1000)
    var shown = ReceivedList("v1")
    try shown.take(#"{"result":\#(answer.string)}"#)
    for _ in 0..<60 {
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let count = list.count
        switch Int.random(in: 0...9, using: &random) {
        case 0...2: list.insert(element(), at: .random(in: 0...count, using: &random))
        case 3...5 where count > 0: list.remove(at: .random(in: 0..<count, using: &random))
        case 6 where count > 0: list[.random(in: 0..<count, using: &random)] = element()
        case 7 where count > 1:
          list.move(
            from: .random(in: 0..<count, using: &random), to: .random(in: 0..<count, using: &random)
          )
        case 8 where count > 20: list.removeSubrange(10..<count)
        case 9 where count < 60: list.insert(contentsOf: (0..<20).map { _ in element() }, at: count)
        default: break
        }
      }
      bench.transport.room = [0, 700, 2000, .max].randomElement(using: &random) ?? 0
      bench.connection.becameWritable()
      for line in bench.lines() {
        #expect(line.utf8.count < 1024)
        try shown.take(line)
      }
    }
    bench.transport.room = .max
    bench.connection.becameWritable()
    for line in bench.lines() { try shown.take(line) }
    #expect(shown.elements == texts(list.collection))
    #expect(!shown.isMore)
    #expect(bench.connection.views.all.count == 1)
  }

  @Test
  func `a child view over the limit fails in its parent`() throws {
    let bench = Bench()
    let user = Property<String?>(nil)
    _ = try bench.connection.views.open("chat", as: Handle(name: "v1")) { view in
      user.bind(to: view) { view, user in
        guard user != nil else { return }
        view.open("main", as: .push) { child in
          child.tabs(("rooms", { _ in }), ("profile", { _ in }))
        }
      }
    }
    for _ in 0..<61 { _ = try bench.connection.views.open("test", as: nil) { _ in } }
    _ = bench.lines()
    user.value = "kim"
    func fail(_ view: String, _ parent: String, _ binder: String) -> String {
      #"{"jsonrpc":"2.0","method":"fail","params":{"view":"\#(view)","seq":0,"parent":"\#(parent)","#
        + #""binder":"\#(binder)","error":{"code":-32003,"message":"#
    }
    var lines = bench.lines()
    #expect(lines.count == 3)
    #expect(lines.last?.hasPrefix(fail("v1.1.2", "v1.1", "profile")) == true)
    #expect(lines.last?.contains(#""limit":"views","max":64"#) == true)
    user.value = "lee"
    lines = bench.lines()
    #expect(lines.map { $0.hasPrefix(fail("v1.2", "v1", "main")) } == [true])
    #expect(bench.connection.views.all.count == 64)
  }

  @Test
  func `a child view that does not fit into a line fails in its parent`() throws {
    let bench = Bench()
    let user = Property<String?>(nil)
    _ = try bench.connection.views.open("chat", as: Handle(name: "v1")) { view in
      user.bind(to: view) { view, user in
        guard user != nil else { return }
        view.open("main", as: .push) { child in
          child.assign("text", String(repeating: "x", count: 70_000))
          child.open("more", as: .push) { _ in }
        }
      }
    }
    _ = bench.lines()
    user.value = "kim"
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(
      lines.first?.hasPrefix(
        #"{"jsonrpc":"2.0","method":"fail","params":{"view":"v1.1","seq":0,"parent":"v1","#
          + #""binder":"main","error":{"code":-32010,"#) == true)
    #expect(bench.connection.views.all.count == 1)
  }
}
