package import JSON
internal import Model
package import Wire

/// A curve that stays in place and moves with time.
package struct PlotScreen: LiveScreen {
  /// The sources of the curves, and what is written above each.
  private let sources: [String]
  private let titles: [String]
  private let pointer: JSONPointer?

  /// Returns the local time of a time, expressed as if it were UTC.
  private let shown: (Timestamp) -> Timestamp
  private var curves: [[Plot.Sample?]]

  /// The end of the last interval, and its length, in microseconds.
  private var end: Int64
  private let length: Int64

  /// The difference between the clock of ``lines(width:height:_:status:at:)`` and ``end``; `nil` before
  /// its first reading.
  private var offset: Int64?
  private var last: [Double?]

  /// - Parameters:
  ///   - curves: The source of each curve, its title, and its samples up to now; the same number of
  ///     samples each.
  ///   - from: The beginning of the first one.
  ///   - now: The end of the last one.
  ///   - pointer: The part of the values to draw; `nil` for the whole value.
  ///   - shown: Returns the local time of a time, expressed as if it were UTC.
  package init(
    _ curves: [(source: String, title: String, samples: [Plot.Sample?])], from: Timestamp,
    now: Timestamp, pointer: JSONPointer?, shown: @escaping (Timestamp) -> Timestamp
  ) {
    (sources, titles) = (curves.map(\.source), curves.map(\.title))
    self.curves = curves.map(\.samples)
    (self.pointer, self.shown) = (pointer, shown)
    end = now.microseconds
    let count = curves.first?.samples.count ?? 0
    length = max(1, (now.microseconds - from.microseconds) / Int64(max(1, count)))
    last = curves.map { $0.samples.last.flatMap { $0?.last } }
  }

  private var count: Int { curves.first?.count ?? 0 }

  package mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64
  ) {
    advance(to: now)
    // A source may be given twice.
    for curve in curves.indices where sources[curve] == source {
      last[curve] = value?.plotted(pointer)
      guard let last = last[curve], let i = curves[curve].indices.last else { continue }
      if curves[curve][i] == nil {
        curves[curve][i] = Plot.Sample(last)
      } else {
        curves[curve][i]?.add(last)
      }
    }
  }

  /// Begins the intervals that have begun; a value holds until the next one.
  private mutating func advance(to now: UInt64) {
    let time = Int64(clamping: now) * 1000
    let offset = self.offset ?? end - time
    self.offset = offset
    let missing = max(0, (time + offset - end) / length + 1)
    guard missing > 0, time + offset > end else { return }
    for curve in curves.indices {
      let added = Array(
        repeating: last[curve].map { Plot.Sample($0) }, count: Int(min(missing, Int64(count))))
      curves[curve] = Array(curves[curve].dropFirst(added.count)) + added
    }
    end += missing * length
  }

  package mutating func press(_ key: Key) {}

  package func pause(at now: UInt64) -> UInt64? { UInt64(clamping: max(100, length / 1000)) }

  package mutating func lines(
    width: Int, height: Int, _ style: Style, status: String?, at now: UInt64
  ) -> [String] {
    advance(to: now)
    let curve = max(2, height - 4 - curves.count)
    // Two samples for each column beside the labels.
    let labels = Plot(curves: curves, height: curve).labels
    let shown = curves.map { Array($0.suffix(2 * Plot.columns(width: width, labels: labels))) }
    let plot = Plot(curves: shown, height: curve)
    let count = shown.first?.count ?? 0
    let from = end - Int64(count) * length
    let axis = TimeAxis(
      from: self.shown(Timestamp(microseconds: from)), to: self.shown(Timestamp(microseconds: end)),
      columns: (count + 1) / 2)
    var lines = Plot.titles(zip(titles, shown).map { ($0, $1) }, style)
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
