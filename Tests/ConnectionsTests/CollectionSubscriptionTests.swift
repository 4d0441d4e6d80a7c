import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// A client of a list that the test changes.
@Suite(.leavesNothing)
struct CollectionSubscriptionTests {
  let bench = Bench()
  let list = FakeList()

  private func subscribe(kind: SourceKind = .list) -> [String] {
    let list = list
    let source = CollectionSource(
      name: "lists/a", elements: { .list(LongArray(list.elements)) },
      steps: list.steps.toSignal())
    let subscription = CollectionSubscription(
      .number(1), to: source, at: list.seq, on: bench.connection)
    bench.methods["subscribe"] = { call in
      call.answer { buffer in
        buffer.append("{\"x\":0")
        subscription.writeValue(&buffer)
        buffer.append("}")
      }
      call.connection.add(subscription)
      return .done
    }
    bench.receive(request(1, "subscribe"))
    bench.methods["subscribe"] = nil
    return bench.lines()
  }

  private func next(_ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":1,\#(rest)}}"#
  }

  @Test
  func `all changes of one turn arrive in one frame`() {
    #expect(subscribe() == [result(1, #"{"x":0,"value":[]}"#)])
    list.append("1")
    list.append("2")
    #expect(
      bench.lines() == [
        next(
          #""seq":2,"changes":[{"op":"insert","at":0,"value":1},{"op":"insert","at":1,"value":2}]"#)
      ])
  }

  @Test
  func `a long list arrives in parts, and later changes follow the last part`() throws {
    for i in 0..<5_000 { list.append("\"\(i) \(String(repeating: "x", count: 40))\"") }
    bench.transport.room = 10_000
    var lines = subscribe()
    list.append("\"late\"")
    bench.transport.room = .max
    bench.connection.becameWritable()
    lines += bench.lines()
    var values: [JSONText] = []
    for line in lines {
      #expect(line.utf8.count <= 65_536)
      guard case .object(let frame) = try JSONValue(parsing: line) else { continue }
      if case .object(let result)? = frame["result"] {
        #expect(result["more"] == .bool(true))
        values += result["value"]?.text.elements ?? []
      } else if case .object(let params)? = frame["params"],
        case .object(let part)? = params["part"]
      {
        #expect(part["at"] == .number(JSONNumber(values.count)))
        #expect(params["seq"] == .number(JSONNumber(5_000)))
        values += part["value"]?.text.elements ?? []
        #expect(part["last"] == .bool(values.count == 5_000))
      }
    }
    #expect(values == Array(list.elements.dropLast()))
    #expect(
      lines.last == next(#""seq":5001,"changes":[{"op":"insert","at":5000,"value":"late"}]"#))
  }

  @Test
  func `a client too far behind gets the whole list and the number of skipped changes`() {
    _ = subscribe()
    bench.transport.room = 0
    list.append("0")
    #expect(bench.lines() == [])
    for i in 1..<10 { list.append("\(i)") }
    for _ in 0..<10_000 { list.update("\"\(String(repeating: "y", count: 40))\"") }
    bench.transport.room = .max
    bench.connection.becameWritable()
    let lines = bench.lines()
    #expect(lines.count == 2)
    #expect(lines.first == next(#""seq":1,"changes":[{"op":"insert","at":0,"value":0}]"#))
    #expect(lines.last?.contains(#""seq":10010,"changes":[{"op":"reset","value":["yyy"#) == true)
    #expect(lines.last?.hasSuffix(#"1,2,3,4,5,6,7,8,9]}],"skipped":10008}}"#) == true)
  }

  @Test
  func `a list without subscribers has no observers`() {
    _ = subscribe()
    #expect(list.steps.hasObservers)
    bench.connection.end()
    #expect(!list.steps.hasObservers)
  }
}

/// A list that emits its steps.
final class FakeList {
  private(set) var elements: [JSONText] = []
  private(set) var seq: UInt64 = 0
  let steps = PassthroughSubject<CollectionStep, Never>()

  func append(_ value: String) {
    elements.append(JSONText(trusted: value))
    tell(.insert(at: elements.count - 1, JSONText(trusted: value)))
  }

  func update(_ value: String) {
    elements[0] = JSONText(trusted: value)
    tell(.update(at: 0, JSONText(trusted: value)))
  }

  private func tell(_ change: CollectionChange) {
    seq += 1
    steps.send(CollectionStep(seq: seq, change: change))
  }
}
