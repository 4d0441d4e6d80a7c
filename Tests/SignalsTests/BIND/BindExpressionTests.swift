import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct BindExpressionTests {
  @Test(arguments: BindOperator.allCases)
  func `white space between the parts is ignored`(sign: BindOperator) throws {
    for text in [
      "keyPath1\(sign.rawValue)keyPath2", "keyPath1 \(sign.rawValue) keyPath2",
      "  keyPath1     \(sign.rawValue)\t\r\n keyPath2 ",
    ] {
      let expression = try BindExpression(text)
      #expect(expression.left == "keyPath1")
      #expect(expression.operator == sign)
      #expect(expression.right == "keyPath2")
      #expect(expression.transformers.isEmpty)
    }
  }

  @Test
  func `the six operators state the direction and the assignment at the start`() {
    let table: [BindOperator: [Bool]] = [
      .leftToRight: [true, false, true], .leftToRightLater: [true, false, false],
      .rightToLeft: [false, true, true], .rightToLeftLater: [false, true, false],
      .both: [true, true, true], .bothLater: [true, true, false],
    ]
    for sign in BindOperator.allCases {
      #expect([sign.goesRight, sign.goesLeft, sign.assignsAtOnce] == table[sign])
    }
    #expect(BindOperator.allCases.map(\.rawValue) == ["~>", "<~", "<>", "!~>", "<~!", "<!>"])
  }

  @Test
  func `a path is any text without operator characters`() throws {
    let expression = try BindExpression("lists/a/b-c:d ~> näme.first_2.@count")
    #expect(expression.left == "lists/a/b-c:d")
    #expect(expression.right == "näme.first_2.@count")
    #expect([expression.leftColumn, expression.rightColumn] == [1, 18])
  }

  @Test
  func `transformers keep their order, their direction and their arguments`()
    throws
  {
    let expression = try BindExpression(
      #"a<>b|round(2)| !scale( -0.5e+3 ) |format("a \"b\", \u00e4\ud83d\ude00\n") | default(null, true,false,0)|not()"#
    )
    #expect(expression.transformers.map(\.name) == ["round", "scale", "format", "default", "not"])
    #expect(expression.transformers.map(\.isSwapped) == [false, true, false, false, false])
    #expect(expression.transformers.map(\.column) == [6, 17, 35, 77, 105])
    #expect(
      expression.transformers.map { $0.arguments.map(\.value) } == [
        [.number("2")], [.number("-0.5e+3")], [.string("a \"b\", ä😀\n")],
        [.null, .bool(true), .bool(false), .number("0")], [],
      ])
    #expect(expression.transformers[1].arguments[0].number == -500)
    #expect(expression.transformers[0].arguments[0].integer == 2)
    #expect(expression.transformers[1].arguments[0].column == 24)
  }

  @Test(arguments: [
    "a ~> b", "cells/lamp <!> x.y | !t | u(1, \"two\", null)",
    #"a <~! b | format("\"\\\n\u0001")"#,
  ])
  func `the description of an expression parses to the same expression`(text: String) throws {
    let expression = try BindExpression(text)
    #expect(expression.description == text)
  }

  private static let faulty: [(String, String)] = [
    // The four expressions that BIND rejects, and the first example of the protocol.
    ("keyPath1~keyPath2", "unknown operator '~' at column 9"),
    ("keyPath1~>", "expected path, found the end at column 11"),
    ("~>keyPath2", "expected path, found '~>' at column 1"),
    ("a/x ~~> b/y", "unknown operator '~~>' at column 5"),
    // Expressions that BIND accepts, but that fail later or do something else.
    ("a ~> b | T!", "expected '|' or end, found '!' at column 11"),
    ("a ~> b | !!T", "expected transformer, found '!!' at column 10"),
    ("a <~ !b", "expected path, found '!' at column 6"),
    ("a ~> !b", "expected path, found '!' at column 6"),
    ("a|T", "expected an arrow such as ~>, found the end at column 4"),
    ("a| ~> b", "expected transformer, found '~>' at column 4"),
    ("(a, b ~> c", "expected '|' or ',' or ')', found '~>' at column 7"),
    ("(a,) ~> c", "expected path, found ')' at column 4"),
    ("() ~> c", "expected path, found ')' at column 2"),
    ("((a)) ~> c", "expected path, found '(' at column 2"),
    ("c ~> (a, b)", "expected path, found '(' at column 6"),
    (
      "(a, b) <> c",
      "a list of sources goes only from left to right: use ~> instead of <> at column 1"
    ),
    (" every(5m) <~ c", "'every' goes only from left to right: use ~> instead of <~ at column 2"),
    ("every() ~> c", "'every' takes 1 to 2 arguments, not 0 at column 1"),
    ("every(5 m) ~> c", "expected ',' or ')', found 'm' at column 9"),
    ("every(5min) ~> c", "unknown unit 'min': did you mean 'm'? at column 8"),
    ("a | t(1, 2.5parsecs) ~> c", "unknown unit 'parsecs' at column 13"),
    (
      "a | t(-5s) ~> c",
      "expected string or number or duration or true or false or null or word, found '-5s' at column 7"
    ),
    ("a ~> b <> c", "expected '|' or end, found '<>' at column 8"),
    ("a ~> b ~> c", "expected '|' or end, found '~>' at column 8"),
    ("a <~> b", "unknown operator '<~>' at column 3"),
    ("x<-y~>z", "unknown operator '<' at column 2"),
    ("a!<>b", "unknown operator '!<>' at column 2"),
    ("a ~> b |", "expected transformer, found the end at column 9"),
    // All other faults.
    ("", "expected path, found the end at column 1"),
    ("a", "expected an arrow such as ~>, found the end at column 2"),
    ("a b ~> c", "expected an arrow such as ~>, found 'b' at column 3"),
    (
      "a | round(b/c) ~> d",
      "'round' takes a value here, not the path 'b/c'; combine paths: (a, b) | … at column 11"
    ),
    (
      "a ~> d | above(b/c)",
      "'above' takes a value here, not the path 'b/c'; combine paths: (a, b) | … at column 16"
    ),
    (
      "a | below(b/c) | above(d/e) ~> x",
      "'above' takes a value here, not the path 'd/e'; combine paths: (a, b) | … at column 24"
    ),
    (
      "(a, e) | below(b/c) ~> x",
      "'below(b/c)' compares one source with another, not a list or 'every' at column 10"
    ),
    (
      "(a | below(b/c), e) ~> x",
      "'below' takes a value here, not the path 'b/c'; combine paths: (a, b) | … at column 12"
    ),
    (
      "a | below(b/c, -1) ~> x",
      "the second argument of 'below' is a number from 0, not -1 at column 16"
    ),
    (
      "a | !below(b/c) ~> x",
      "'below' takes a value here, not the path 'b/c'; combine paths: (a, b) | … at column 12"
    ),
    (
      "a | below(b/c) <> x",
      "'below(b/c)' goes only from left to right: use ~> instead of <> at column 5"
    ),
    ("(a | b c) ~> x", "expected '|' or ',' or ')', found 'c' at column 8"),
    ("a ~> b c", "expected '|' or end, found 'c' at column 8"),
    ("a ~> b || c", "expected transformer, found '|' at column 9"),
    (
      "a ~> b | f(",
      "expected string or number or duration or true or false or null or word, found the end at column 12"
    ),
    ("a ~> b | f(1", "expected ',' or ')', found the end at column 13"),
    (
      "a ~> b | f(1,)",
      "expected string or number or duration or true or false or null or word, found ')' at column 14"
    ),
    ("a ~> b | f(1 2)", "expected ',' or ')', found '2' at column 14"),
    (
      "a ~> b | f(01)",
      "expected string or number or duration or true or false or null or word, found '01' at column 12"
    ),
    (
      "a ~> b | f(1.)",
      "expected string or number or duration or true or false or null or word, found '1.' at column 12"
    ),
    (#"a ~> b | f("x)"#, "expected '\"', found the end at column 15"),
    (#"a ~> b | f("\x")"#, "an unknown escape at column 13"),
    (#"a ~> b | f("\ud800")"#, "half a surrogate pair at column 13"),
    (#"a ~> b | f("\udc00\ud800")"#, "half a surrogate pair at column 13"),
    (#"a ~> b | f("\u00g0")"#, "no four hexadecimal digits at column 13"),
    ("a ~> b | f(\"\u{1}\")", "a control character in a string at column 13"),
    ("a ~> b\u{0}", "expected '|' or end, found '\u{0}' at column 7"),
    ("ä😀e\u{301} ~> ", "expected path, found the end at column 9"),
  ]

  @Test(arguments: faulty)
  func `a fault names its column, the text found there and the expected text`(
    text: String, message: String
  ) {
    let fault = #expect(throws: BindFault.self) { try BindExpression(text) }
    #expect(fault?.description == message)
  }

  @Test
  func `transformers before and after the operator are one chain`() throws {
    let expression = try BindExpression(" a|b(1)|!c~>d|e ")
    #expect(expression.transformers.map(\.name) == ["b", "c", "e"])
    #expect(expression.leading == 2)
    #expect(expression.description == "a | b(1) | !c ~> d | e")
    #expect([expression.left, expression.right] == ["a", "d"])
  }

  @Test
  func `a list of sources has its paths and their columns`() throws {
    let expression = try BindExpression("( a/x,b ,c)|sum!~>d")
    #expect(expression.leftPaths.map(\.text) == ["a/x", "b", "c"])
    #expect(expression.leftPaths.map(\.column) == [3, 7, 10])
    #expect(expression.leftColumn == 1)
    #expect(!expression.isOfOnePath)
    #expect(expression.description == "(a/x, b, c) | sum !~> d")
  }

  @Test
  func `the sources of a list have transformers of their own`() throws {
    let expression = try BindExpression("(a|b(1)|c, d) | sum ~> e")
    #expect(expression.leftPaths.map { $0.transformers.map(\.name) } == [["b", "c"], []])
    #expect(expression.transformers.map(\.name) == ["sum"])
    #expect(expression.description == "(a | b(1) | c, d) | sum ~> e")
  }

  private static let comparisons: [(String, String)] = [
    ("a/b | below(c/d) ~> x", "(a/b, c/d) | minus | where(differs, null) | below(0) ~> x"),
    ("a/b | above(c/d) ~> x", "(a/b, c/d) | minus | where(differs, null) | above(0) ~> x"),
    (
      "a/b | round(1) | below(c/d, 0.5) | not !~> x",
      "(a/b | round(1), c/d) | minus | where(differs, null) | hysteresis(-0.5, 0.5) | not | not !~> x"
    ),
    (
      "a/b | above(c/d, 2) ~> x",
      "(a/b, c/d) | minus | where(differs, null) | hysteresis(-2, 2) ~> x"
    ),
    ("a/b | equals(c/d) ~> x", "(a/b, c/d) | same ~> x"),
    ("a/b | differs(c/d) ~> x", "(a/b, c/d) | same | not ~> x"),
    ("a/b | minus(c/d) ~> x | round(0)", "(a/b, c/d) | minus ~> x | round(0)"),
  ]

  @Test(arguments: comparisons)
  func `a test with a path is a short form with a list`(short: String, long: String) throws {
    let (expression, whole) = (try BindExpression(short), try BindExpression(long))
    #expect(expression.leftPaths.map(\.text) == whole.leftPaths.map(\.text))
    #expect(expression.left == whole.left)
    #expect(expression.transformers.map(\.description) == whole.transformers.map(\.description))
    #expect(expression.leading == whole.leading)
    #expect(expression.description == short, "it is shown as it was written")
    #expect(try BindExpression(expression.description) == expression)
  }

  @Test
  func `every has an argument, and is a path without parentheses`() throws {
    guard case .every(let argument, nil) = try BindExpression(#"every ( "08:00" ) ~> d"#).source
    else {
      Issue.record("not every")
      return
    }
    #expect(argument.string == "08:00")
    #expect(argument.column == 9)
    #expect(try BindExpression("every(1.5h) ~> d").description == "every(1.5h) ~> d")
    #expect(try BindExpression("every ~> d").leftPaths.map(\.text) == ["every"])
  }

  private static let durations: [(String, Double)] = [
    ("250ms", 0.25), ("5s", 5), ("2m", 120), ("1.5h", 5400), ("3d", 259_200), ("0s", 0),
  ]

  @Test(arguments: durations)
  func `a duration is a number with a unit`(text: String, seconds: Double) throws {
    let argument = try BindExpression("a | t(\(text), max) ~> b").transformers[0].arguments[0]
    #expect(argument.seconds == seconds)
    #expect(argument.number == nil)
    #expect(argument.description == text)
    #expect(try BindExpression("a | t(max) ~> b").transformers[0].arguments[0].word == "max")
  }

  @Test
  func `a list has a limit`() {
    let text = "(" + Array(repeating: "a", count: 4).joined(separator: ",") + ") ~> b"
    let fault = #expect(throws: BindFault.self) {
      try BindExpression(text, within: BindLimits(bytes: 100, transformers: 1, paths: 3))
    }
    #expect(fault?.description == "a list has at most 3 sources at column 8")
  }

  @Test
  func `a fault stores its parts`() {
    let fault = #expect(throws: BindFault.self) { try BindExpression("a/x ~~> b/y") }
    #expect(fault?.kind == .unknownOperator)
    #expect(fault?.column == 5)
    #expect(fault?.found == "~~>")
    #expect(fault?.expected == ["~>", "<~", "<>", "!~>", "<~!", "<!>"])
  }

  @Test
  func `a text cut at any point parses, or its fault is within it or at its end`() {
    let whole = #"cells/ä <!> x.y | !round(-1.5e3, "a\ud83d\ude00\n\"") | default(null) | 😀"#
    let bytes = Array(whole.utf8)
    for count in 0...bytes.count {
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      #expect(isSound(text))
    }
    #expect(throws: Never.self) { try BindExpression(whole) }
  }

  @Test
  func `no text crashes the parser`() {
    var random = Random(1)
    let parts = [
      "a", "b/c", "x.y", "~>", "<~", "<>", "!~>", "<~!", "<!>", "|", "!", "(", ")", ",", "\"",
      "\\", "\\u", "d83d", "1", "-", ".", "e", " ", "\t", "\n", "null", "😀", "\u{301}", "\u{0}",
      "~", "<", ">", "every", "5m", "7x",
    ]
    var sound = 0
    for _ in 0..<5_000 {
      let text = (0..<random.below(16)).map { _ in parts[random.below(parts.count)] }.joined()
      #expect(isSound(text), "\(text.debugDescription)")
      if (try? BindExpression(text)) != nil { sound += 1 }
    }
    #expect(sound > 20)
  }

  @Test
  func `an expression with one changed character is still handled`() {
    var random = Random(2)
    let whole = Array(#"cells/a <> x.y | !round(2, "a\u00e4") | default(null)"#.utf8)
    for _ in 0..<5_000 {
      var bytes = whole
      for _ in 0...random.below(3) {
        let i = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[i] = UInt8(random.below(256))
        case 1: bytes.remove(at: i)
        default: bytes.insert(bytes[random.below(bytes.count)], at: i)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(isSound(text), "\(text.debugDescription)")
    }
  }

  @Test
  func `a text of a million parts is parsed without recursion`() throws {
    let text = "a ~> b" + String(repeating: " | !t(1)", count: 50_000)
    #expect(try BindExpression(text).transformers.count == 50_000)
    let arguments = "a ~> b | t(0" + String(repeating: ",1", count: 50_000) + ")"
    #expect(try BindExpression(arguments).transformers[0].arguments.count == 50_001)
    let open = "a ~> b | t" + String(repeating: "(", count: 50_000)
    #expect(!isExpression(open))
  }

  private func isExpression(_ text: String) -> Bool {
    (try? BindExpression(text)) != nil
  }

  /// Whether a text parses and its description parses to the same, or its fault has a valid column.
  private func isSound(_ text: String) -> Bool {
    do {
      let expression = try BindExpression(text)
      let again = try BindExpression(expression.description)
      return again.description == expression.description
        && again.transformers.map(\.name) == expression.transformers.map(\.name)
    } catch {
      let end = text.unicodeScalars.count + 1
      return (1...end).contains(error.column) && (error.column == end) == error.found.isEmpty
    }
  }
}
