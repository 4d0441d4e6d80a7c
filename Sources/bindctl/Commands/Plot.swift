import BinderClient
import Console
import JSON
import Wire

let plotSyntax = Syntax(
  "plot", "Draws the numbers that a source has had, from its history.",
  operands: [Operand("SRC")],
  options: [
    Option("since", value: "WHEN", "from a position or a time on; default -1h"),
    Option("until", value: "WHEN", "up to a position or a time; default now"),
    Option("pick", value: "/PATH", "a part of each value, for example /one of system/load"),
    Option("points", value: "N", "the number of points; default as many as fit"),
  ],
  details: """
    true is drawn as 1, false as 0. A point is an interval of time: the curve shows its smallest and its
    largest value, so that no peak is lost. A value holds until the next one. In a pipe it draws 80 columns.

    With -j, -r or -F it prints one line for each point: its time, and the value at its end, value, with
    the smallest and the largest one, low and high.
    """,
  examples: [
    "bindctl plot cells/temperature", "bindctl plot cells/temperature --since -1d",
    "bindctl plot cells/weather --pick /wind --since 08:30 -j",
  ])

var plotCommand: Command {
  Command(plotSyntax) { context in
    let source = context.operand(0)
    guard !source.contains("*"), source != "events" else {
      throw UsageError("plot takes one source, not '\(source)'", command: "plot")
    }
    let points = try context.number("points")
    if let points, !(2...10_000 ~= points) {
      throw UsageError("--points must be from 2 to 10000", command: "plot")
    }
    let pointer = try pointer(context)
    let output = context.output
    let size = output.width == nil ? (width: 80, height: 24) : output.size
    let connection = try context.client.connected()
    let since = try context.moment("since") ?? When("-1h")
    let range = SampledHistory(
      source, pointer,
      from: try connection.time(of: since),
      to: try connection.time(of: context.moment("until") ?? .now),
      count: Int(points ?? UInt64(max(16, 2 * (size.width - 12)))))
    guard range.from < range.to else {
      throw UsageError("--since must be before --until", command: "plot")
    }
    let samples = try range.samples(connection, context)
    guard output.form == .human else {
      for (i, sample) in samples.enumerated() {
        guard let sample else { continue }
        output.result(
          [
            "time": .string(range.time(i + 1).text), "value": number(sample.last),
            "low": number(sample.low), "high": number(sample.high),
          ], bare: number(sample.last), human: "")
      }
      return .done
    }
    output.line(output.style.bold(source + (pointer?.text ?? "")))
    let height = max(6, min(20, size.height - 5))
    let lines = Plot(samples, height: height).lines(
      height: height, from: range.from.shortHere, to: range.to.shortHere, output.style)
    for line in lines { output.line(line) }
    return .done
  }
}

private func pointer(_ context: Context) throws(UsageError) -> JSONPointer? {
  guard let text = context.invocation.value("pick") else { return nil }
  guard let pointer = JSONPointer(text) else {
    throw UsageError("--pick takes a path such as /wind/speed, not '\(text)'", command: "plot")
  }
  return pointer
}

private func number(_ value: Double) -> JSONValue {
  JSONNumber(value).map { .number($0) } ?? .null
}

/// The values of a source in equal intervals of time.
private struct SampledHistory {
  let source: String
  let pointer: JSONPointer?
  let from: Timestamp
  let to: Timestamp

  /// The number of intervals.
  let count: Int

  init(
    _ source: String, _ pointer: JSONPointer?, from: Timestamp, to: Timestamp, count: Int
  ) {
    (self.source, self.pointer, self.from, self.to) = (source, pointer, from, to)
    self.count = count
  }

  /// Returns the beginning of an interval.
  func time(_ index: Int) -> Timestamp {
    let span = Double(to.microseconds - from.microseconds)
    return Timestamp(
      microseconds: from.microseconds + Int64(span * Double(index) / Double(count)))
  }

  /// The position at the beginning of an interval, and the value there; `nil` if they are not kept.
  private typealias Boundary = (seq: UInt64, value: JSONText?)?

  func samples(_ connection: BinderConnection, _ context: Context) throws -> [Plot.Sample?] {
    let boundaries = try boundaries(connection)
    var isAnyValue = false
    func double(_ value: JSONText?) -> Double? {
      guard let value else { return nil }
      isAnyValue = true
      return number(value)
    }
    var samples = (0..<count).map { i -> Plot.Sample? in
      double(boundaries[i]?.value).map { Plot.Sample($0) }
    }
    try changes(boundaries, context) { seq, value in
      // The last interval that begins before the position.
      guard let value = double(value), let i = place(of: seq, boundaries) else { return }
      if samples[i] == nil { samples[i] = Plot.Sample(value) } else { samples[i]?.add(value) }
    }
    guard samples.contains(where: { $0 != nil }) else {
      if isAnyValue {
        throw Failure(
          "the values of '\(source)' are not numbers; --pick /PATH plots a part of them", .refused)
      }
      // An error of the daemon if there is no such source.
      _ = try connection.call("get", ["source": .string(source)])
      throw Failure(
        "'\(source)' had no value in this time; see 'bindctl history \(source)'", .notFound)
    }
    return samples
  }

  private func number(_ value: JSONText) -> Double? {
    guard let value = pointer == nil ? value : pointer?.find(in: value) else { return nil }
    switch value.value {
    case .number(let number): return number.double
    case .bool(let bool): return bool ? 1 : 0
    default: return nil
    }
  }

  private func boundaries(_ connection: BinderConnection) throws -> [Boundary] {
    // The maximum number of requests in flight.
    let window = 32
    var boundaries: [Boundary] = []
    for start in stride(from: 0, through: count, by: window) {
      let ids = try (start..<min(start + window, count + 1)).map { i in
        try connection.send(
          "history",
          ["source": .string(source), "at": .object(["time": .string(time(i).text)])])
      }
      for id in ids {
        do throws(ClientError) {
          let answer = try connection.answer(to: id).object
          boundaries.append((answer.uint("seq") ?? 0, answer["value"]?.text))
        } catch {
          guard case .refused(let refusal) = error, refusal.name == .seqExpired else { throw error }
          boundaries.append(nil)
        }
      }
    }
    return boundaries
  }

  /// Passes on each change of the source in the kept part of the time, in order.
  private func changes(
    _ boundaries: [Boundary], _ context: Context, _ take: (UInt64, JSONText?) -> Void
  ) throws {
    guard let first = boundaries.lazy.compactMap(\.self).first, let last = boundaries.last ?? nil,
      first.seq < last.seq
    else { return }
    let from = JSONValue.object(["after": .number(JSONNumber(first.seq))])
    let follower = try context.client.follow(
      [Topic(source, mode: .every, from: from)], reconnects: false)
    do throws(ClientError) {
      while true {
        switch try follower.next() {
        case .value(let value):
          guard let seq = value.seq, seq <= last.seq else { return }
          take(seq, value.value)
        case .caughtUp: return
        case .event, .missed: break
        }
      }
    } catch {
      // Events between others were removed; the values at the boundaries are known.
      guard case .refused(let refusal) = error, refusal.name == .seqExpired else { throw error }
    }
  }

  /// Returns the interval of a position, by binary search.
  private func place(of seq: UInt64, _ boundaries: [Boundary]) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if boundaries[middle].map({ $0.seq < seq }) ?? true {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low == 0 ? nil : low - 1
  }
}

extension BinderConnection {
  /// Returns the time of a position or a word.
  fileprivate func time(of moment: When) throws -> Timestamp {
    let seq: UInt64
    switch moment {
    case .time(let time): return time
    case .now: return .now
    case .start: seq = greeting.first
    case .seq(let position):
      guard position <= greeting.last else {
        throw Failure("position \(position) is beyond the end of the journal (\(greeting.last))")
      }
      seq = max(1, position)
    }
    let page = try call(
      "history",
      [
        "source": .string("events"), "after": .number(JSONNumber(max(1, seq) - 1)),
        "limit": .number(JSONNumber(1)),
      ]
    ).object
    return page.items.first.flatMap { $0.event.string("time") }.flatMap { Timestamp($0) } ?? .now
  }
}

extension Timestamp {
  /// The local time to the second, without the date if it is today.
  fileprivate var shortHere: String {
    let text = String(shownHere.prefix(19))
    return text.prefix(10) == Timestamp.now.shownHere.prefix(10) ? String(text.dropFirst(11)) : text
  }
}
