import Glibc
import JSON
import TestSupport
import Testing
import Wire

/// Random lines against the real daemon.
///
/// Each gets exactly one answer, each answer fits the schema, and the daemon keeps running.
final class LineFuzzTests {
  private var daemon: DaemonProcess
  private var tried = 0

  init() throws {
    daemon = try DaemonProcess()
  }

  /// The number of inputs for one daemon, because valid inputs leave state behind.
  private static let inputsOfADaemon = 500

  private static let requests: [String] = {
    let directory = #filePath.replacing(
      "Tests/DaemonTests/LineFuzzTests.swift", with: "Protocol/transcripts")
    let lines = Files.names(in: directory).flatMap { name in
      Files.text(of: "\(directory)/\(name)").split(separator: "\n").compactMap { line in
        line.firstRange(of: "-> ").map { String(line[$0.upperBound...]) }
      }
    }
    // A wait for a condition may never end.
    return lines.filter {
      !$0.hasPrefix("#") && $0.count < 4_000 && !$0.contains(#""method":"wait""#)
    }
  }()

  private static let mutation = Mutation(
    of: (0..<400).map { i in
      // One to four unrelated requests, the same in each run.
      var random = SeededRandom(seed: UInt64(i))
      return (0...Int.random(in: 0...3, using: &random)).map { _ in
        (requests.randomElement(using: &random) ?? "") + "\n"
      }.joined()
    },
    words: [
      "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\r\n", "null", "true", "\"id\":1,",
      "\"id\":null,",
      "\"jsonrpc\":\"2.0\",", "\"method\":\"get\"", "\"params\":[]", "\"_meta\":{\"cmd\":\"c\"}",
      "-0", "1e308", "1E400",
      "9223372036854775808", "0.1", "\"\\ud800\"", "\"\\u0000\"", "\u{0}", "\u{feff}", "ü", "😀",
      "cells/", "**", "*",
      "events", "/", ".", String(repeating: "[", count: 70), String(repeating: "9", count: 70),
      String(repeating: "a", count: 300), "\"from\":\"start\"", "{\"after\":0}",
      "\"mode\":\"every\"",
      "\"sub\":\"s\"", "{\"seq\":1}", "\"scope\":\"daemon\"",
    ])

  @Test
  func `every line gets one answer that fits the schema, in pieces of any size`() throws {
    let found = Fuzzing("lines").run(Self.mutation.make) { input in
      do {
        return try fault(input)
      } catch {
        return "\(error); log: \(daemon.log.suffix(400))"
      }
    }
    if let found { Issue.record("\(found)") }
  }

  private func fault(_ input: [UInt8]) throws -> String? {
    tried += 1
    var status: CInt = 0
    if tried % Self.inputsOfADaemon == 0 || waitpid(daemon.pid, &status, WNOHANG) != 0 {
      daemon = try DaemonProcess()
    }
    let wanted = Self.answers(to: input)
    guard let wanted else { return nil }
    let client = try TestSocket(daemon.socket, isRecorded: false)
    defer { client.close() }
    try send(input + Array("\n".utf8) + Self.ping("end"), to: client)
    var missing = wanted
    missing["\"end\"", default: 0] += 1
    if let fault = try read(client, until: &missing) { return fault }
    // A surplus answer arrives before the answer to one more request.
    try client.send(bytes: Self.ping("after"))
    missing = ["\"after\"": 1]
    return try read(client, until: &missing)
  }

  private static func ping(_ id: String) -> [UInt8] {
    Array("{\"id\":\"\(id)\",\"method\":\"ping\"}\n".utf8)
  }

  /// Sends bytes in pieces; the same bytes give the same pieces.
  private func send(_ bytes: [UInt8], to client: TestSocket) throws {
    var random = SeededRandom(seed: UInt64(bytes.count))
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...max(1, rest.count), using: &random)
      try client.send(bytes: Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
      sched_yield()
    }
  }

  /// Reads until all answers have arrived.
  private func read(
    _ client: TestSocket, until missing: inout [String: Int]
  ) throws -> String? {
    while !missing.isEmpty {
      guard let line = try client.line() else { return "the daemon has hung up" }
      guard let value = try? JSONValue(parsing: line) else { return "no JSON: \(line)" }
      if let fault = Frames.schema.fault(in: value) { return "\(fault): \(line)" }
      for id in Self.answered(by: value) {
        guard let count = missing[id] else { return "too many answers: \(line)" }
        missing[id] = count == 1 ? nil : count - 1
      }
    }
    return nil
  }

  /// Returns the ids that a frame answers.
  private static func answered(by frame: JSONValue) -> [String] {
    switch frame {
    case .array(let answers): answers.flatMap(answered)
    case .object(let object):
      object["method"] == nil ? object["id"].map { [$0.text.text] } ?? [] : []
    default: []
    }
  }

  /// Returns the number of answers per id; `nil` if there are so many bad lines that the daemon
  /// closes the connection.
  private static func answers(to input: [UInt8]) -> [String: Int]? {
    var wanted: [String: Int] = [:]
    var bad = 0
    for line in input.split(separator: UInt8(ascii: "\n")) {
      let ids = answers(toLine: Array(line))
      for id in ids { wanted[id, default: 0] += 1 }
      bad += 1
    }
    return bad < Limits().badLines - 1 ? wanted : nil
  }

  private static func answers(toLine line: [UInt8]) -> [String] {
    var scanner = JSONScanner(line.span)
    guard let first = scanner.peek() else { return [] }
    do throws(Request.Fault) {
      guard first == UInt8(ascii: "[") else {
        let request = try Request(parsing: line.span, idBytes: Limits().idBytes)
        return request.id(in: line.span).map { [shown($0)] } ?? []
      }
      return try Batch.parse(line.span, limits: Limits()).compactMap { request in
        switch request {
        case .success(let request): request.id(in: line.span).map(shown)
        case .failure(let fault): shown(fault.id)
        }
      }
    } catch {
      return [shown(error.id)]
    }
  }

  /// Returns an id as text, as in a parsed and rewritten answer.
  private static func shown(_ id: RequestID) -> String {
    (try? JSONValue(parsing: id.text).text.text) ?? id.text
  }
}
