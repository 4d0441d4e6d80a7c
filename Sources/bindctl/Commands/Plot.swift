import BinderClient
import Console
import JSON
import Wire

let plotSyntax = Syntax(
  "plot", "Draws the numbers that sources have had, from their history.",
  operands: [Operand("SRC", .some)],
  options: [
    Option("follow", letter: "f", "stay in place and go on with new values, until q"),
    Option("since", value: "WHEN", "from a position or a time on; default -1h, with -f -5m"),
    Option("until", value: "WHEN", "up to a position or a time; default now"),
    pickOption,
    Option("points", value: "N", "the number of points; default as many as fit"),
  ],
  details: """
    true is drawn as 1, false as 0. A point is an interval of time: the curve shows its smallest and its
    largest value, so that no peak is lost. A value holds until the next one. In a pipe it draws 80 columns.
    -f also takes sources without a history, such as system/load. Several sources, 6 at most, share the
    axes; title and unit come from 'bindctl describe --types'.

    With -j, -r or -F it prints one line for each point: its time, and the value at its end, value, with
    the smallest and the largest one, low and high; of several sources also the source.
    """,
  examples: [
    "bindctl plot cells/temperature", "bindctl plot cells/temperature --since -1d",
    "bindctl plot cells/weather --pick /wind --since 08:30 -j",
    "bindctl plot -f system/load --pick /one",
    "bindctl plot cells/hall/celsius cells/attic/celsius",
  ])

var plotCommand: Command {
  Command(plotSyntax) { context in
    if context.invocation.has("follow") { return try followPlot(context) }
    let output = context.output
    let size = output.width == nil ? (width: 80, height: 24) : output.size
    let ranges = try ranges(
      context, since: context.when("-1h"), points: max(16, 2 * (size.width - 12)))
    guard let range = ranges.first else { return .done }
    let curves = try ranges.map { try $0.samples(context) }
    guard output.form == .human else {
      for (range, samples) in zip(ranges, curves) {
        for (i, sample) in samples.enumerated() {
          guard let sample else { continue }
          var line: JSONObject = ranges.count > 1 ? ["source": .string(range.source)] : [:]
          line["time"] = .string(range.time(i + 1).text)
          line["value"] = number(sample.last)
          line["low"] = number(sample.low)
          line["high"] = number(sample.high)
          output.result(line, bare: number(sample.last), human: "")
        }
      }
      return .done
    }
    let height = max(6, min(20, size.height - 5 - curves.count))
    let plot = Plot(curves: curves, height: height)
    let types = context.types
    for line in Plot.titles(
      zip(ranges, curves).map { ($0.title(types), $1) }, output.style)
    { output.line(line) }
    let axis = TimeAxis(
      from: range.from.movedHere, to: range.to.movedHere,
      columns: ((curves.first?.count ?? 0) + 1) / 2)
    for line in plot.lines(height: height, axis, output.style) { output.line(line) }
    return .done
  }
}

/// Reads the sources of the command line, for the same time.
private func ranges(_ context: Context, since: When, points: Int) throws -> [SampledHistory] {
  let count = context.invocation.operands.count
  guard count <= 6 else {
    throw UsageError("plot draws at most 6 sources, not \(count)", command: "plot")
  }
  return try (0..<count).map { i in
    try SampledHistory(context, since: since, points: points, operand: i)
  }
}

/// Draws the curve in place until the user quits.
private func followPlot(_ context: Context) throws -> ExitCode {
  if context.invocation.has("until") {
    throw UsageError("--until and --follow cannot be used together", command: "plot")
  }
  guard context.output.form == .human, let terminal = Terminal() else {
    let terminal =
      Style.isDumb(variable)
      ? "a terminal with a screen, which TERM='\(variable("TERM") ?? "")' is not" : "a terminal"
    throw UsageError(
      "--follow needs \(terminal); 'bindctl watch' prints the values", command: "plot")
  }
  let points = max(16, 2 * (terminal.size.width - 8))
  let ranges = try ranges(context, since: context.when("-5m"), points: points)
  guard let range = ranges.first else { return .done }
  let types = context.types
  let curves = try ranges.map { range in
    var samples = [Plot.Sample?](repeating: nil, count: range.count)
    do {
      samples = try range.samples(context, isEmptyAllowed: true)
    } catch ClientError.refused(let refusal) where refusal.name == .invalidParams {
      // The source has no history.
    }
    return (source: range.source, title: range.title(types), samples: samples)
  }
  context.client.disconnect()
  var seen: Set<String> = []
  let sources = ranges.map(\.source).filter { seen.insert($0).inserted }
  return try showInPlace(
    PlotScreen(
      curves, from: range.from, now: range.to, pointer: range.pointer, shown: \.movedHere),
    sources.map { Topic($0, mode: .newest) }, terminal, context)
}

let sparkSyntax = Syntax(
  "spark", "Prints the numbers that a source has had as a curve of one line.",
  operands: [Operand("SRC")],
  options: [
    Option("since", value: "WHEN", "from a position or a time on; default -1h"),
    Option("until", value: "WHEN", "up to a position or a time; default now"),
    pickOption,
    Option("points", value: "N", "the number of characters; default 30"),
  ],
  details: """
    Each character is an interval of time with the value at its end, from the smallest value, ▁, to the
    largest one, █; the last value follows. With -r only the curve is printed.
    """,
  examples: ["bindctl spark cells/temperature", "bindctl spark cells/on --since -1d -r"])

var sparkCommand: Command {
  Command(sparkSyntax) { context in
    let range = try SampledHistory(context, since: context.when("-1h"), points: 30)
    let samples = try range.samples(context)
    let curve = Sparkline.text(between: samples.map { $0?.last })
    let known = samples.compactMap(\.self)
    let last = number(known.last?.last ?? 0)
    context.output.result(
      [
        "source": .string(range.source), "spark": .string(curve), "value": last,
        "low": number(known.map(\.low).min() ?? 0), "high": number(known.map(\.high).max() ?? 0),
      ], bare: .string(curve), human: context.output.style.cyan(curve) + "  " + last.text.text)
    return .done
  }
}

private func number(_ value: Double) -> JSONValue {
  JSONNumber(value).map { .number($0) } ?? .null
}
