import HistoryChecker
import Testing

/// Wrong histories of readers and watchers.
struct ReadingTests {
  /// A reader of events is killed between positions 2 and 3, and resumes there.
  private static let reader = {
    var sketch = Sketch()
    for i in 1...4 { sketch.set("a", "x", i) }
    sketch.noise(20)
    func frame(_ seq: Int) -> String {
      #"r<- {"method":"next","params":{"sub":1,"seq":\#(seq),"event":{"type":"cells.set","stream":"cells/x","version":\#(seq),"data":{"value":\#(seq)},"cmd":"a-\#(seq)"}}}"#
    }
    func subscribe(after seq: Int) -> [String] {
      [
        #"r-> {"id":1,"method":"subscribe","params":{"source":"events","from":{"after":\#(seq)}}}"#,
        #"r<- {"id":1,"result":{"sub":1,"source":"events","kind":"events","after":\#(seq)}}"#,
      ]
    }
    for line in subscribe(after: 0) + [frame(1), frame(2), "r! killed"] { sketch.line(line) }
    for line in subscribe(after: 2) + [frame(3), frame(4)] { sketch.line(line) }
    return sketch
  }()

  private static func frame(_ seq: Int) -> String {
    reader.lines.first { $0.hasPrefix("r<-") && $0.contains(#""seq":\#(seq),"#) } ?? ""
  }

  private static let resumed = """
    r-> {"id":1,"method":"subscribe","params":{"source":"events","from":{"after":2}}}
    r<- {"id":1,"result":{"sub":1,"source":"events","kind":"events","after":2}}
    """

  private static func event(_ seq: Int) -> String { reader.journal[seq - 1] }

  @Test
  func `a correct history passes`() {
    #expect(smallest(Self.reader.history) == "")
    #expect(smallest(Self.watcher.history) == "")
    #expect(smallest(Self.lists.history) == "")
  }

  @Test
  func `a reader that skips an event is found`() {
    let history = Self.reader.spoiled(Self.frame(3) + "\n", "")
    #expect(
      smallest(history) == """
        gap: r, who watches events as 1, received 4, and has missed 3
        \(Self.event(3))
        \(Self.resumed)
        \(Self.frame(4))
        """)
  }

  @Test
  func `a duplicate event is found`() {
    let history = Self.reader.spoiled(
      Self.frame(3) + "\n", Self.frame(3) + "\n" + Self.frame(3) + "\n")
    #expect(
      smallest(history) == """
        gap: r, who watches events as 1, received 3 again, or of what it does not want
        \(Self.resumed)
        \(Self.frame(3))
        \(Self.frame(3))
        """)
  }

  @Test
  func `events out of order are found`() {
    let history = Self.reader.spoiled(
      Self.frame(3) + "\n" + Self.frame(4), Self.frame(4) + "\n" + Self.frame(3))
    #expect(
      smallest(history).hasPrefix(
        "gap: r, who watches events as 1, received 4, and has missed 3\n"))
  }

  @Test
  func `a position with another event before the crash is found`() {
    let seen = Self.frame(2).replacing(#""data":{"value":2}"#, with: #""data":{"value":9}"#)
    let history = Self.reader.spoiled(Self.frame(2), seen)
    let found = smallest(history)
    #expect(found.hasPrefix("meaning: r, who watches events as 1, was informed that 2 is "))
    #expect(
      found.hasSuffix(
        """
        \(Self.event(1))
        \(Self.event(2))
        r-> {"id":1,"method":"subscribe","params":{"source":"events","from":{"after":0}}}
        r<- {"id":1,"result":{"sub":1,"source":"events","kind":"events","after":0}}
        \(Self.frame(1))
        \(seen)
        """))
  }

  @Test
  func `a position that was shown and lost is found`() {
    var sketch = Sketch()
    sketch.noise(4)
    sketch.line(#"r-> {"id":1,"method":"get","params":{"source":"cells/x"}}"#)
    sketch.line(#"r<- {"id":1,"result":{"source":"cells/x","kind":"state","seq":9,"value":1}}"#)
    #expect(
      smallest(sketch.history) == """
        lost: r was shown position 9, and the journal ends at 5
        r-> {"id":1,"method":"get","params":{"source":"cells/x"}}
        r<- {"id":1,"result":{"source":"cells/x","kind":"state","seq":9,"value":1}}
        """)
  }

  @Test
  func `a reader that resumes at a wrong position is found`() {
    let history = Self.reader.spoiled(#""kind":"events","after":2"#, #""kind":"events","after":3"#)
    #expect(
      smallest(history).hasPrefix(
        "gap: r, who watches events as 1, asks for what is behind 2 and gets it from 3 on\n"))
  }

  // MARK: Values

  /// A slow watcher of `x` gets positions 1 and 4.
  private static let watcher = {
    var sketch = Sketch()
    sketch.line(#"w-> {"id":1,"method":"subscribe","params":{"source":"cells/x"}}"#)
    sketch.line(
      #"w<- {"id":1,"result":{"sub":1,"source":"cells/x","kind":"state","seq":0,"gone":true}}"#)
    for i in 1...4 { sketch.set("a", "x", i) }
    sketch.noise(20)
    sketch.line(#"w<- {"method":"next","params":{"sub":1,"seq":1,"value":1}}"#)
    sketch.line(#"w<- {"method":"next","params":{"sub":1,"seq":4,"value":4,"skipped":2}}"#)
    sketch.line(#"w-> {"id":2,"method":"get","params":{"source":"cells/x"}}"#)
    sketch.line(#"w<- {"id":2,"result":{"source":"cells/x","kind":"state","seq":29,"value":4}}"#)
    return sketch
  }()

  @Test
  func `a wrong number of skipped changes is found`() {
    let history = Self.watcher.spoiled(#""skipped":2"#, #""skipped":1"#)
    #expect(
      smallest(history) == """
        skipped: w, who watches cells/x as 1, was informed at 4 that 1 were left out, and 2 were
        \(Self.watcher.journal[0])
        \(Self.watcher.journal[1])
        \(Self.watcher.journal[2])
        \(Self.watcher.journal[3])
        w-> {"id":1,"method":"subscribe","params":{"source":"cells/x"}}
        w<- {"id":1,"result":{"sub":1,"source":"cells/x","kind":"state","seq":0,"gone":true}}
        w<- {"method":"next","params":{"sub":1,"seq":1,"value":1}}
        w<- {"method":"next","params":{"sub":1,"seq":4,"value":4,"skipped":1}}
        """)
  }

  @Test(arguments: [(1, true), (3, false)])
  func `a source added and removed in a pattern is not counted as skipped`(
    skipped: Int, isRight: Bool
  ) {
    var sketch = Sketch()
    sketch.line(#"w-> {"id":1,"method":"subscribe","params":{"source":"cells/*"}}"#)
    sketch.line(
      #"w<- {"id":1,"result":{"sub":1,"source":"cells/*","kind":"state","seq":0,"values":{}}}"#)
    sketch.set("a", "x", 3)
    sketch.write(
      "a", "cells.remove", #""name":"x""#, returns: "true", type: "cells.removed",
      stream: "cells/x",
      data: "{}")
    sketch.set("a", "x", 1)
    sketch.set("a", "x", 3)
    sketch.line(
      #"w<- {"method":"next","params":{"sub":1,"seq":4,"source":"cells/x","value":3,"skipped":\#(skipped)}}"#
    )
    #expect(
      smallest(sketch.history).hasPrefix(
        isRight
          ? ""
          : "skipped: w, who watches cells/* as 1, was informed at 4 that 3 of cells/x were left out, and 1 were\n"
      ))
    #expect(smallest(sketch.history).isEmpty == isRight)
  }

  @Test
  func `a value that differs from that of its position is found`() {
    let history = Self.watcher.spoiled(#""seq":29,"value":4"#, #""seq":29,"value":3"#)
    #expect(
      smallest(history) == """
        value: w was informed that cells/x is 3 at 29, and it is 4
        \(Self.watcher.journal[3])
        w-> {"id":2,"method":"get","params":{"source":"cells/x"}}
        w<- {"id":2,"result":{"source":"cells/x","kind":"state","seq":29,"value":3}}
        """)
  }

  @Test
  func `a value older than a known position is found`() {
    let history = Self.watcher.spoiled(#""seq":29,"value":4"#, #""seq":3,"value":3"#)
    #expect(
      smallest(history).hasPrefix("stale: w reads as of 3 what was asked for when 29 was known\n"))
  }

  @Test
  func `a sync that is answered too early is found`() {
    var sketch = Sketch()
    sketch.line(#"w-> {"id":1,"method":"subscribe","params":{"source":"cells/x"}}"#)
    sketch.line(
      #"w<- {"id":1,"result":{"sub":1,"source":"cells/x","kind":"state","seq":0,"gone":true}}"#)
    sketch.set("a", "x", 1)
    sketch.line(#"w-> {"id":2,"method":"sync","params":{"seq":1}}"#)
    sketch.line(#"w<- {"id":2,"result":{"seq":1}}"#)
    #expect(
      smallest(sketch.history).hasPrefix(
        "stale: w, who watches cells/x as 1, was shown (none), and it is 1 from 1 to 1\n"))
  }

  @Test(arguments: [true, false])
  func `sync can omit a source that was added and removed`(isGone: Bool) {
    var sketch = Sketch()
    sketch.line(#"w-> {"id":1,"method":"subscribe","params":{"source":"cells/*"}}"#)
    sketch.line(
      #"w<- {"id":1,"result":{"sub":1,"source":"cells/*","kind":"state","seq":0,"values":{}}}"#)
    sketch.set("a", "x", 1)
    if isGone {
      sketch.write(
        "a", "cells.remove", #""name":"x""#, returns: "true", type: "cells.removed",
        stream: "cells/x", data: "{}")
    } else {
      sketch.set("a", "x", 2)
    }
    sketch.line(#"w-> {"id":2,"method":"sync","params":{"seq":1}}"#)
    sketch.line(#"w<- {"id":2,"result":{"seq":2}}"#)
    #expect(smallest(sketch.history).isEmpty == isGone)
  }

  @Test
  func `a frame of an ended subscription is found`() {
    var sketch = Self.watcher
    sketch.line(#"w-> {"id":3,"method":"unsubscribe","params":{"sub":1}}"#)
    sketch.line(#"w<- {"id":3,"result":{"sub":1,"was":"active","seq":29}}"#)
    sketch.line(#"w<- {"method":"next","params":{"sub":1,"seq":29,"value":4}}"#)
    #expect(
      smallest(sketch.history) == """
        order: w hears of 1, which it does not watch
        w<- {"method":"next","params":{"sub":1,"seq":29,"value":4}}
        """)
  }

  // MARK: Lists

  /// A watcher of a list gets each step.
  private static let lists = {
    var sketch = Sketch()
    sketch.noise(8)
    sketch.insert("a", "l", 1, at: 0)
    sketch.line(#"w-> {"id":1,"method":"subscribe","params":{"source":"lists/l"}}"#)
    sketch.line(
      #"w<- {"id":1,"result":{"sub":1,"source":"lists/l","kind":"list","seq":11,"value":[1]}}"#)
    sketch.insert("a", "l", 2, at: 0)
    sketch.insert("a", "l", 3, at: 1)
    sketch.line(
      #"w<- {"method":"next","params":{"sub":1,"seq":12,"changes":[{"op":"insert","at":0,"value":2}]}}"#
    )
    sketch.line(
      #"w<- {"method":"next","params":{"sub":1,"seq":13,"changes":[{"op":"insert","at":1,"value":3}]}}"#
    )
    return sketch
  }()

  @Test
  func `steps that do not give the list are found`() {
    let history = Self.lists.spoiled(
      #""op":"insert","at":1,"value":3"#, #""op":"insert","at":2,"value":3"#)
    #expect(
      smallest(history) == """
        steps: w, who watches lists/l as 1, has [2,1,3] at 13, and it is [2,3,1]
        \(Self.lists.journal[10])
        \(Self.lists.journal[11])
        \(Self.lists.journal[12])
        w-> {"id":1,"method":"subscribe","params":{"source":"lists/l"}}
        w<- {"id":1,"result":{"sub":1,"source":"lists/l","kind":"list","seq":11,"value":[1]}}
        w<- {"method":"next","params":{"sub":1,"seq":12,"changes":[{"op":"insert","at":0,"value":2}]}}
        w<- {"method":"next","params":{"sub":1,"seq":13,"changes":[{"op":"insert","at":2,"value":3}]}}
        """)
  }

  @Test
  func `a step skipped without notice is found`() {
    let line =
      #"w<- {"method":"next","params":{"sub":1,"seq":12,"changes":[{"op":"insert","at":0,"value":2}]}}"#
    #expect(
      smallest(Self.lists.spoiled(line + "\n", "")).hasPrefix(
        "skipped: w, who watches lists/l as 1, received 1 steps at 13 and 0 left out, of 2\n"))
  }
}
