import Console
import JSON
import Testing

struct FormTests {
  @Test
  func `a template is filled in with members and nested members`() throws {
    let document: JSONObject = [
      "seq": .number(JSONNumber(7)), "value": .string("on"), "none": .null,
      "event": .object(["type": .string("cells.set"), "data": .object(["a": .array([])])]),
    ]
    for (template, text) in [
      ("{seq} {value}", "7 on"), ("{event.type}:{event.data}", #"cells.set:{"a":[]}"#),
      ("{{{seq}}}", "{7}"), (#"{seq}\t{value}\n\\"#, "7\ton\n\\"), ("{nope}|{seq.x}", "|"),
      ("{none}", "null"), ("", ""), ("plain", "plain"),
    ] {
      #expect(try Template(template).render(document) == text)
    }
    #expect(throws: UsageError.self) { try Template("{seq") }
  }

  @Test
  func `a template writes a member on one line, quoted as it says`() throws {
    let document: JSONObject = [
      "value": .string("it's \"x\"\n\ty\u{1B}"), "seq": .number(JSONNumber(7)),
      "values": .object(["cells/a:json:b": .string("c")]), "path": .string(#"C:\new"#),
      "more": .object(["a": .string("b\n")]),
    ]
    for (template, text) in [
      ("{value}", #"it's "x"\n\ty\u001b"#), ("{path} {more}", #"C:\\new {"a":"b\n"}"#),
      ("{path:raw}", #"C:\new"#),
      ("{value:json}{seq:json}", #""it's \"x\"\n\ty\u001b"7"#),
      ("{seq:string}{gone:string}", #""7""""#), ("{gone:json}", "null"),
      ("{value:sh}", "'it'\\''s \"x\"\n\ty\u{1B}'"), ("{value:raw}", "it's \"x\"\n\ty\u{1B}"),
      ("{values.cells/a:json:b}", "c"), ("{{\"text\":{seq:string}}}", #"{"text":"7"}"#),
    ] {
      #expect(try Template(template).render(document) == text)
    }
    #expect(
      try Template("{value:jsn}").fault(in: document)
        == "no member 'value:jsn' (there are: value, seq, values, path, more)")
  }

  @Test
  func `a template with an unknown member is rejected; an optional member is empty`() throws {
    let document: JSONObject = [
      "seq": .number(JSONNumber(7)), "source": .string("cells/a"),
      "value": .object(["a": .number(JSONNumber(1))]),
      "event": .object(["type": .string("cells.set"), "data": .object([:])]),
    ]
    for (template, fault) in [
      ("{nosuch}", "no member 'nosuch' (there are: seq, source, value, event)"),
      ("{source} {valu}", "no member 'valu' (there are: seq, source, value, event)"),
      ("{event.tpye}", "no member 'event.tpye' (there are: event.type, event.data)"),
      // The members of a value are not known in advance.
      ("{value.b} {value.a.c} {event.data.x}", nil),
      ("{gone}{skipped}{event.cmd}", nil), ("{seq.x}", nil),
    ] as [(String, String?)] {
      #expect(try Template(template).fault(in: document) == fault)
    }
  }

  @Test
  func `a table is aligned on a terminal and separated by tabs in a pipe`() {
    var table = Table(["SEQ", "NAME", "VALUE"], numbers: [0])
    table.add(["7", "lamp", "true"])
    table.add(["1234", "a", "\"long\""])
    #expect(
      table.lines(isTerminal: true, Style(isOn: false))
        == [" SEQ  NAME  VALUE", "   7  lamp  true", "1234  a     \"long\""])
    #expect(
      table.lines(isTerminal: false, Style(isOn: false)) == ["7\tlamp\ttrue", "1234\ta\t\"long\""])
  }

  @Test
  func `the colour option overrides the environment, which overrides the terminal`() {
    func isOn(_ choice: String?, _ environment: [String: String], _ isTerminal: Bool) -> Bool {
      Style(choice: choice, environment: { environment[$0] }, isTerminal: isTerminal).isOn
    }
    #expect(isOn(nil, ["TERM": "xterm"], true))
    #expect(!isOn(nil, ["TERM": "xterm"], false))
    #expect(isOn("always", ["NO_COLOR": "1"], false))
    #expect(!isOn("never", ["CLICOLOR_FORCE": "1"], true))
    #expect(!isOn("auto", ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], true))
    #expect(isOn(nil, ["NO_COLOR": "", "TERM": "xterm"], true))
    #expect(isOn(nil, ["CLICOLOR_FORCE": "1"], false))
    #expect(!isOn(nil, ["CLICOLOR_FORCE": "0"], false))
    #expect(!isOn(nil, ["TERM": "dumb"], true))
    #expect(!isOn(nil, ["TERM": "unknown"], true))
    #expect(!isOn(nil, ["TERM": ""], true))
    #expect(!isOn(nil, [:], true))
  }

  @Test
  func `styled text resets its style at the end`() {
    #expect(Style(isOn: true).value("true") == "\u{1B}[36mtrue\u{1B}[0m")
    #expect(Style(isOn: true).value("\"a\"") == "\u{1B}[32m\"a\"\u{1B}[0m")
    #expect(Style(isOn: false).bold("a") == "a")
  }
}
