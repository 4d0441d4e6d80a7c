package import JSON
internal import Model
package import Wire

/// A curve that stays in place and moves with time.
package struct PlotScreen: LiveScreen {
  private let title: String
  private let pointer: JSONPointer?

  /// Returns the local time of a time, expressed as if it were UTC.
  private let shown: (Timestamp) -> Timestamp
  private var samples: [Plot.Sample?]

  /// The end of the last interval, and its length, in microseconds.
  private var end: Int64
  private let length: Int64

  /// The difference between the clock of ``lines(width:height:_:status:at:)`` and ``end``; `nil` before
  /// its first reading.
  private var offset: Int64?
  private var last: Double?

  /// - Parameters:
  ///   - samples: The samples up to now.
  ///   - from: The beginning of the first one.
  ///   - now: The end of the last one.
  ///   - pointer: The part of the values to draw; `nil` for the whole value.
  ///   - shown: Returns the local time of a time, expressed as if it were UTC.
  package init(
    _ title: String, _ samples: [Plot.Sample?], from: Timestamp, now: Timestamp,
    pointer: JSONPointer?, shown: @escaping (Timestamp) -> Timestamp
  ) {
    (self.title, self.samples, self.pointer, self.shown) = (title, samples, pointer, shown)
    end = now.microseconds
    length = max(1, (now.microseconds - from.microseconds) / Int64(max(1, samples.count)))
    last = samples.last.flatMap { $0?.last }
  }

  package mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64
  ) {
    advance(to: now)
    last = value?.plotted(pointer)
    guard let last, let i = samples.indices.last else { return }
    if samples[i] == nil { samples[i] = Plot.Sample(last) } else { samples[i]?.add(last) }
  }

  /// Begins the intervals that have begun; a value holds until the next one.
  private mutating func advance(to now: UInt64) {
    let time = Int64(clamping: now) * 1000
    let offset = self.offset ?? end - time
    self.offset = offset
    let missing = max(0, (time + offset - end) / length + 1)
    guard missing > 0, time + offset > end else { return }
    let added = Array(
      repeating: last.map { Plot.Sample($0) }, count: Int(min(missing, Int64(samples.count))))
    samples = Array(samples.dropFirst(added.count)) + added
    end += missing * length
  }

  package mutating func press(_ key: Key) {}

  package func pause(at now: UInt64) -> UInt64? { UInt64(clamping: max(100, length / 1000)) }

  package mutating func lines(
    width: Int, height: Int, _ style: Style, status: String?, at now: UInt64
  ) -> [String] {
    advance(to: now)
    let curve = max(2, height - 5)
    // Two samples for each column beside the labels.
    let labels = Plot(samples, height: curve).labels
    let shown = samples.suffix(2 * Plot.columns(width: width, labels: labels))
    let plot = Plot(Array(shown), height: curve)
    let from = end - Int64(shown.count) * length
    let axis = TimeAxis(
      from: self.shown(Timestamp(microseconds: from)), to: self.shown(Timestamp(microseconds: end)),
      columns: (shown.count + 1) / 2)
    var lines = [style.bold(title) + "  " + plot.summary]
    lines.append(status.map { style.red($0.cut(to: width)) } ?? "")
    lines += plot.lines(height: curve, axis, style)
    lines = Array(lines.prefix(max(1, height - 1)))
    lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
    return (lines + [style.dim("q quit")]).screen(width: width, height: height)
  }
}

extension JSONText {
  /// Returns the number to draw for a value or a part of it: 1 and 0 for true and false; `nil` for
  /// other values.
  package func plotted(_ pointer: JSONPointer?) -> Double? {
    guard let value = pointer == nil ? self : pointer?.find(in: self) else { return nil }
    return switch value.value {
    case .number(let number): number.double
    case .bool(let bool): bool ? 1 : 0
    default: nil
    }
  }
}
