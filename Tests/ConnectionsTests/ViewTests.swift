import Connections
import JSON
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct ViewTests {
  private let bench = Bench()

  /// Opens a view and returns it with the answer.
  private func open(
    _ name: String = "v1", _ bind: (View) -> Void
  ) throws -> (view: View, answer: String) {
    let view = try bench.connection.views.open("test", as: Handle(name: name)) { bind($0) }
    var answer = ByteBuffer()
    view.writeAnswer(&answer)
    return (view, answer.string)
  }

  private func next(_ props: String, view: String = "v1") -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"view":"\#(view)","seq":0,"props":{\#(props)}}}"#
  }

  @Test
  func `the answer contains assigned values and available bound values`() throws {
    let count = Property(3)
    let (_, answer) = try open { view in
      count.bind(to: view["count"])
      view.assign("name", "kim")
    }
    #expect(
      answer == #"{"view":"v1","binder":"test","seq":0,"props":"#
        + #"{"count":{"kind":"state","value":3},"name":{"kind":"state","value":"kim"}},"intents":{}}"#
    )
    #expect(bench.lines() == [])
  }

  @Test
  func `all changes of one turn arrive in one frame, without equal values`() throws {
    let (left, right) = (Property(1), Property("a"))
    _ = try open { view in
      left.bind(to: view["left"])
      right.bind(to: view["right"])
    }
    left.value = 2
    right.value = "b"
    left.value = 3
    #expect(bench.lines() == [next(#""left":{"value":3},"right":{"value":"b"}"#)])
    right.value = "b"
    #expect(bench.lines() == [])
    left.value = 4
    left.value = 3
    #expect(bench.lines() == [], "the client has this state already")
    left.value = 5
    right.value = "c"
    right.value = "b"
    #expect(bench.lines() == [next(#""left":{"value":5}"#)])
  }

  @Test
  func `a changed part of an element is sent alone`() throws {
    let list = MutableObservableArray([Row(id: 1, text: "a"), Row(id: 2, text: "b")])
    _ = try open { list.bind(to: $0["list"]) }
    list[1].text = "B"
    list[0].note = "new"
    #expect(
      bench.lines() == [
        next(
          #""list":{"changes":[{"op":"merge","at":1,"value":{"text":"B"}},"#
            + #"{"op":"merge","at":0,"value":{"note":"new"}}]}"#)
      ])
    list[0].note = nil
    #expect(
      bench.lines() == [
        next(#""list":{"changes":[{"op":"update","at":0,"value":{"id":1,"text":"a"}}]}"#)
      ])
  }

  @Test
  func `an observable list sends each change`() throws {
    let list = MutableObservableArray(["a", "b", "c"])
    let (_, answer) = try open { list.bind(to: $0["list"]) }
    #expect(answer.contains(#""list":{"kind":"list","value":["a","b","c"]}"#))
    list.insert("x", at: 1)
    list.move(from: 0, to: 2)
    #expect(
      bench.lines() == [
        next(
          #""list":{"changes":[{"op":"insert","at":1,"value":"x"},{"op":"move","from":0,"to":2}]}"#)
      ])
  }

  @Test
  func `a replaced list sends only the differences`() throws {
    let list = Property(["a", "b", "c", "d"])
    _ = try open { list.bind(to: $0["list"]) }
    list.value = ["a", "c", "d"]
    #expect(bench.lines() == [next(#""list":{"changes":[{"op":"remove","at":1}]}"#)])
    list.value = (0..<9).map { "n\($0)" }
    #expect(bench.lines().first?.contains(#""list":{"value":["n0","n1","#) == true)
  }

  @Test
  func `loading is sent with its states, and the previous value stays`() throws {
    struct Upstream: Error {}
    let loading = PassthroughSubject<LoadingState<[String], Upstream>, Never>()
    let (_, answer) = try open { view in
      loading.consumeLoadingState(by: view["friends"]).bind(to: view["friends"])
    }
    #expect(answer.contains(#""friends":{"kind":"list"}"#))
    loading.send(.loading)
    #expect(bench.lines() == [next(#""friends":{"kind":"loading","state":"loading"}"#)])
    loading.send(.loaded(["kim"]))
    #expect(bench.lines() == [next(#""friends":{"state":"loaded","value":["kim"]}"#)])
    loading.send(.loading)
    #expect(bench.lines() == [next(#""friends":{"state":"reloading"}"#)])
    loading.send(.loaded(["kim", "lee"]))
    #expect(
      bench.lines() == [
        next(
          #""friends":{"state":"loaded","changes":[{"op":"insert","at":1,"value":"lee"}]}"#)
      ])
    loading.send(.failed(Upstream()))
    #expect(bench.lines().first?.contains(#""state":"failed","error":{"code":-32603"#) == true)
  }

  @Test
  func `an element with the same id in a replaced list is changed`() throws {
    let list = Property([Row(id: 1, text: "a"), Row(id: 2, text: "b"), Row(id: 3, text: "c")])
    _ = try open { list.bind(to: $0["list"]) }
    list.value[1].text = "B"
    #expect(
      bench.lines() == [
        next(#""list":{"changes":[{"op":"merge","at":1,"value":{"text":"B"}}]}"#)
      ])
    list.value = [
      Row(id: 3, text: "c"), Row(id: 4, text: "d"), Row(id: 2, text: "b", note: "new"),
    ]
    // A row at another index is removed and inserted; another id is another row.
    #expect(
      bench.lines() == [
        next(
          #""list":{"changes":[{"op":"remove","at":1},{"op":"remove","at":0},"#
            + #"{"op":"insert","at":1,"value":{"id":4,"text":"d"}},"#
            + #"{"op":"insert","at":2,"value":{"id":2,"text":"b","note":"new"}}]}"#)
      ])
    list.value = list.value.map { Row(id: $0.id, text: $0.text + "!") } + [Row(id: 5, text: "e")]
    let lines = bench.lines()
    #expect(lines.first?.contains(#"[{"op":"merge","at":0,"value":{"text":"c!"}},"#) == true)
    #expect(lines.first?.contains(#"{"op":"update","at":2,"value":{"id":2,"text":"b!"}},"#) == true)
    #expect(lines.first?.contains(#"{"op":"insert","at":3,"value":{"id":5,"text":"e"}}]"#) == true)
  }

  @Test
  func `a slow client gets the newest values, and long lists as a whole`() throws {
    let count = Property(0)
    let list = MutableObservableArray([String]())
    _ = try open { view in
      count.bind(to: view["count"])
      list.bind(to: view["list"])
    }
    bench.transport.room = 0
    count.value = 1
    _ = bench.lines()
    for i in 0..<5000 {
      count.value = i
      list.append("element \(i % 10)")
      if list.count > 10 { list.remove(at: 0) }
      _ = bench.lines()
    }
    bench.transport.room = .max
    bench.connection.becameWritable()
    let lines = bench.lines()
    #expect(lines.first == next(#""count":{"value":1}"#), "what was on its way")
    #expect(lines.count == 2)
    #expect(lines.last?.contains(#""count":{"value":4999},"list":{"value":["element "#) == true)
  }

  @Test
  func `an intent calls a method, and a refusal is its answer`() throws {
    struct Rename: Decodable { let name: String }
    struct Refused: Error {}
    var names: [String] = []
    let (view, answer) = try open { view in
      view.intent("rename", Rename.self).calls { rename in
        guard !rename.name.isEmpty else { throw Refused() }
        names.append(rename.name)
      }
    }
    #expect(answer.contains(#""intents":{"rename":{"params":{"name":"string"}}}"#))
    let intent = try #require(view.intent(named: "rename"))
    _ = try intent.ready(for: JSONText(parsing: #"{"name":"kim"}"#))()
    #expect(names == ["kim"])
    #expect(throws: Refused.self) {
      try intent.ready(for: JSONText(parsing: #"{"name":""}"#))()
    }
    #expect(throws: JSONDecodingError.self) {
      _ = try intent.ready(for: JSONText(parsing: #"{"name":1}"#))
    }
    #expect(names == ["kim"])
  }

  @Test
  func `an intent is also a signal`() throws {
    struct Term: Decodable { let term: String }
    let (view, _) = try open { view in
      view.intent("term", Term.self).map { $0.term.uppercased() }.bind(to: view["result"])
    }
    let intent = try #require(view.intent(named: "term"))
    _ = try intent.ready(for: JSONText(parsing: #"{"term":"podcast"}"#))()
    #expect(bench.lines() == [next(#""result":{"value":"PODCAST"}"#)])
  }

  @Test
  func `properties and intents come in the order of the binder, with hints and conditions`() throws
  {
    let (view, answer) = try open { view in
      view.assign("title", "Tea")
      view["failure"].hint(.quiet)
      view.assign("failure", String?.none)
      view["joined"].hint(.hidden)
      view.assign("joined", true)
      view["cups"].hiding("key", "url")
      view.assign("cups", [1])
      view.intent("send").main().when("joined")
      view.intent("join").main().unless("joined")
      view.intent("clear").destructive()
    }
    let (props, intents) = (
      #""props":{"title":{"kind":"state","value":"Tea"},"#
        + #""failure":{"kind":"state","hint":"quiet","value":null},"#
        + #""joined":{"kind":"state","hint":"hidden","value":true},"#
        + #""cups":{"kind":"state","hides":["key","url"],"value":[1]}},"#,
      #""intents":{"send":{"params":{},"main":true,"when":"joined"},"#
        + #""join":{"params":{},"main":true,"unless":"joined"},"#
        + #""clear":{"params":{},"destructive":true}}"#
    )
    #expect(answer.contains(props + intents), "\(answer)")
    view.assign("joined", false)
    view.assign("title", "Milk")
    #expect(
      bench.lines().last?.contains(
        #""props":{"title":{"value":"Milk"},"joined":{"value":false}}"#) == true)
  }

  @Test
  func `an intent opens a view, whose frames follow the answer, and children close first`() throws {
    let (view, answer) = try open { view in
      view.intent("edit").opens("edit", as: .present) { child, _ in
        child.assign("draft", "kim")
        child.intent("save").dismisses()
        child.intent("more").opens("more") { _, _ in }
      }
    }
    #expect(answer.contains(#""edit":{"params":{},"opens":"edit"}"#))
    _ = try view.intent(named: "edit")?.ready(for: JSONText(parsing: "{}"))()
    bench.connection.views.tell(after: 5)
    #expect(bench.lines() == [], "what the answer waits for is not durable")
    bench.table.advance(to: 5)
    #expect(
      bench.lines() == [
        #"{"jsonrpc":"2.0","method":"opened","params":{"view":"v1.1","seq":5,"parent":"v1","#
          + #""binder":"edit","style":"present","props":{"draft":{"kind":"state","value":"kim"}},"#
          + #""intents":{"save":{"params":{}},"more":{"params":{},"opens":"more"}}}}"#
      ])
    let child = try #require(bench.connection.views[Handle(name: "v1.1") ?? .number(0)])
    _ = try child.intent(named: "more")?.ready(for: JSONText(parsing: "{}"))()
    #expect(bench.lines().first?.contains(#""view":"v1.1.1""#) == true)
    _ = try child.intent(named: "save")?.ready(for: JSONText(parsing: "{}"))()
    #expect(
      bench.lines()
        == ["v1.1.1", "v1.1"].map {
          #"{"jsonrpc":"2.0","method":"closed","params":{"view":"\#($0)","seq":5,"reason":"dismissed"}}"#
        })
    #expect(bench.connection.views.all.count == 1)
  }

  @Test
  func `a view that replaces another closes it`() throws {
    let user = Property<String?>(nil)
    _ = try open { view in
      user.bind(to: view) { view, user in
        view.open(user == nil ? "login" : "main", as: .replace) { child in
          if let user { child.assign("user", user) }
        }
      }
    }
    #expect(bench.lines().map { $0.contains(#""binder":"login","style":"replace""#) } == [true])
    user.value = "kim"
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(
      lines.first?.contains(#""closed","params":{"view":"v1.1","seq":0,"reason":"replaced""#)
        == true)
    #expect(lines.last?.contains(#""view":"v1.2","seq":0,"parent":"v1","binder":"main""#) == true)
  }

  @Test
  func `a view closed before the client knows of it is not sent`() throws {
    let (view, _) = try open { _ in }
    bench.transport.room = 0
    view.assign("x", 1)
    _ = bench.lines()
    view.open("child", as: .push) { _ in }?.dismiss()
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines() == [next(#""x":{"value":1}"#)])
  }

  @Test
  func `closing returns all views that the client knew, children first`() throws {
    let (view, _) = try open { view in view.open("child", as: .tab) { _ in } }
    _ = bench.lines()
    #expect(bench.connection.views.close(view).map(\.text.text) == [#""v1.1""#, #""v1""#])
    #expect(bench.lines() == [])
    #expect(bench.connection.views.all.isEmpty)
  }

  @Test
  func `no frame follows for a closed view, nor for a child that ended before it`() throws {
    let user = Property<String?>(nil)
    let (view, _) = try open { view in
      user.bind(to: view) { view, user in
        view.open(user == nil ? "login" : "main", as: .replace) { _ in }
      }
    }
    _ = bench.lines()
    user.value = "kim"
    #expect(bench.connection.views.close(view).map(\.text.text) == [#""v1.1""#, #""v1""#])
    #expect(bench.lines() == [])
  }

  @Test
  func `the number of views is limited, and their names are unique`() throws {
    for _ in 0..<64 { _ = try bench.connection.views.open("test", as: nil) { _ in } }
    let error = #expect(throws: WireError.self) {
      _ = try bench.connection.views.open("test", as: nil) { _ in }
    }
    #expect(error?.name == .limitReached)
    #expect(bench.connection.views.all.first?.open("child", as: .push) { _ in } == nil)
    _ = try bench.connection.views.close(#require(bench.connection.views.all.first))
    let taken = #expect(throws: WireError.self) {
      _ = try bench.connection.views.open("test", as: .number(2)) { _ in }
    }
    #expect(taken?.name == .alreadyExists)
  }

  @Test
  func `a view that does not fit into a line fails with the reason`() throws {
    let text = Property("")
    let (_, _) = try open { view in
      text.bind(to: view["text"])
      view.open("child", as: .push) { _ in }
    }
    _ = bench.lines()
    text.value = String(repeating: "x", count: 70_000)
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#""closed","params":{"view":"v1.1""#) == true)
    #expect(
      lines.last?.contains(#""fail","params":{"view":"v1","seq":0,"error":{"code":-32010"#) == true)
    #expect(bench.connection.views.all.isEmpty)
  }

  @Test
  func `the order of a binder's lines does not change the frames`() throws {
    var seen: Set<[String]> = []
    for seed in 0..<24 {
      let bench = Bench()
      bench.table.context.views.lineOrder = { lines in
        var lines = lines
        for i in lines.indices.reversed() { lines.swapAt(i, (seed * 7 + i * 3) % (i + 1)) }
        return lines
      }
      let count = Property(1)
      let list = MutableObservableArray(["a"])
      let view = try bench.connection.views.open("test", as: nil) { view in
        count.map { $0 * 2 }.bind(to: view["double"])
        count.bind(to: view["count"])
        list.bind(to: view["list"])
        view.assign("name", "kim")
        view.assign("age", 7)
      }
      var answer = ByteBuffer()
      view.writeAnswer(&answer)
      count.value = 2
      list.append("b")
      seen.insert([answer.string] + bench.lines())
    }
    #expect(seen.count == 1)
  }

  @Test
  func `a service lives as long as the view bound to it`() throws {
    final class Service {
      let name = Property("kim")
      var renamed: [String] = []
      func rename() { renamed.append(name.value) }
    }
    weak var bound: Service?
    weak var observed: Service?
    weak var assigned: Service?
    let view: View
    do {
      let (first, second, third) = (Service(), Service(), Service())
      (bound, observed, assigned) = (first, second, third)
      view = try open { view in
        // The service is the source of a signal, the observer of an intent, and read once.
        first.name.map { [first] in $0 + "\(first.renamed.count)" }.bind(to: view["name"])
        view.intent("rename").calls { _ in second.rename() }
        view.assign("static", third.name.value)
      }.view
    }
    #expect(bound != nil)
    #expect(observed != nil)
    #expect(assigned == nil)
    _ = bench.connection.views.close(view)
    #expect(bound == nil)
    #expect(observed == nil)
  }

  @Test
  func `opening and closing many views leaks nothing`() throws {
    let nodes = LiveNodes()
    let count = Property(0)
    try LiveNodes.$counter.withValue(nodes) {
      for i in 0..<50_000 {
        let view = try bench.connection.views.open("test", as: nil) { view in
          count.bind(to: view["count"])
          view.intent("more").opens("more") { _, _ in }
          view.open("child", as: .push) { count.bind(to: $0["count"]) }
        }
        count.value = i
        if i % 1000 == 0 { _ = bench.lines() }
        _ = bench.connection.views.close(view)
      }
      _ = bench.lines()
    }
    #expect(nodes.counts == [:])
    #expect(bench.connection.views.all.isEmpty)
  }

  @Test
  func `all views of a client end with it, children first`() throws {
    var ended: [String] = []
    _ = try open { view in
      view.bag += BlockDisposable { ended.append("parent") }
      view.open("child", as: .push) { $0.bag += BlockDisposable { ended.append("child") } }
    }
    bench.connection.end()
    #expect(ended == ["child", "parent"])
  }
}

/// An element of a list.
private struct Row: Encodable {
  let id: Int
  var text: String
  var note: String?
}
