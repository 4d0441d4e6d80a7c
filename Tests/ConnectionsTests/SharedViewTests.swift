import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Views with the same content share the work; the tests count the rows made, not the time.
@Suite(.leavesNothing)
struct SharedViewTests {
  private let bench = Bench()
  private let model = Model()

  /// A list that records which rows are made.
  private final class Model {
    var names: [Int: String] = [:]
    let changes = PassthroughSubject<RowList<Int, Row>.Change, Never>()
    private(set) var made: [Int] = []

    /// Called for each row that is made.
    var onRow: () -> Void = {}

    func set(_ key: Int, _ name: String?) {
      names[key] = name
      changes.send(.rows([key]))
    }

    /// Returns the rows made since the last call.
    func count() -> [Int] {
      defer { made = [] }
      return made
    }

    var list: RowList<Int, Row> {
      RowList(
        Identity(self), keys: { [self] in Array(names.keys) },
        row: { [self] key in
          made.append(key)
          onRow()
          return names[key].map { Row(id: key, name: $0) }
        }, changes: changes.toSignal())
    }

    var texts: [JSONText] {
      names.sorted { $0.key < $1.key }.map { JSONText(trusted: Row.text($0.key, $0.value)) }
    }
  }

  /// Opens a view of the list in the time of a client; each row takes 0.1 ms.
  private func openInTime(_ name: String) -> [String] {
    model.onRow = { [time = bench.time] in time.work(nanoseconds: 100_000) }
    bench.methods["open"] = { [unowned bench, list = model.list] call in
      let views = bench.connection.views
      if let view = try? views.open(
        "test", as: Handle(name: name), { list.bind(to: $0["list"]) })
      {
        call.answer { view.writeAnswer(&$0) }
      }
      return .done
    }
    bench.receive(request(1, "open"))
    return bench.lines()
  }

  @Test
  func `the rows of a long list are made in the time of the client that opens a view`() throws {
    for i in 0..<1000 { model.names[i] = "n\(i)" }
    var shown = ReceivedList("v")
    var (turns, lines) = (0, openInTime("v"))
    while true {
      for line in lines { try shown.take(line) }
      #expect(model.count().count <= 64 + 40 * 8, "those at once, and steps of 0.8 ms for 4 ms")
      guard shown.isMore, turns < 1000 else { break }
      turns += 1
      lines = bench.lines()
    }
    #expect(turns >= 10)
    #expect(shown.elements == model.texts)
    #expect(try ReceivedList(answer: openInTime("w")[0], "w").elements == model.texts)
    #expect(model.count().isEmpty, "they are made once for all views")
  }

  @Test(arguments: 0..<40)
  func `changes while the rows of a list are made give the client the final list`(
    seed: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(seed))
    for i in 0..<400 { model.names[i * 3] = "n\(i)" }
    var shown = ReceivedList("v")
    for line in openInTime("v") { try shown.take(line) }
    #expect(shown.isMore)
    for turn in 0..<200 where shown.isMore || turn < 20 {
      for _ in 0..<Int.random(in: 0...(turn % 7 == 0 ? 50 : 3), using: &random) {
        let key = Int.random(in: 0..<1300, using: &random)
        model.set(key, Bool.random(using: &random) ? "c\(random.next())" : nil)
      }
      bench.transport.room = [0, 500, 5000, .max].randomElement(using: &random) ?? 0
      bench.connection.becameWritable()
      for line in bench.lines() { try shown.take(line) }
    }
    bench.transport.room = .max
    bench.connection.becameWritable()
    for line in bench.lines() { try shown.take(line) }
    #expect(!shown.isMore)
    #expect(shown.elements == model.texts)
  }

  @Test
  func `many changed rows are rebuilt in the time of the user, and the client knows of the rest`()
    throws
  {
    for i in 0..<1500 { model.names[i] = "n\(i)" }
    let (_, answer) = try open("v") { model.list.bind(to: $0["list"]) }
    var shown = try ReceivedList(answer: #"{"result":\#(answer)}"#, "v")
    #expect(!shown.isMore)
    _ = (bench.lines(), model.count())
    model.onRow = { [time = bench.time] in time.work(nanoseconds: 100_000) }
    for i in 0..<1500 { model.set(i, i % 3 == 0 ? nil : "c\(i)") }
    for i in 1500..<1600 { model.set(i, "c\(i)") }
    bench.methods["sync"] = { call in
      if let late = call.later() { call.connection.sync(late, at: 0) }
      return .done
    }
    bench.receive(request(1, "sync"))
    var (turns, wasMore) = (0, false)
    repeat {
      let lines = bench.lines()
      for line in lines where !line.contains(#""result""#) { try shown.take(line) }
      #expect(model.count().count <= 3 * 128)
      #expect(lines.contains { $0.contains(#""result""#) } == (wasMore && !shown.isMore))
      wasMore = shown.isMore
      turns += 1
    } while shown.isMore && turns < 100
    #expect(turns > 4)
    #expect(shown.elements == model.texts)
    #expect(bench.lines().isEmpty)
    #expect(!bench.table.context.hasWork)
  }

  @Test
  func `rows that change often while a client does not read are rebuilt alone`() throws {
    for i in 0..<1500 { model.names[i] = "n\(i)" }
    let (_, answer) = try open("v") { model.list.bind(to: $0["list"]) }
    var shown = try ReceivedList(answer: #"{"result":\#(answer)}"#, "v")
    _ = (bench.lines(), model.count())
    bench.transport.room = 0
    for n in 0..<20_000 {
      model.set(n % 5, "c\(n)")
      if n == 0 { bench.table.flush() }
    }
    bench.transport.room = .max
    bench.connection.becameWritable()
    for line in bench.lines() { try shown.take(line) }
    #expect(shown.elements == model.texts)
    let made = model.count()
    #expect(Set(made) == [0, 1, 2, 3, 4])
    #expect(made.count < 200)
  }

  @Test
  func `a list that is closed while its rows are made leaves no work`() {
    for i in 0..<1000 { model.names[i] = "n\(i)" }
    _ = openInTime("v")
    for view in bench.connection.views.all { _ = bench.connection.views.close(view) }
    _ = (bench.lines(), model.count())
    for _ in 0..<10 { _ = bench.lines() }
    #expect(model.count().isEmpty)
    #expect(!bench.table.context.hasWork)
  }

  private struct Row: Encodable {
    let id: Int
    let name: String

    static func text(_ id: Int, _ name: String) -> String { #"{"id":\#(id),"name":"\#(name)"}"# }
  }

  @discardableResult
  private func open(
    _ name: String, on connection: Connection? = nil, _ bind: (View) -> Void
  ) throws -> (view: View, answer: String) {
    let view = try (connection ?? bench.connection).views.open("test", as: Handle(name: name)) {
      bind($0)
    }
    var answer = ByteBuffer()
    view.writeAnswer(&answer, size: 60_000)
    return (view, answer.string)
  }

  @Test
  func `one changed row of ten thousand in 64 views is encoded once`() throws {
    for i in 1...10_000 { model.names[i] = "name \(i)" }
    for i in 0..<64 { try open("v\(i)") { model.list.bind(to: $0["list"]) } }
    #expect(model.count().count == 10_000, "all of them once, for all views")
    while !bench.lines().isEmpty {}
    for i in 0..<10 { model.set(5000, "new \(i)") }
    #expect(model.count() == [], "nothing is made before a send")
    let lines = bench.lines()
    #expect(model.count() == [5000])
    #expect(lines.count == 64)
    #expect(
      lines.allSatisfy {
        $0.hasSuffix(
          #""list":{"changes":[{"op":"merge","at":4999,"value":{"name":"new 9"}}]}}}}"#)
      })
  }

  @Test
  func `rows added and removed in one turn, or unchanged, are not sent`() throws {
    model.names = [1: "a", 2: "b"]
    try open("v") { model.list.bind(to: $0["list"]) }
    model.set(3, "c")
    model.set(3, nil)
    model.set(1, "x")
    model.set(1, "a")
    #expect(bench.lines() == [])
    model.changes.send(.all)
    #expect(bench.lines() == [])
  }

  @Test
  func `rows are inserted, changed and removed at the places of their keys`() throws {
    model.names = [2: "b", 4: "d"]
    let (_, answer) = try open("v") { model.list.bind(to: $0["list"]) }
    #expect(
      answer.contains(
        #""list":{"kind":"list","value":[{"id":2,"name":"b"},{"id":4,"name":"d"}]}"#))
    model.set(3, "c")
    model.set(2, nil)
    model.set(5, "e")
    model.set(4, "D")
    #expect(
      bench.lines().first?.contains(
        #"[{"op":"remove","at":0},{"op":"insert","at":0,"value":{"id":3,"name":"c"}},"#
          + #"{"op":"merge","at":1,"value":{"name":"D"}},"#
          + #"{"op":"insert","at":2,"value":{"id":5,"name":"e"}}]"#) == true)
  }

  @Test
  func `opening or closing one view changes nothing for the others`() throws {
    model.names = [1: "a"]
    let (first, _) = try open("v1") { model.list.bind(to: $0["list"]) }
    model.set(2, "b")
    let (_, answer) = try open("v2") { model.list.bind(to: $0["list"]) }
    #expect(answer.contains(#""value":[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#))
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""view":"v1","#) == true)
    _ = bench.connection.views.close(first)
    model.set(1, nil)
    #expect(bench.lines().map { $0.contains(#""view":"v2","#) } == [true])
    #expect(model.count().count == 3)
  }

  @Test
  func `closing the last view ends all observation`() throws {
    let views = try (0..<3).map { i in try open("v\(i)") { model.list.bind(to: $0["list"]) }.view }
    for view in [views[1], views[0], views[2]] {
      #expect(model.changes.hasObservers)
      _ = bench.connection.views.close(view)
    }
    #expect(!model.changes.hasObservers)
    let again = try open("v") { model.list.bind(to: $0["list"]) }
    bench.connection.end()
    #expect(again.view.isClosed)
    #expect(!model.changes.hasObservers)
  }

  @Test
  func `a disposed binding keeps its last content`() throws {
    model.names = [1: "a"]
    var binding: (any Disposable)?
    let (view, _) = try open("v") { view in
      binding = model.list.bind(to: view["list"])
      view.assign("name", "kim")
    }
    try open("w") { model.list.bind(to: $0["list"]) }
    binding?.dispose()
    model.set(1, "b")
    view["name"].set("lee")
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.first { $0.contains(#""view":"v""#) }?.contains("list") == false)
  }

  @Test
  func `lists with different sources or row types share nothing`() throws {
    struct Short: ListRow, Encodable {
      let name: String
      init(_ key: Int, _ value: Row) { name = value.name }
    }
    model.names = [1: "a"]
    let other = Model()
    other.names = [1: "z"]
    let (_, answer) = try open("v") { view in
      model.list.bind(to: view["a"])
      model.list.bind(to: view["b"], as: Short.self)
      other.list.bind(to: view["c"])
    }
    #expect(
      answer.contains(
        #""a":{"kind":"list","value":[{"id":1,"name":"a"}]},"b":{"kind":"list","value":[{"name":"a"}]},"#
          + #""c":{"kind":"list","value":[{"id":1,"name":"z"}]}"#))
  }

  @Test
  func `a value in many views is computed once a turn, when it is sent`() throws {
    let count = Property(1)
    var computed = 0
    func double() -> Computed<Int> {
      Computed(Identity(count), changes: count.toSignal().dropFirst(1).map { _ in }) {
        computed += 1
        return count.value * 2
      }
    }
    for i in 0..<8 {
      let (_, answer) = try open("v\(i)") { double().bind(to: $0["double"]) }
      #expect(answer.contains(#""double":{"kind":"state","value":2}"#))
    }
    #expect(computed == 1)
    for i in 2...50 { count.value = i }
    #expect(computed == 1)
    #expect(bench.lines().filter { $0.contains(#""double":{"value":100}"#) }.count == 8)
    #expect(computed == 2)
    count.value = 1
    count.value = 50
    #expect(bench.lines() == [], "the client has this state already")
  }

  @Test
  func `a list computed as a whole sends only the differences`() throws {
    let names = Property(["a", "b", "c"])
    var computed = 0
    for i in 0..<4 {
      try open("v\(i)") { view in
        Computed(Identity(names), changes: names.toSignal().dropFirst(1).map { _ in }) {
          computed += 1
          return names.value
        }
        .bind(to: view["list"])
      }
    }
    names.value.remove(at: 1)
    let lines = bench.lines()
    #expect(lines.count == 4)
    #expect(lines.allSatisfy { $0.contains(#""changes":[{"op":"remove","at":1}]"#) })
    #expect(computed == 2)
  }

  @Test
  func `elements are encoded only when they are sent`() throws {
    final class Counter {
      var count = 0
    }
    struct Counted: Encodable {
      let value: Int
      let counter: Counter
      func encode(to encoder: any Encoder) throws {
        counter.count += 1
        try value.encode(to: encoder)
      }
    }
    let counter = Counter()
    let (value, list) = (
      Property(Counted(value: 0, counter: counter)), Property([Counted(value: 0, counter: counter)])
    )
    try open("v") { view in
      value.bind(to: view["value"])
      list.bind(to: view["list"])
    }
    #expect(counter.count == 2)
    for i in 1...100 {
      value.value = Counted(value: i, counter: counter)
      list.value = [Counted(value: i, counter: counter)]
    }
    #expect(counter.count == 2)
    #expect(
      bench.lines().first?.contains(
        #""value":{"value":100},"#
          + #""list":{"changes":[{"op":"remove","at":0},{"op":"insert","at":0,"value":100}]}"#)
        == true)
    #expect(counter.count == 4)
  }

  @Test(arguments: 0..<40)
  func `random changes while rows are sent give every client the final rows`(
    seed: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(seed))
    bench.table.context.limits.lineOut = 1024
    let connections =
      [bench.connection]
      + (0..<2).map { _ in
        bench.table.connect(Peer(uid: 1, pid: 3, groups: [2]))
      }
    let transports = [bench.transport] + (0..<2).map { _ in FakeTransport() }
    for i in 1..<3 { connections[i].start(transports[i]) }
    for connection in connections { connection.lineOut = 1024 }
    var shown: [ReceivedList] = []
    func name() -> String {
      String(repeating: "n", count: .random(in: 1...200, using: &random)) + "\(random.next())"
    }
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      model.names[.random(in: 1...100, using: &random)] = name()
    }
    func openAll() throws {
      for (connection, transport) in zip(connections, transports) {
        for line in transport.lines() { _ = line }
        let view = try connection.views.open("test", as: Handle(name: "v1")) {
          model.list.bind(to: $0["list"])
        }
        var answer = ByteBuffer()
        view.writeAnswer(&answer, size: 1000)
        shown.append(ReceivedList("v1"))
        try shown[shown.count - 1].take(#"{"result":\#(answer.string)}"#)
      }
    }
    try openAll()
    func flush(_ rooms: [Int]) throws {
      bench.table.flush()
      for (i, transport) in transports.enumerated() {
        transport.room = rooms.randomElement(using: &random) ?? 0
        connections[i].becameWritable()
        bench.table.flush()
        for line in transport.lines() {
          #expect(line.utf8.count < 1024)
          try shown[i].take(line)
        }
      }
    }
    for _ in 0..<60 {
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let key = Int.random(in: 1...100, using: &random)
        switch Int.random(in: 0...19, using: &random) {
        case 0...8: model.set(key, name())
        case 9...15: model.set(key, nil)
        case 16:
          for key in 1...Int.random(in: 1...60, using: &random) { model.set(key, name()) }
        case 17: for key in key...(key + 40) { model.set(key, nil) }
        case 18:
          model.names[key] = name()
          model.names[key + 1] = nil
          model.changes.send(.all)
        default: model.set(key, model.names[key])
        }
      }
      try flush([0, 700, 2000, .max])
    }
    for _ in 0..<20 { try flush([.max]) }
    for shown in shown {
      #expect(shown.elements == model.texts)
      #expect(!shown.isMore)
    }
  }
}
