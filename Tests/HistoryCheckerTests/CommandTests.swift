import HistoryChecker
import Testing

/// Wrong histories of commands: each violation is found and shrunk to a minimal history.
struct CommandTests {
  /// Client `a` sets `x`, gets no answer, and repeats the command after it reconnects.
  private static let sketch = {
    var sketch = Sketch()
    sketch.noise(20)
    sketch.set("a", "x", 1)
    sketch.noise(20)
    sketch.set("a", "x", 2, isAnswered: false)
    sketch.line("a! killed")
    sketch.line(
      #"a-> {"id":7,"method":"cells.set","params":{"name":"x","value":2,"_meta":{"cmd":"a-2"}}}"#)
    sketch.line(#"a<- {"id":7,"result":{"value":2,"seq":52,"version":2,"replayed":true}}"#)
    sketch.noise(20)
    return sketch
  }()

  private static let event =
    #"journal {"seq":52,"event":{"type":"cells.set","stream":"cells/x","version":2,"data":{"value":2},"cmd":"a-2"}}"#

  @Test
  func `a correct history passes`() {
    #expect(smallest(Self.sketch.history) == "")
  }

  @Test
  func `an answered command that is missing in the journal is found`() {
    // The journal does not contain `a-2`.
    var sketch = Sketch()
    sketch.noise(20)
    sketch.line(
      #"a-> {"id":1,"method":"cells.set","params":{"name":"x","value":1,"_meta":{"cmd":"a-1"}}}"#)
    sketch.line(#"a<- {"id":1,"result":{"value":1,"seq":20,"version":1}}"#)
    sketch.noise(20)
    #expect(
      smallest(sketch.history) == """
        lost: command a-1 was answered with position 20, and the journal, up to 50, has it nowhere
        a-> {"id":1,"method":"cells.set","params":{"name":"x","value":1,"_meta":{"cmd":"a-1"}}}
        a<- {"id":1,"result":{"value":1,"seq":20,"version":1}}
        """)
  }

  @Test
  func `a command that ran twice is found`() {
    var sketch = Self.sketch
    sketch.write(
      "b", "cells.set", #""name":"x","value":2"#, returns: "2", type: "cells.set",
      stream: "cells/x", data: #"{"value":2}"#, isAnswered: false)
    let history = History(sketch.text.replacing(#""cmd":"b-1""#, with: #""cmd":"a-2""#))
    #expect(
      smallest(history) == """
        doubled: command a-2 is in the journal again at position 78
        # before: cells/x is 1
        \(Self.event)
        journal {"seq":78,"event":{"type":"cells.set","stream":"cells/x","version":3,"data":{"value":2},"cmd":"a-2"}}
        b-> {"id":1,"method":"cells.set","params":{"name":"x","value":2,"_meta":{"cmd":"a-2"}}}
        """)
  }

  @Test
  func `an answer with another position than its event is found`() {
    let history = Self.sketch.spoiled(
      #""id":7,"result":{"value":2,"seq":52"#, #""id":7,"result":{"value":2,"seq":51"#)
    #expect(
      smallest(history) == """
        meaning: command a-2 was answered with position 51, and is at 52
        \(Self.event)
        a-> {"id":7,"method":"cells.set","params":{"name":"x","value":2,"_meta":{"cmd":"a-2"}}}
        a<- {"id":7,"result":{"value":2,"seq":51,"version":2,"replayed":true}}
        """)
  }

  @Test
  func `a repeated command that is answered as a new one is found`() {
    var sketch = Self.sketch
    sketch.line(
      #"a-> {"id":8,"method":"cells.set","params":{"name":"x","value":2,"_meta":{"cmd":"a-2"}}}"#)
    sketch.line(#"a<- {"id":8,"result":{"value":2,"seq":52,"version":2}}"#)
    #expect(
      smallest(sketch.history).hasPrefix(
        "repeated: command a-2 was answered before, and is answered as new\n\(Self.event)\n"))
  }

  @Test
  func `an event that differs from its command is found`() {
    let history = Self.sketch.spoiled(
      #""version":2,"data":{"value":2},"cmd":"a-2""#, #""version":2,"data":{"value":3},"cmd":"a-2""#
    )
    #expect(
      smallest(history) == """
        event: position 52 is {"type":"cells.set","stream":"cells/x","version":2,"data":{"value":3},"cmd":"a-2"}, command a-2 does cells.set of cells/x: {"value":2}
        # before: cells/x is 1
        \(Self.event.replacing(#""data":{"value":2}"#, with: #""data":{"value":3}"#))
        a-> {"id":7,"method":"cells.set","params":{"name":"x","value":2,"_meta":{"cmd":"a-2"}}}
        """)
  }

  @Test
  func `an event without a command is found`() {
    let history = Self.sketch.spoiled(
      #""data":{"value":2},"cmd":"a-2""#, #""data":{"value":2},"cmd":"z-2""#)
    #expect(smallest(history).hasPrefix("unknown: position 52 is of z-2, which nobody sent\n"))
  }

  @Test
  func `a gap in the journal and wrong versions are found`() {
    let line = Self.event + "\n"
    #expect(
      smallest(Self.sketch.spoiled(line, "")).hasPrefix(
        "journal: behind position 51 stands 53\njournal {\"seq\":50"))
    let history = Self.sketch.spoiled(
      #""stream":"cells/x","version":2"#, #""stream":"cells/x","version":3"#)
    #expect(smallest(history).hasPrefix("journal: position 52 is version 3 of cells/x, not 2\n"))
  }

  @Test
  func `a wrong refusal is found`() {
    var sketch = Self.sketch
    sketch.line(
      #"a-> {"id":9,"method":"cells.toggle","params":{"name":"free","_meta":{"cmd":"a-9"}}}"#)
    sketch.line(
      #"a<- {"id":9,"error":{"code":1000,"message":"","data":{"name":"rejected","retry":false}}}"#)
    #expect(
      smallest(sketch.history).hasPrefix(
        "answer: command a-9 was answered rejected where it was neither so nor became so\n"))
  }

  @Test
  func `an answer without a position to a command with events is found`() {
    let history = Self.sketch.spoiled(
      #""id":7,"result":{"value":2,"seq":52,"version":2,"replayed":true}"#,
      #""id":7,"result":{"value":2}"#)
    #expect(
      smallest(history).hasPrefix(
        "answer: command a-2 was answered as if it had written nothing, and is at 52\n"))
  }
}
