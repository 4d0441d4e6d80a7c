import TestSupport
import Testing

/// Violations of each ordering rule.
struct OrderRecorderTests {
  /// Plays `->` and `<-` lines.
  ///
  /// - Returns: The rule that the last line breaks; the lines before it must break none.
  private func fault(_ lines: String...) -> String? {
    var recorder = OrderRecorder()
    var fault: String?
    for line in lines {
      #expect(fault == nil, "\(line)")
      let text = line.dropFirst(3)
      if line.hasPrefix("->") {
        recorder.sent(Array((text + "\n").utf8))
      } else {
        fault = recorder.received(String(text))
      }
    }
    return fault.map { String($0.prefix { $0 != "\n" }) }
  }

  private let subscribe = #"-> {"id":1,"method":"subscribe","params":{"source":"a/b"}}"#
  private let subscribed = #"<- {"id":1,"result":{"sub":1,"seq":4}}"#

  // MARK: One reply per request, in order

  @Test
  func `replies in order pass, also errors and null ids`() {
    #expect(
      fault(
        #"-> {"id":1,"method":"a"}"#, #"-> {"method":"b"}"#, "->  ",
        #"-> {"id":null,"method":"c"}"#,
        "-> x", #"-> {"id":1.0,"method":"d"}"#, #"<- {"id":1,"result":{}}"#,
        #"<- {"id":null,"result":{}}"#,
        #"<- {"id":null,"error":{"data":{"name":"parse_error"}}}"#, #"<- {"id":1.0,"result":{}}"#)
        == nil)
  }

  @Test
  func `a reply without a request and a second reply are found`() {
    #expect(fault(#"<- {"id":1,"result":{}}"#) == "nobody has asked for this")
    #expect(
      fault(#"-> {"id":1,"method":"a"}"#, #"<- {"id":1,"result":{}}"#, #"<- {"id":1,"result":{}}"#)
        == "nobody has asked for this")
    #expect(
      fault(#"-> {"method":"a"}"#, #"<- {"id":null,"result":{}}"#) == "nobody has asked for this")
    #expect(
      fault(#"-> {"id":1.0,"method":"a"}"#, #"<- {"id":1,"result":{}}"#)
        == "nobody has asked for this")
  }

  @Test
  func `replies out of order are found`() {
    #expect(
      fault(
        #"-> {"id":1,"method":"a"}"#, #"-> {"id":2,"method":"b"}"#, #"<- {"id":2,"result":{}}"#)
        == "the request before, a, is not answered yet")
  }

  @Test
  func `async requests can be overtaken, and overtake others`() {
    #expect(
      fault(
        #"-> {"id":1,"method":"history"}"#, #"-> {"id":2,"method":"b"}"#,
        #"-> {"id":3,"method":"sync"}"#,
        #"<- {"id":3,"result":{}}"#, #"<- {"id":2,"result":{}}"#, #"<- {"id":1,"result":{}}"#)
        == nil)
  }

  @Test
  func `a command can be overtaken only if it is a repeat`() {
    func play(_ result: String) -> String? {
      fault(
        #"-> {"id":1,"method":"a","params":{"_meta":{"cmd":"x"}}}"#, #"-> {"id":2,"method":"b"}"#,
        #"<- {"id":2,"result":{}}"#, #"<- {"id":1,"result":{\#(result)}}"#)
    }
    #expect(play(#""replayed":true"#) == nil)
    #expect(play("") == "a later request was answered first")
  }

  @Test
  func `a batch is answered by one array, in order`() {
    let batch = #"-> [{"id":1,"method":"a"},{"method":"b"},{"id":2,"method":"c"}]"#
    #expect(fault(batch, #"<- [{"id":1,"result":{}},{"id":2,"result":{}}]"#) == nil)
    #expect(
      fault(batch, #"<- [{"id":2,"result":{}},{"id":1,"result":{}}]"#)
        == "no batch is answered by this")
    #expect(fault(batch, #"<- [{"id":1,"result":{}}]"#) == "no batch is answered by this")
    #expect(fault(batch, #"<- {"id":1,"result":{}}"#) == "nobody has asked for this")
  }

  // MARK: Subscriptions

  @Test
  func `a frame before the reply to its subscription is found`() {
    #expect(
      fault(subscribe, #"<- {"method":"next","params":{"sub":1,"seq":5}}"#)
        == "1 is told of before the reply to its subscription")
  }

  @Test(arguments: [4, 3])
  func `a position that does not grow is found`(seq: Int) {
    #expect(
      fault(subscribe, subscribed, #"<- {"method":"next","params":{"sub":1,"seq":\#(seq)}}"#)
        == "1 is told of \(seq) behind 4")
    #expect(
      fault(
        subscribe, #"<- {"id":1,"result":{"sub":1,"seq":0}}"#,
        #"<- {"method":"next","params":{"sub":1,"seq":4}}"#,
        #"<- {"method":"next","params":{"sub":1,"seq":\#(seq)}}"#) == "1 is told of \(seq) behind 4"
    )
  }

  @Test
  func `a caught_up mark at the position of the reader passes, and an earlier one is found`() {
    #expect(
      fault(subscribe, subscribed, #"<- {"method":"caught_up","params":{"sub":1,"seq":4}}"#) == nil)
    #expect(
      fault(subscribe, subscribed, #"<- {"method":"caught_up","params":{"sub":1,"seq":3}}"#)
        == "1 is told of 3 behind 4")
  }

  @Test
  func `parts of a value must have its position`() {
    #expect(
      fault(subscribe, subscribed, #"<- {"method":"next","params":{"sub":1,"seq":4,"part":{}}}"#)
        == nil)
    #expect(
      fault(subscribe, subscribed, #"<- {"method":"next","params":{"sub":1,"seq":5,"part":{}}}"#)
        == "1 is told of 5 behind 4")
  }

  @Test
  func `several entries in a line must have growing positions`() {
    func play(_ items: String) -> String? {
      fault(
        subscribe, subscribed,
        #"<- {"method":"next","params":{"sub":1,"seq":6,"items":[\#(items)]}}"#)
    }
    #expect(play(#"{"seq":5},{"seq":6}"#) == nil)
    #expect(play(#"{"seq":6},{"seq":5}"#) == "1: an item is not behind 6")
    #expect(play(#"{"seq":4},{"seq":6}"#) == "1: an item is not behind 4")
    #expect(play(#"{"seq":5}"#) == "1: the last item is not at the frame's seq")
  }

  // MARK: After an end

  @Test
  func `a frame after the reply to unsubscribe is found`() {
    #expect(
      fault(
        subscribe, subscribed, #"-> {"id":2,"method":"unsubscribe","params":{"sub":1}}"#,
        #"<- {"method":"next","params":{"sub":1,"seq":5}}"#, #"<- {"id":2,"result":{"sub":1}}"#,
        #"<- {"method":"next","params":{"sub":1,"seq":6}}"#) == "1 has ended")
  }

  @Test(arguments: ["complete", "fail"])
  func `a frame after the end of a subscription is found`(end: String) {
    #expect(
      fault(
        subscribe, subscribed, #"<- {"method":"\#(end)","params":{"sub":1,"seq":5}}"#,
        #"<- {"method":"next","params":{"sub":1,"seq":6}}"#) == "1 has ended")
  }

  @Test
  func `a reused handle is a new subscription`() {
    #expect(
      fault(
        subscribe, subscribed, #"<- {"method":"fail","params":{"sub":1,"seq":9}}"#, subscribe,
        subscribed, #"<- {"method":"next","params":{"sub":1,"seq":5}}"#) == nil)
  }

  @Test
  func `any line after closing is found`() {
    #expect(
      fault(
        #"-> {"id":1,"method":"a"}"#, #"<- {"method":"closing","params":{"reason":"shutdown"}}"#,
        #"<- {"id":1,"result":{}}"#) == "a line comes after closing")
  }

  @Test
  func `a failure of an unknown or ended binding is found`() {
    let failure = #"<- {"method":"fail","params":{"binding":"b","error":{}}}"#
    let bind = #"-> {"id":1,"method":"bind"}"#
    let bound = #"<- {"id":1,"result":{"binding":"b"}}"#
    #expect(fault(failure) == #"nobody has bound "b" here"#)
    #expect(fault(bind, bound, failure) == nil)
    #expect(
      fault(
        bind, bound, #"-> {"id":2,"method":"unbind"}"#, #"<- {"id":2,"result":{"binding":"b"}}"#,
        failure)
        == #"nobody has bound "b" here"#)
  }

  // MARK: Views

  private let open = #"-> {"id":1,"method":"open"}"#
  private let opened = #"<- {"id":1,"result":{"view":"v1"}}"#
  private let child = #"<- {"method":"opened","params":{"view":"v1.1","parent":"v1"}}"#

  @Test
  func `a parent that closes before its child is found`() {
    func close(_ view: String) -> String { #"<- {"method":"closed","params":{"view":"\#(view)"}}"# }
    #expect(fault(open, opened, child, close("v1.1"), close("v1")) == nil)
    #expect(fault(open, opened, child, close("v1")) == #""v1" is closed before its child "v1.1""#)
    #expect(
      fault(
        open, opened, child, #"-> {"id":2,"method":"close"}"#,
        #"<- {"id":2,"result":{"view":"v1","closed":["v1","v1.1"]}}"#)
        == #""v1" is closed before its child "v1.1""#)
  }

  @Test
  func `a view that goes back, or fails before its child closes, is found`() {
    #expect(
      fault(
        open, opened, #"<- {"method":"next","params":{"view":"v1","seq":5}}"#,
        #"<- {"method":"next","params":{"view":"v1","seq":5}}"#,
        #"<- {"method":"next","params":{"view":"v1","seq":4}}"#) == #""v1" goes back to 4"#)
    #expect(
      fault(open, opened, child, #"<- {"method":"fail","params":{"view":"v1","seq":5}}"#)
        == #""v1" is closed before its child "v1.1""#)
  }

  @Test
  func `a frame of an unknown or closed view is found`() {
    let next = #"<- {"method":"next","params":{"view":"v1","seq":5}}"#
    #expect(fault(next) == #""v1" is not open"#)
    #expect(fault(child) == #""v1.1" is opened in "v1", which is not"#)
    #expect(fault(open, opened, next) == nil)
    #expect(
      fault(open, opened, #"<- {"method":"closed","params":{"view":"v1"}}"#, next)
        == #""v1" is not open"#)
  }

  // MARK: Sent bytes

  @Test
  func `a line counts when it is complete, in pieces of any size`() {
    var recorder = OrderRecorder()
    recorder.sent(Array(#"{"id":1,"me"#.utf8))
    recorder.sent(Array(#"thod":"a"}"#.utf8))
    #expect(
      recorder.received(#"{"id":1,"result":{}}"#)?.hasPrefix("nobody has asked for this\n") == true)
    recorder.sentEnd()
    #expect(recorder.received(#"{"id":1,"result":{}}"#) == nil)
  }

  @Test
  func `a line over the limit is refused once, before its end`() {
    var recorder = OrderRecorder()
    let refusal = #"{"id":null,"error":{"data":{"name":"line_too_long"}}}"#
    recorder.sent(Array(repeating: UInt8(ascii: "a"), count: 3 << 20))
    #expect(recorder.received(refusal) == nil)
    recorder.sent([UInt8(ascii: "\n")])
    #expect(recorder.received(refusal)?.hasPrefix("nobody has asked for this\n") == true)
  }
}
