import Features
import JSON
import LuaScripts

/// Tables in memory, and the events that a script records.
final class FakeWorld: ScriptWorld {
  struct Event: Equatable {
    let kind: String
    let data: String
    let stream: String?
  }

  let script: any ScriptInterpreter
  private(set) var tables: [Int: [String: JSONText]] = [:]
  private(set) var events: [Event] = []

  /// The failure of the last fold within a command.
  private(set) var failure: ScriptFailure?

  /// The calls of the script that may fail and work before one fails; `nil` if none fails.
  var callsUntilFailure: Int?

  /// Whether some fold within a command has failed.
  private(set) var hasFailed = false
  private let text: String

  init(_ text: String) throws(ScriptFailure) {
    self.text = text
    script = try Lua().interpreter(for: text, file: "test.service")
  }

  func call(_ method: String, _ parameters: String = "{}", isQuery: Bool = false) -> ScriptOutcome {
    let call = ScriptCall(
      method, isQuery: isQuery, JSONText(trusted: parameters), uid: 1000, pid: 5)
    return script.call(call, in: self)
  }

  func fold(_ kind: String, _ data: String = "{}") -> ScriptFailure? {
    script.fold(kind, JSONText(trusted: data), at: place, in: self)
  }

  /// The rows of a table as JSON by key.
  func rows(_ table: Int = 0) -> [String: String] { (tables[table] ?? [:]).mapValues(\.text) }

  /// Returns the world that the recorded events make of nothing.
  func replayed() throws(ScriptFailure) -> FakeWorld {
    let world = try FakeWorld(text)
    for event in events {
      world.events.append(event)
      if let failure = world.fold(event.kind, event.data) { throw failure }
    }
    return world
  }

  private var place: ScriptPlace {
    let seq = UInt64(events.count)
    return ScriptPlace(seq: seq, version: seq, time: 77, user: 1000, stream: "test")
  }

  func row(_ key: String, of table: Int) -> JSONText? { tables[table]?[key] }

  /// Returns whether a call that may fail fails now.
  private func fails() -> Bool {
    guard let calls = callsUntilFailure else { return false }
    callsUntilFailure = calls - 1
    return calls == 0
  }

  func set(_ key: String, of table: Int, to row: JSONText?) -> String? {
    guard !fails() else { return "there is no room" }
    guard !key.contains("!") else { return "a key has no '!'" }
    tables[table, default: [:]][key] = row
    return nil
  }

  func keys(of table: Int, atMost most: Int) -> [String]? {
    guard !fails() else { return nil }
    let keys = (tables[table] ?? [:]).keys.sorted()
    return keys.count > most ? nil : keys
  }

  func record(_ kind: String, _ data: JSONText, in stream: String?) -> ScriptRecording {
    guard !fails() else { return .refused("the journal is full") }
    guard stream?.contains("!") != true else { return .refused("a stream has no '!'") }
    events.append(Event(kind: kind, data: data.text, stream: stream))
    failure = script.fold(kind, data, at: place, in: self)
    if failure != nil { hasFailed = true }
    return failure == nil ? .done : .failed
  }

  var now: Int64 { 42 }
}

/// The service of the documentation.
let rooms = """
  service("rooms", "Who has which room.")

  local rooms = rows("rooms/*", "The bookings of a room, by id.")
  local last  = value("rooms", "The number of the last booking.")

  on.booked = function(e, at)
    local r = rooms[e.room] or {}
    r[e.id] = { by = at.user, from = e.from, to = e.to }
    rooms[e.room] = r
    last:set(e.number)
  end

  on.cancelled = function(e)
    local r = rooms[e.room]
    r[e.id] = nil
    rooms[e.room] = next(r) and r
  end

  command.book = {
    "Books a room; returns the id.", room = "text", from = "time", to = "time",
    rejects = { "empty", "taken" },
    run = function(p, caller)
      if p.to <= p.from then reject("empty", "a booking ends after it begins") end
      for _, b in pairs(rooms[p.room] or {}) do
        if p.from < b.to and b.from < p.to then reject("taken", "the room is taken") end
      end
      local number = (last:get() or 0) + 1
      local id = "b" .. number
      record("booked", { id = id, number = number, room = p.room, from = p.from, to = p.to })
      return id
    end,
  }

  command.cancel = {
    "Cancels a booking.", room = "text", id = "text",
    run = function(p)
      local r = rooms[p.room]
      if not (r and r[p.id]) then not_found("booking", p.id) end
      record("cancelled", { id = p.id, room = p.room })
    end,
  }
  """
