import API
import JSON
import TestSupport
import Testing

/// The grammar of view files, and the faults that need no daemon.
@Suite(.leavesNothing)
struct ViewFileTests {
  private func faults(_ lines: String...) -> [String] {
    let text = (["view \"Something.\""] + lines).joined(separator: "\n")
    return ViewFile.read(text).faults.map(\.description)
  }

  static let good = [
    #"""
    # thermostat.view
    view "The heating of the house."

    title = "Kitchen"
    cells/kitchen/temperature | round(1) ~> temperature     as "°C"
    cells/kitchen/wanted                 <> wanted          as "°C"
    cells/heater                         ~> heating         as yesno
    cells/away                           <> away            as yesno

    warmer -> cells.add name="kitchen/wanted" by=0.5        main
    colder -> cells.add name="kitchen/wanted" by=-0.5
    stop   -> cells.set name="heater" value=false           when heating
    """#,
    #"""
    view "Jobs that wait, and those that failed."
    lists/jobs | length                          ~> waiting
    live/resize/error                           !~> error      quiet
    readers/resize | pick("/parked")             ~> parked     by seq
      seq   as integer
      since as time
      reason
    add   -> lists.append name="jobs" value=?text
    retry -> readers.retry name="resize" seq=row.seq           main
    drop  -> readers.drop name="resize" seq=row.seq            destructive
    """#,
    #"""
    view "What to buy."
    lists/shopping ~> items
    add    -> lists.append name="shopping" value=?text         main
    bought -> lists.remove name="shopping" at=row.id
    clear  -> lists.clear name="shopping"                      destructive  when items
    """#,
    #"""
    view "One room." (room: text)
    title = "Room {room}"
    rooms/{room} ~> bookings                                   by from
      by
      from as time
      to   as time
    book   -> rooms.book room={room} from=?time to=?time       main
    cancel -> rooms.cancel room={room} id=row.id               destructive
    """#,
    #"""
    view "What is deployed where."
    locks/deploy | pick("/holder") | default("nobody")         ~> lock
    providers/deploy | pick("/providers_count") | default(0)   ~> ready     hidden
    live/deploy/progress                                       ~> progress  as share  quiet
    services/deploy/* ~> stages
      key ~> stage
      version
      since as time
    deploy -> deploy.start stage=row.id version=?text          main  when ready
    back   -> deploy.back stage=row.id                         destructive  when ready
    tab "People" => people
    """#,
    #"""
    view "Everything else." (a: text, n: integer)
    readers/* ~> readers  where parked_count > 0  by parked_count desc  limit 50
      parked/0/reason | default("-") ~> reason hidden
    state = {"a":[1,"#"], "b":"{a}"}  hides(b)   # a comment
    cells/x \
      | default(0) \
      <~! entered as "low"|"high"
    (cells/a, cells/b) | sum ~> total
    cells/{me}/y !~> seen
    go => cell name="x" present unless total
    """#,
  ]

  @Test(arguments: good)
  func `a good file has no fault`(text: String) {
    #expect(ViewFile.read(text).faults == [])
  }

  /// Each row: a line below the head, and its fault.
  static let bad: [(line: String, fault: String)] = [
    ("title", "2:1: expected an arrow behind 'title': ~> shows, -> calls, => opens, = assigns"),
    ("title = Kitchen", "2:9: 'Kitchen' is not JSON; a text needs quotes"),
    ("title = ", "2:8: expected a value, found the end of the line"),
    ("title = ?", "2:1: 'title' takes JSON or {argument}"),
    ("title = \"{rom}\"", "2:9: the view has no argument 'rom'"),
    ("title = {rom}", "2:10: the view has no argument 'rom'"),
    (
      "set -> cells.set name=\"a/{row.id}\" value=1",
      "2:23: '{row.id}' is no argument of the view, and a text takes nothing else in braces"
    ),
    (
      "title = 1 as farenheit",
      "2:14: no type 'farenheit'; write one of text number integer yesno date time clock secret bytes "
        + "seconds share; a unit of your own needs quotes: as \"farenheit\""
    ),
    ("title = 1 as tex", "2:14: no type 'tex'; did you mean 'text'?"),
    (
      "cells/a ~> a as °C",
      "2:17: expected a type, or a unit in quotes such as \"°C\", found '°C'"
    ),
    ("cells/a ~> a as \"K\" as \"F\"", "2:21: 'as' is given twice"),
    ("cells/* ~> a limit 5 limit 6", "2:22: 'limit' is given twice"),
    ("cells/a ~> a limit many", "2:20: a limit is a number from 1 to 10000"),
    ("cells/a | round(1 ~> a", "2:16: this '(' has no ')'"),
    ("(cells/a, cells/b ~> a", "2:1: this '(' has no ')'"),
    (
      "cells/a -> a",
      "2:9: '->' calls a method and stands behind the name of an intent; a source is shown with '~>'"
    ),
    ("title = 1 by x", "2:1: 'where', 'by' and 'limit' need a list from a source"),
    ("title = 1 hiden", "2:11: unexpected 'hiden'; did you mean 'hidden'?"),
    ("cells/a ~~> a", "2:9: unknown operator '~~>'"),
    ("cells/a ~>", "2:11: expected the name of a property, found the end of the line"),
    ("cells/a ~> a/b", "2:13: expected a word such as 'as' or 'hidden', found '/b'"),
    ("cells/a ~> 1a", "2:12: a name is 1 to 64 of A-Z a-z 0-9 _ and begins with no digit"),
    ("cells//a ~> a", "2:1: 'cells//a' is no source: it has nothing between two '/'"),
    ("cells/x{a} ~> a", "2:1: an argument fills a whole segment: a/{name}"),
    ("cells/{a} ~> a", "2:1: the view has no argument 'a'"),
    ("{a}/b ~> a", "2:1: the first segment of a source is its service"),
    ("*/b ~> a", "2:1: the first segment of a source is its service"),
    ("cells/*/* ~> a", "2:1: only one '*': it is the id of a row"),
    ("(cells/*, cells/b) ~> a", "2:2: a list of sources has no '*'"),
    ("cells/* <> a", "2:12: rows are only shown: write '~>' instead of '<>'"),
    ("every(5m) ~> a", "2:1: 'every' has no value to show"),
    ("cells/a | ruond(1) ~> a", "2:11: no transformer 'ruond'; did you mean 'round'?"),
    ("cells/a | round(x) ~> a", "2:17: expected integer, found x"),
    ("cells/a | round(1) <> a", "2:11: 'round' cannot go backwards, which '<>' needs; write '~>'"),
    (
      "cells/a | round(1) <!> a",
      "2:11: 'round' cannot go backwards, which '<!>' needs; write '!~>'"
    ),
    ("cells/* | debounce(1s) ~> a", "2:11: 'debounce' keeps a state, which rows have not"),
    ("cells/a <~ away", "2:12: 'away' has no value to begin with; assign one, or write '<~!'"),
    ("cells/a ~> a limit 0", "2:20: a limit is a number from 1 to 10000"),
    (
      "cells/* ~> a where x",
      "2:21: expected one of == != < <= > >= exists !exists, found the end of the line"
    ),
    ("cells/* ~> a where x < true", "2:20: '<' takes a number or a text"),
    ("  since", "2:3: a member of rows needs a list in the line above"),
    ("a ->", "2:5: expected a method, found the end of the line"),
    (
      "a -> cells.set name",
      "2:16: unexpected 'name'; expected NAME=VALUE, main, destructive, live, dismisses, when PROPERTY, unless PROPERTY"
    ),
    ("a -> cells.set if b", "2:16: unexpected 'if'; did you mean 'when PROPERTY'?"),
    (
      "cells/a ~> a colour",
      "2:14: unexpected 'colour'; expected as TYPE, hidden, quiet, hides(MEMBER), where PATH == VALUE, by PATH, limit NUMBER"
    ),
    ("cells/* ~> a sort x", "2:14: unexpected 'sort'; did you mean 'by PATH'?"),
    ("tab \"A\" => b main", "2:14: unexpected 'main'; expected NAME=VALUE"),
    ("a -> cells.set mian", "2:16: unexpected 'mian'; did you mean 'main'?"),
    ("a -> cells.set name=1 name=2", "2:23: 'name' is given twice"),
    ("a -> cells.set when heatng", "2:21: no property 'heatng'"),
    ("a -> cells.set value=property.heatng", "2:31: no property 'heatng'"),
    ("a => cell name=?", "2:16: only a method asks for a value"),
    ("tab \"A\" => cell name=row.id", "2:22: a tab takes JSON or {argument}"),
    ("tab \"A\" -> cell", "2:9: expected '=>', found '->'"),
    ("title = \"no end", "2:9: '\"no end' is not JSON; a text needs quotes"),
    ("tab \"A", "2:5: the text has no end, or an unknown escape"),
    ("cells/* ~> a where < 1", "2:20: expected a path in the rows, found '<'"),
    ("cells/* ~> a by", "2:16: expected a path in the rows, found the end of the line"),
    (
      "a -> cells.set =1",
      "2:16: expected name=value, or a word such as 'main', found '='"
    ),
    (
      "a -> cells.set when",
      "2:20: expected a property, or row.MEMBER, found the end of the line"
    ),
    ("a -> cells.set when b.", "2:23: expected a member of the row, found the end of the line"),
  ]

  @Test(arguments: bad.indices)
  func `each fault has its place and says what to write`(row: Int) {
    #expect(faults(Self.bad[row].line) == [Self.bad[row].fault])
  }

  @Test
  func `an assignment stands before the line that binds its name`() {
    #expect(
      faults("cells/a <~ a", "a = 1") == [
        "2:12: 'a' has no value to begin with; assign one, or write '<~!'",
        "3:1: 'a' is bound in line 2; assign it in a line before that one",
      ])
    #expect(faults("a = 1", "cells/a <~ a") == [])
  }

  @Test
  func `names are used once`() {
    #expect(
      faults("a = 1", "a = 2", "cells/a ~> b", "cells/b ~> b", "x -> cells.set", "x -> cells.set")
        == [
          "3:1: 'a' is already assigned in line 2", "5:12: 'b' is already bound in line 4",
          "7:1: there is an intent 'x' already, in line 6",
        ])
    #expect(
      faults("a = 1", "cells/a ~> a")
        == ["3:12: 'a' is assigned in line 2; write '!~>' to begin with that value"])
    #expect(
      faults("cells/a <> a", "a -> cells.toggle")
        == ["2:12: 'a' makes an intent of this name, and there is one already"])
    #expect(
      faults("a -> cells.set main", "b -> cells.set main")
        == ["3:1: 'a' and 'b' are both main; say 'when' and 'unless'"])
    #expect(
      faults("cells/* ~> a", "  x", "  x", "  id")
        == [
          "4:3: the rows have a member 'x' already", "5:3: 'id' names the row; choose another name",
        ])
  }

  @Test
  func `faults that need other lines have their places, too`() {
    #expect(
      faults("b = 1", "c = 2", "a -> cells.set when b unless c")
        == ["4:1: either 'when' or 'unless'"])
    #expect(
      faults(
        "cells/* ~> a", "  parked/0", "  parked/0 ~>", "  x limit 5", "  x | debounce(1s)",
        "  y | ruond")
        == [
          "3:11: expected '~>' and a name, because 'parked/0' is a path, found the end of the line",
          "4:14: expected the name of a member, found the end of the line",
          "5:3: 'where', 'by' and 'limit' belong to the line of the list",
          "6:3: 'debounce' keeps a state, which a row has not",
          "7:3: no transformer 'ruond'; did you mean 'round'?",
        ])
  }

  @Test
  func `the head is checked`() {
    func faults(_ text: String) -> [String] { ViewFile.read(text).faults.map(\.description) }
    let rule = #"1:1: a file begins with: view "what it shows""#
    #expect(faults("") == [rule])
    #expect(faults("title = 1") == [rule])
    #expect(faults("view Kitchen") == ["1:6: expected a text in quotes, found 'Kitchen'"])
    #expect(faults("view \"A\" (a: txt)") == ["1:14: no type 'txt'; did you mean 'text'?"])
    #expect(faults("view \"A\" (me: text)") == ["1:11: 'me' is the user; it needs no declaration"])
    #expect(
      faults("view \"A\" (a: text, a: text)") == ["1:20: there is an argument 'a' already"])
    #expect(
      faults("view \"A\" ()") == ["1:11: expected the name of an argument, found ')'"])
    #expect(faults("view \"A\" (a)") == ["1:12: expected ':' and a type, found ')'"])
    #expect(faults("view \"A\" (a: text") == ["1:18: expected ')', found the end of the line"])
  }

  @Test
  func `a file has limits`() {
    func count(_ most: Int, _ line: (Int) -> String) -> [String] {
      let text = (["view \"A\""] + (0...most).map(line)).joined(separator: "\n")
      return ViewFile.read(text).faults.map(\.description)
    }
    #expect(count(64) { "p\($0) = 1" } == ["1:1: a view has at most 64 properties"])
    #expect(count(63) { "p\($0) = 1" } == [])
    #expect(count(64) { "i\($0) -> cells.set" } == ["1:1: a view has at most 64 intents"])
    #expect(count(32) { "tab \"\($0)\" => cell" } == ["1:1: a view has at most 32 tabs"])
    let members = ["cells/* ~> a"] + (0...32).map { "  m\($0)" }
    #expect(
      ViewFile.read((["view \"A\""] + members).joined(separator: "\n")).faults.map(\.description)
        == ["35:3: a row has at most 32 members"])
    let arguments = (0...16).map { "a\($0)=1" }.joined(separator: " ")
    #expect(faults("x -> cells.set \(arguments)") == ["2:1: at most 16 arguments"])
    let long = [UInt8](repeating: UInt8(ascii: "#"), count: 65_537)
    #expect(
      ViewFile.read(long).faults.map(\.description) == ["1:1: a view has at most 65536 bytes"])
    #expect(ViewFile.read([0xFF]).faults.map(\.description) == ["1:1: the file is not UTF-8"])
    #expect(
      ViewFile.read([0xEF, 0xBB, 0xBF] + Array("view \"A\"".utf8)).faults.map(\.description)
        == ["1:1: the file begins with a byte order mark; save it without"])
    #expect(
      ViewFile.read("\u{feff}view \"A\"").faults.map(\.description)
        == ["1:1: the file begins with a byte order mark; save it without"])
  }

  @Test
  func `no text stops the parser`() {
    var random = SeededRandom(seed: 34)
    let parts = [
      "view", "\"", "a", " ", "\n", "~>", "<>", "->", "=>", "=", "{", "}", "(", ")", "|", "?",
      "row.", "\\", "#", "  ", "where", "by", "as", "cells/a", "*", "tab", "é", "1", ",", ":",
    ]
    for _ in 0..<3000 {
      let count = Int.random(in: 1...40, using: &random)
      let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      let head = Bool.random(using: &random) ? "view \"A\"\n" : ""
      _ = ViewFile.read(head + text)
    }
  }
}
