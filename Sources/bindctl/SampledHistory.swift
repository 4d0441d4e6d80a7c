import BinderClient
import Console
import JSON
import Model
import Wire

/// The values of a source in equal intervals of time.
struct SampledHistory {
  let source: String
  let pointer: JSONPointer?
  let from: Timestamp
  let to: Timestamp

  /// The number of intervals.
  let count: Int

  /// Reads the source, the time and the number of intervals from the command line.
  init(_ context: Context, since: When, points: Int, operand: Int = 0) throws {
    let command = context.invocation.command
    source = context.operand(operand)
    guard !source.contains("*"), source != "events" else {
      throw UsageError("\(command ?? "") takes one source, not '\(source)'", command: command)
    }
    let given = try context.number("points")
    if let given, !(2...10_000 ~= given) {
      throw UsageError("--points must be from 2 to 10000", command: command)
    }
    count = given.map { Int($0) } ?? points
    pointer = try context.pick()
    let connection = try context.client.connected()
    from = try connection.time(of: context.moment("since") ?? since)
    to = try connection.time(of: context.moment("until") ?? .time(context.now))
    guard from < to else { throw UsageError("--since must be before --until", command: command) }
  }

  /// Returns the source and the part of its values, with the title and the unit of its type.
  func title(_ types: KnownTypes) -> String {
    let type = pointer == nil ? types.type(of: source) : nil
    return (type?.title.map { "\($0)  \(title)" } ?? title) + (type?.unit.map { " (\($0))" } ?? "")
  }

  /// The source and the part of its values.
  var title: String { source + (pointer?.text ?? "") }

  /// Returns the beginning of an interval.
  func time(_ index: Int) -> Timestamp {
    let span = Double(to.microseconds - from.microseconds)
    return Timestamp(
      microseconds: from.microseconds + Int64(span * Double(index) / Double(count)))
  }

  /// The position at the beginning of an interval, and the value there; `nil` if they are not kept.
  private typealias Boundary = (seq: UInt64, value: JSONText?)?

  /// Returns the samples, `nil` for an interval without a number.
  ///
  /// - Throws: ``Failure`` if there is no number at all, unless `isEmptyAllowed`.
  func samples(_ context: Context, isEmptyAllowed: Bool = false) throws -> [Plot.Sample?] {
    let connection = try context.client.connected()
    let boundaries = try boundaries(connection)
    var isAnyValue = false
    func double(_ value: JSONText?) -> Double? {
      guard let value else { return nil }
      isAnyValue = true
      return value.plotted(pointer)
    }
    var samples = (0..<count).map { i -> Plot.Sample? in
      double(boundaries[i]?.value).map { Plot.Sample($0) }
    }
    try changes(boundaries, context) { seq, value in
      // The last interval that begins before the position.
      guard let value = double(value), let i = place(of: seq, boundaries) else { return }
      if samples[i] == nil { samples[i] = Plot.Sample(value) } else { samples[i]?.add(value) }
    }
    guard isEmptyAllowed || samples.contains(where: { $0 != nil }) else {
      if isAnyValue {
        throw Failure(
          "the values of '\(source)' are not numbers; --pick /PATH plots a part of them", .refused)
      }
      // An error of the daemon if there is no such source.
      _ = try connection.call("get", ["source": .string(source)])
      throw Failure(
        "'\(source)' had no value in this time; see '\(bindctlCommand) history \(source)'",
        .notFound)
    }
    return samples
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
  func time(of moment: When) throws -> Timestamp {
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
