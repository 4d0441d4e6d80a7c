// Runs one service, written by hand or on tables, so that its instructions can be counted from outside.
// `tables.py` runs it.
//
// usage: tables-bench hand|tables command COUNT    COUNT commands on 10,000 rows, each made durable
//        tables-bench hand|tables event COUNT      the start on 10,000 rows and COUNT events
//        tables-bench hand|tables memory COUNT     prints the bytes of a row after COUNT commands

import CMallocs
import EventSourcing
import Glibc
import Journal
import JournalMemory
import Model

/// Something to do.
struct Item: Codable, Sendable {
  let id: Int
  var title: String
  var done: Bool
}

protocol Measured {
  init(in host: ServiceHost)
  var count: Int { get }
  func rename(_ id: Int, to title: String)
}

private let rows = 10_000

/// Returns a title of 40 bytes, which no small string holds.
private func title(_ number: Int) -> String {
  let text = "\(number)"
  return String(repeating: "-", count: 40 - text.utf8.count) + text
}

/// Returns events: one that adds each row, then some that rename rows in turn.
private func records(renaming count: Int) -> [Record] {
  var records: [Record] = []
  var heads = [(seq: UInt64, version: UInt64)](repeating: (0, 0), count: rows)
  for i in 0..<rows + count {
    let row = i % rows
    let head = heads[row]
    let seq = UInt64(i + 1)
    records.append(
      Record(
        seq: seq, time: 1, version: head.version + 1, previous: head.seq, stream: "todo/\(row + 1)",
        type: i < rows ? "todo.added" : "todo.renamed",
        data: #"{"title":"\#(title(i))"}"#, command: nil, meta: nil))
    heads[row] = (seq, head.version + 1)
  }
  return records
}

private func run<Service: Measured>(_ type: Service.Type, _ mode: String, _ count: Int) throws {
  let store = MemoryStore(
    epoch: "bench", records: records(renaming: mode == "event" ? count : 0))
  let before = malloc_bytes()
  let host = ServiceHost(store: store)
  let service = Service(in: host)
  try host.start()
  guard service.count == rows else { exit(1) }
  if mode == "event" { return }
  let caller = Peer(uid: 1, pid: 2)
  for i in 0..<count {
    _ = try host.perform(Command(method: "todo.rename", caller: caller)) {
      service.rename(i % rows + 1, to: title(rows + i))
      return nil
    }
    store.commit()
  }
  guard store.durable == UInt64(rows + count) else { exit(1) }
  if mode == "memory" { print((malloc_bytes() - before) / rows) }
}

private let words = CommandLine.arguments
guard words.count == 4, let count = Int(words[3]),
  ["command", "event", "memory"].contains(words[2])
else { exit(64) }
switch words[1] {
case "hand": try run(HandService.self, words[2], count)
case "tables": try run(TableService.self, words[2], count)
default: exit(64)
}
