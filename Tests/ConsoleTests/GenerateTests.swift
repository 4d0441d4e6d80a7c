import Console
import JSON
import Model
import Testing

/// A small answer to `rpc.discover`, with shared parts as the daemon writes them.
private let discovered = #"""
  {"info":{"version":"9.9"},"methods":[
    {"name":"ping","summary":"The daemon's own.","params":[],"result":{"schema":true}},
    {"name":"jobs.try_now","summary":"Tries */ \"one\"","params":[
        {"name":"class","description":"Its class.","schema":{"enum":["a","b"]}},
        {"$ref":"#/components/contentDescriptors/id"},
        {"$ref":"#/components/contentDescriptors/_meta"}],
      "result":{"schema":{"type":"object","properties":{
        "value":{"type":"array","items":{"type":"object","properties":{"on-off":{"type":"boolean"}},"required":[]}},
        "seq":{"$ref":"#/components/schemas/s1"},"replayed":{"type":"boolean"}},"required":["value"]}},
      "errors":[{"code":1000,"message":"rejected","data":{"reason":["too_late"]}}]},
    {"name":"jobs.show","summary":"Shows.","params":[
        {"$ref":"#/components/contentDescriptors/id"}],
      "result":{"schema":{"anyOf":[
        {"type":"object","properties":{"kind":{"type":"string"},"value":true},"required":["kind","value"]},
        {"type":"object","properties":{"kind":{"type":"string"},"gone":{"type":"boolean"}},"required":["kind","gone"]}]}}},
    {"name":"loop.run","summary":"","params":[],"result":{"schema":{"$ref":"#/components/schemas/s2"}}}],
   "components":{
    "schemas":{"s1":{"type":"integer","minimum":0},"s2":{"type":"array","items":{"$ref":"#/components/schemas/s2"}}},
    "contentDescriptors":{"id":{"name":"id","description":"","required":true,"schema":{"type":"integer"}},
      "_meta":{"name":"_meta","schema":{"type":"object"}}}}}
  """#

private func interface() throws -> Interface {
  guard case .object(let document) = try JSONValue(parsing: discovered) else {
    return Interface([])
  }
  return Interface([document], docs: ["jobs": "Jobs."])
}

struct GenerateTests {
  @Test
  func `services have the methods of the document, and required parameters come first`() throws {
    let read = try interface()
    #expect(read.version == "9.9")
    #expect(read.services.map(\.name) == ["jobs", "loop"])
    let method = try #require(read.services.first?.methods.first)
    #expect(method.shortName == "try_now")
    #expect(method.isCommand)
    #expect(method.reasons == ["too_late"])
    #expect(method.parameters.map(\.name) == ["id", "class"])
    #expect(method.parameters.map(\.shape) == [.integer, .words(["a", "b"])])
    #expect(try interface().services.first?.methods.last?.isCommand == false)
  }

  @Test(arguments: [
    (
      Language.python,
      [
        "CellsHallCelsius = float\n", #"CellsMode = Literal["day", "night"]"#,
        "ListsJobs = list[str]\n", "MapsPrices = dict[str, int]\n", "MapsPricesTea = bool\n",
        #"    CELLS_HALL_CELSIUS = "cells/hall/celsius""#,
        #"    """Hall: a number from -40 to 60 °C.""""#, "\n\nclass Sources:\n",
        "\nCellsRoomCelsius = float\n", "\nListsQueue = list[int]\n",
        "    @staticmethod\n    def cells_room_celsius(name1: str, name2: str) -> str:\n",
        #"        return f"cells/{name1}/room/{name2}/celsius""#,
        "    def lists_queue(name: str) -> str:\n",
      ]
    ),
    (
      .typescript,
      [
        "export type SourceTypes = {\n", #"  "cells/hall/celsius": number;"#,
        "  /** Hall: a number from -40 to 60 °C. */", #"  "cells/mode": "day" | "night";"#,
        #"  "lists/jobs": Array<string>;"#, #"  "maps/prices": { [name: string]: number };"#,
        "export type CellsRoomCelsius = number;\n", "export type ListsQueue = Array<number>;\n",
        "  cellsRoomCelsius: (name1: string, name2: string): string => "
          + "`cells/${name1}/room/${name2}/celsius`,\n",
      ]
    ),
    (
      .swift,
      [
        "public enum Sources {\n",
        #"  public static let cellsHallCelsius = "cells/hall/celsius""#,
        "  public typealias CellsHallCelsius = Double\n", "  public typealias CellsMode = String\n",
        "  public typealias MapsPrices = [String: Int]\n",
        "  /// Hall: a number from -40 to 60 °C.\n",
        "  public static func cellsRoomCelsius(_ name1: String, _ name2: String) -> String {\n"
          + #"    "cells/\(name1)/room/\(name2)/celsius""#,
        "  public typealias CellsRoomCelsius = Double\n",
        "  public typealias ListsQueue = [Int]\n",
      ]
    ),
  ])
  func `sources with declared types have names and types`(
    language: Language, wanted: [String]
  ) throws {
    let sources = try [
      ("cells/mode", "string, one of day night"), ("lists/jobs", "string"),
      ("cells/hall/celsius", #"number, "°C", -40…60, "Hall""#), ("maps/prices", "integer"),
      ("maps/prices/tea", "boolean"), ("cells/*/room/*/celsius", "number"),
      ("lists/queue/**", "integer"), ("**", "any"),
    ].map { Interface.Source($0, try ValueType($1)) }
    let code = language.code(for: Interface([], sources: sources))
    for part in wanted { #expect(code.contains(part), "\(part) is not in\n\(code)") }
    #expect(!language.code(for: Interface([])).contains("Source"))
  }

  @Test
  func `a schema that refers to itself ends`() throws {
    var shape = try #require(try interface().services.last?.methods.first?.result)
    var depth = 0
    while case .array(let element) = shape { (shape, depth) = (element, depth + 1) }
    #expect(shape == .any)
    #expect(depth > 1)
  }

  @Test(arguments: [
    (
      Language.python,
      [
        #"    async def try_now(self, id: int, *, class_: Literal["a", "b"] | None = None) -> JobsTryNowResult:"#,
        #"        params: dict[str, Any] = {"id": id}"#, #"            params["class"] = class_"#,
        #"        return cast("JobsTryNowResult", await self._client.command("jobs.try_now", params))"#,
        #"        """Tries * / "one""#, "    seq: NotRequired[int]",
        #"        "on-off": NotRequired[bool],"#,
        "    async def show(self, id: int) -> JobsShowResult1 | JobsShowResult2:",
        #"    """Jobs.""""#, #"        """Calls loop.run.""""#,
      ]
    ),
    (
      .typescript,
      [
        #"  class?: "a" | "b";"#, #"   * Tries * / "one""#,
        "  /** Calls loop.run. */",
        "  async tryNow(params: JobsTryNowParams, options: CallOptions = {}): Promise<JobsTryNowResult> {",
        #"    return (await this.client.command("jobs.try_now", params, options)) as any;"#,
        #"export type JobsTryNowResult = { value: Array<{ "on-off"?: boolean }>; seq?: number; replayed?: boolean };"#,
        "export type JobsShowResult = { kind: string; value: any } | { kind: string; gone: boolean };",
      ]
    ),
    (
      .swift,
      [
        "  public func tryNow(id: Int, `class`: String? = nil) async throws -> TryNowResult {",
        #"      "jobs.try_now", with: TryNowParams(id: id, class: `class`))"#,
        "    public var value: [TryNowResultValueItem]", #"      case onOff = "on-off""#,
        "    public var gone: Bool?", "  /// Calls loop.run.", "  @discardableResult",
        "  /// The service rejects it with too_late.", "  ///   - class: Its class.",
      ]
    ),
  ])
  func `the code names, types and describes`(language: Language, lines: [String]) throws {
    let code = language.code(for: try interface()).split(separator: "\n").map(String.init)
    for line in lines { #expect(code.contains(line), "\(language): \(line)") }
  }
}
