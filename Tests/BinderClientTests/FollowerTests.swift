import BinderClient
import Glibc
import JSON
import Testing
import Wire

private func next(_ params: String) -> ScriptedDaemon.Step {
  .send(#"{"jsonrpc":"2.0","method":"next","params":{"sub":"t0",\#(params)}}"#)
}

private let notJournaled = ScriptedDaemon.Step.refuse(
  #"{"code":-32602,"message":"no past","data":{"name":"invalid_params","retry":false,"path":"/mode"}}"#
)

extension Follower {
  /// Returns the next updates as text.
  fileprivate func words(_ count: Int) throws -> [String] {
    try (0..<count).map { _ in
      switch try next(until: Deadline(inMilliseconds: 60_000)) {
      case .value(let value):
        "\(value.source)=\(value.value?.text ?? "gone")" + (value.isPresent ? "" : "!")
      case .event(let seq, let event): "\(seq) \(event)"
      case .caughtUp(_, let seq): "mark \(seq.map { "\($0)" } ?? "-")"
      case .missed(_, let seqs): "missed \(seqs.lowerBound) to \(seqs.upperBound)"
      }
    }
  }
}

struct FollowerTests {
  @Test
  func `a reader that accepts gaps requests this from the daemon`() throws {
    for passesGaps in [false, true] {
      let daemon = try ScriptedDaemon([
        [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#)]
      ])
      let client = BinderClient(socket: daemon.path, name: "test")
      _ = try client.follow([
        Topic(eventsFrom: nil, durable: DurableReader("d"), passesGaps: passesGaps)
      ])
      guard case .object(let params)? = try daemon.requests()[0][1]["params"] else {
        Issue.record("no parameters")
        return
      }
      #expect(params["on_gap"] == (passesGaps ? .string("continue") : nil))
    }
  }

  @Test
  func `removed events are reported`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        .send(
          #"{"jsonrpc":"2.0","method":"lagged","params":{"sub":"t0","seq":3,"reason":"compacted","missed":{"from":1,"to":3}}}"#
        ), next(#""seq":4,"event":{"type":"a.b"}"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: .string("start"))])
    #expect(try follower.words(2) == ["missed 1 to 3", #"4 {"type":"a.b"}"#])
  }

  @Test
  func `a list is rebuilt from its steps, and a step with a bad index is refused`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .answer(#"{"sub":"t0","epoch":"e","seq":1,"source":"lists/a","kind":"list","value":[1]}"#),
        next(#""seq":2,"changes":[{"op":"insert","at":1,"value":{"key":2}}]"#),
        next(#""seq":3,"changes":[{"op":"remove","at":2}]"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("lists/a")])
    #expect(
      try follower.words(3) == ["lists/a=[1]", "mark 1", #"lists/a=[1,{"key":2}]!"#])
    #expect(
      throws: ClientError.notUnderstood(
        #"the step {"op":"remove","at":2} does not fit a list of 2 elements"#)
    ) { try follower.words(1) }
  }

  @Test
  func `the first element of a new list may have a member named key`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .answer(#"{"sub":"t0","epoch":"e","seq":1,"source":"lists/a","gone":true}"#),
        next(#""seq":2,"changes":[{"op":"insert","at":0,"value":{"key":2}}]"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("lists/a")])
    #expect(try follower.words(2) == ["mark 1", #"lists/a=[{"key":2}]!"#])
  }

  @Test
  func `a loading source sends its value, or its state while there is none`() throws {
    let error =
      #"{"code":1000,"message":"no","data":{"name":"rejected","retry":false,"reason":"x"}}"#
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, notJournaled,
        .answer(#"{"sub":"t0","source":"feeds/a","kind":"loading","state":"loading"}"#),
        next(#""state":"loaded","value":1"#), next(#""state":"reloading","value":1"#),
        next(#""state":"failed","error":\#(error)"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("feeds/a")])
    #expect(
      try follower.words(5) == [
        #"feeds/a={"state":"loading"}"#, "mark -", "feeds/a=1!",
        #"feeds/a={"state":"reloading","value":1}!"#,
        #"feeds/a={"state":"failed","error":\#(error)}!"#,
      ])
  }

  @Test
  func `a watcher gets the current values, a mark, then every change`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .answer(#"{"sub":"t0","epoch":"e","seq":4,"values":{"cells/a":1,"cells/b":null}}"#),
        next(#""seq":5,"source":"cells/a","value":2"#),
        next(#""seq":6,"source":"cells/a","value":null"#),
        next(#""seq":7,"source":"cells/b","gone":true"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("cells/**")])
    #expect(
      try follower.words(6)
        == ["cells/a=1", "cells/b=null", "mark 4", "cells/a=2!", "cells/a=null!", "cells/b=gone!"])
  }

  @Test
  func `changes resume after the last one seen in the same journal, with one mark`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":4,"value":1}"#),
        next(#""seq":5,"value":2"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":6,"after":5}"#),
        next(#""seq":6,"value":3"#),
        .send(#"{"jsonrpc":"2.0","method":"caught_up","params":{"sub":"t0","seq":6}}"#),
        next(#""seq":7,"value":4"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":7,"after":7}"#),
        next(#""seq":8,"value":5"#), .hang,
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    var notes: [ConnectionNote] = []
    client.onNote = { notes.append($0) }
    var words: [String] = []
    do {
      let follower = try client.follow([Topic("cells/a")])
      words = try follower.words(6)
      // Nothing else comes on the third connection.
      #expect(throws: ClientError.timedOut) {
        try follower.next(until: Deadline(inMilliseconds: 20))
      }
    }
    #expect(
      words == ["cells/a=1", "mark 4", "cells/a=2!", "cells/a=3!", "cells/a=4!", "cells/a=5!"])
    #expect(
      notes == [
        .lost(reason: nil), .resumed(after: 5), .lost(reason: nil), .resumed(after: 7),
      ])
    let params = try daemon.requests().map { $0[1]["params"] }
    #expect(
      params == [
        .object([
          "source": .string("cells/a"), "sub": .string("t0"), "mode": .string("every"),
        ]),
        .object([
          "source": .string("cells/a"), "sub": .string("t0"), "mode": .string("every"),
          "from": .object(["after": .number(JSONNumber(5))]), "epoch": .string("e"),
        ]),
        .object([
          "source": .string("cells/a"), "sub": .string("t0"), "mode": .string("every"),
          "from": .object(["after": .number(JSONNumber(7))]), "epoch": .string("e"),
        ]),
      ])
  }

  @Test
  func `events also resume after a mark`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        next(#""seq":2,"event":{"type":"x"}"#),
        .send(#"{"jsonrpc":"2.0","method":"caught_up","params":{"sub":"t0","seq":9}}"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":9}"#),
        next(#""seq":10,"event":{"type":"y"}"#),
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: .string("start"))])
    #expect(try follower.words(3) == [#"2 {"type":"x"}"#, "mark 9", #"10 {"type":"y"}"#])
    let params = try daemon.requests().map { $0[1]["params"] }
    #expect(
      params[0]
        == .object([
          "source": .string("events"), "sub": .string("t0"), "from": .string("start"),
        ]))
    #expect(
      params[1]
        == .object([
          "source": .string("events"), "sub": .string("t0"),
          "from": .object(["after": .number(JSONNumber(9))]), "epoch": .string("e"),
        ]))
  }

  @Test
  func `a durable reader gets no event twice, and repeats lost acknowledgements`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        next(#""seq":2,"event":{"type":"x"}"#), next(#""seq":3,"event":{"type":"y"}"#), .take,
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        next(#""seq":2,"event":{"type":"x"}"#), .answer(#"{"sub":"t0","seq":2}"#),
        next(#""seq":3,"event":{"type":"y"}"#), next(#""seq":4,"event":{"type":"z"}"#),
        .answer(#"{"sub":"t0","seq":4}"#),
        .send(
          #"{"jsonrpc":"2.0","method":"closed","params":{"sub":"t0","reason":"stolen"}}"#),
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let reader = DurableReader("mailer", maxUnacknowledged: 5, steals: true)
    let follower = try client.follow([Topic(eventsFrom: .string("start"), durable: reader)])
    #expect(try follower.words(2) == [#"2 {"type":"x"}"#, #"3 {"type":"y"}"#])
    try follower.acknowledge(0, upTo: 2)
    #expect(try follower.words(1) == [#"4 {"type":"z"}"#])
    try follower.acknowledge(0, upTo: 4)
    #expect(throws: ClientError.closed(reason: "stolen")) {
      try follower.next(until: Deadline(inMilliseconds: 60_000))
    }
    let requests = try daemon.requests()
    let subscription = JSONValue.object([
      "source": .string("events"), "sub": .string("t0"), "durable": .string("mailer"),
      "max_unacked": .number(JSONNumber(5)), "steal": .bool(true), "from": .string("start"),
    ])
    #expect(requests.map { $0[1]["params"] } == [subscription, subscription])
    let acks = requests.map { $0.dropFirst(2).map { $0["params"]?.text.text ?? "" } }
    #expect(
      acks == [
        [#"{"sub":"t0","seq":2}"#], [#"{"sub":"t0","seq":2}"#, #"{"sub":"t0","seq":4}"#],
      ])
  }

  @Test
  func `a source that is not journaled resumes with its changed values`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, notJournaled,
        .answer(#"{"sub":"t0","values":{"s/a":1,"s/b":2,"s/c":3}}"#),
        next(#""source":"s/a","value":5"#),
      ],
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","values":{"s/a":5,"s/b":7,"s/d":8}}"#)],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("s/*")])
    #expect(
      try follower.words(8)
        == ["s/a=1", "s/b=2", "s/c=3", "mark -", "s/a=5!", "s/b=7!", "s/d=8!", "s/c=gone!"])
    let requests = try daemon.requests()
    #expect(requests[0].count == 3)
    #expect(
      requests[1][1]["params"] == .object(["source": .string("s/*"), "sub": .string("t0")]))
  }

  @Test
  func `a stream with a position ends on another journal`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":3}"#)],
      [
        ScriptedDaemon.hello,
        .refuse(
          #"{"code":1007,"message":"another","data":{"name":"epoch_mismatch","epoch":"f"}}"#),
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: nil)])
    #expect(try follower.words(1) == ["mark 3"])
    let error = #expect(throws: ClientError.self) {
      try follower.next(until: Deadline(inMilliseconds: 60_000))
    }
    guard case .refused(let refusal) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refusal.name == .epochMismatch)
  }

  @Test
  func `a stream without reconnection fails when its connection is lost`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":3}"#)]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: nil)], reconnects: false)
    _ = try follower.next()
    #expect(throws: ClientError.lost(reason: nil)) {
      try follower.next(until: Deadline(inMilliseconds: 60_000))
    }
  }

  @Test
  func `a closed output ends the wait`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":3}"#), .hang]
    ])
    var ends: [CInt] = [0, 0]
    pipe(&ends)
    let client = BinderClient(socket: daemon.path, name: "test")
    client.output = ends[1]
    let follower = try client.follow([Topic(eventsFrom: nil)])
    _ = try follower.next()
    close(ends[0])
    #expect(throws: ClientError.readerGone) {
      try follower.next(until: Deadline(inMilliseconds: 60_000))
    }
    close(ends[1])
  }

  @Test
  func `a connection that is lost before the first answer is made again`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .take],
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":1,"value":1}"#), .hang],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("cells/a")])
    #expect(try follower.words(2) == ["cells/a=1", "mark 1"])
  }

  // MARK: The same rules as in BinderAsync

  @Test
  func `a value that changed while the daemon was away comes without another change`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":1,"value":1}"#)],
      [ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":2,"value":2}"#), .hang],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("cells/a", everyMilliseconds: 1000)])
    #expect(try follower.words(3) == ["cells/a=1", "mark 1", "cells/a=2!"])
  }

  @Test
  func `changes of one event are given once each, if the connection is lost between them`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":4,"values":{}}"#),
        next(#""seq":5,"source":"s/a","value":1"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":4,"after":4}"#),
        next(#""seq":5,"source":"s/a","value":1"#), next(#""seq":5,"source":"s/b","value":2"#),
        next(#""seq":6,"source":"s/a","value":3"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","seq":5,"after":5}"#),
        next(#""seq":7,"source":"s/b","value":4"#), .hang,
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    do {
      let follower = try client.follow([Topic("s/*", mode: .every)])
      #expect(try follower.words(5) == ["mark 4", "s/a=1!", "s/b=2!", "s/a=3!", "s/b=4!"])
    }
    let from = try daemon.requests().map { requests -> JSONValue? in
      guard case .object(let params)? = requests[1]["params"] else { return nil }
      return params["from"]
    }
    let after = [4, 5].map { JSONValue.object(["after": .number(JSONNumber($0))]) }
    #expect(from == [nil, after[0], after[1]])
  }

  @Test
  func `a durable reader acknowledges no event of another journal that it has not given`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        next(#""seq":500,"event":{"type":"x"}"#), .answer(#"{"sub":"t0","seq":500}"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"f","after":0}"#),
        next(#""seq":2,"event":{"type":"y"}"#),
      ],
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"f","after":0}"#),
        next(#""seq":2,"event":{"type":"y"}"#), next(#""seq":3,"event":{"type":"z"}"#),
        // It would receive an acknowledgement.
        .take,
      ],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    do {
      let follower = try client.follow([Topic(eventsFrom: nil, durable: DurableReader("d"))])
      #expect(try follower.words(1) == [#"500 {"type":"x"}"#])
      try follower.acknowledge(0, upTo: 500)
      #expect(try follower.words(2) == [#"2 {"type":"y"}"#, #"3 {"type":"z"}"#])
    }
    #expect(try daemon.requests().map(\.count) == [3, 2, 2])
  }

  @Test
  func `a list that comes in parts is given once, as a whole`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .answer(#"{"sub":"t0","epoch":"e","seq":1,"kind":"list","value":[1],"more":true}"#),
        next(#""seq":1,"part":{"at":1,"value":[2],"last":false}"#),
        next(#""seq":1,"part":{"at":2,"value":[3],"last":true}"#),
        next(#""seq":2,"changes":[{"op":"reset","value":[7]}],"more":true"#),
        next(#""seq":2,"part":{"at":1,"value":[8],"last":true}"#), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic("lists/a")])
    #expect(try follower.words(3) == ["lists/a=[1,2,3]", "mark 1", "lists/a=[7,8]!"])
  }

  @Test
  func `a stream ends if the daemon names no time to return`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":3}"#),
        .send(#"{"jsonrpc":"2.0","method":"closing","params":{"reason":"protocol_abuse"}}"#),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: nil)])
    #expect(try follower.words(1) == ["mark 3"])
    #expect(throws: ClientError.lost(reason: "protocol_abuse")) {
      try follower.next(until: Deadline(inMilliseconds: 60_000))
    }
  }

  @Test
  func `what arrives before the end of a stream is given before its error`() throws {
    let closed = #"{"jsonrpc":"2.0","method":"closed","params":{"sub":"t0","reason":"stolen"}}"#
    let event =
      #"{"jsonrpc":"2.0","method":"next","params":{"sub":"t0","seq":1,"event":{"type":"x"}}}"#
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#),
        // One packet.
        .send(event + "\n" + closed), .hang,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try PolledFollower(
      [Topic(eventsFrom: nil, durable: DurableReader("d"))], of: client, reconnects: true)
    var seen: [String] = []
    let error = #expect(throws: ClientError.self) {
      while true {
        var end = pollfd(fd: follower.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, 100)
        for news in try follower.receive() {
          if case .update(.event(let seq, _)) = news { seen.append("\(seq)") }
        }
      }
    }
    #expect(error == .closed(reason: "stolen"))
    #expect(seen == ["1"])
  }

  @Test
  func `a polled stream of a source without a past falls back to its newest value`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, notJournaled, .answer(#"{"sub":"t0","value":5}"#), .hang]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try PolledFollower([Topic("system/load")], of: client, reconnects: true)
    var values: [JSONText?] = []
    while values.isEmpty {
      var end = pollfd(fd: follower.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
      poll(&end, 1, 100)
      for news in try follower.receive() {
        if case .update(.value(let value)) = news { values.append(value.value) }
      }
    }
    #expect(values == [JSONText(5)])
  }
}
