import BinderClient
import Console
import JSON
import Wire

let plotSyntax = Syntax(
  "plot", "Draws the numbers that a source has had, from its history.",
  operands: [Operand("SRC")],
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
    -f also takes sources without a history, such as system/load.

    With -j, -r or -F it prints one line for each point: its time, and the value at its end, value, with
    the smallest and the largest one, low and high.
    """,
  examples: [
    "bindctl plot cells/temperature", "bindctl plot cells/temperature --since -1d",
    "bindctl plot cells/weather --pick /wind --since 08:30 -j",
    "bindctl plot -f system/load --pick /one",
  ])

var plotCommand: Command {
  Command(plotSyntax) { context in
    if context.invocation.has("follow") { return try followPlot(context) }
    let output = context.output
    let size = output.width == nil ? (width: 80, height: 24) : output.size
    let range = try SampledHistory(
      context, since: When("-1h"), points: max(16, 2 * (size.width - 12)))
    let samples = try range.samples(context)
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
    let height = max(6, min(20, size.height - 6))
    let plot = Plot(samples, height: height)
    output.line(output.style.bold(range.title) + "  " + plot.summary)
    let axis = TimeAxis(
      from: range.from.movedHere, to: range.to.movedHere, columns: (samples.count + 1) / 2)
    for line in plot.lines(height: height, axis, output.style) { output.line(line) }
    return .done
  }
}

/// Draws the curve in place until the user quits.
private func followPlot(_ context: Context) throws -> ExitCode {
  if context.invocation.has("until") {
    throw UsageError("--until and --follow cannot be used together", command: "plot")
  }
  guard context.output.form == .human, let terminal = Terminal() else {
    let terminal =
      Style.isDumb(variable) ? "a terminal with a screen, which TERM=dumb is not" : "a terminal"
    throw UsageError(
      "--follow needs \(terminal); 'bindctl watch' prints the values", command: "plot")
  }
  let points = max(16, 2 * (terminal.size.width - 8))
  let range = try SampledHistory(
    context, since: When("-5m"), points: points)
  var samples = [Plot.Sample?](repeating: nil, count: range.count)
  do {
    samples = try range.samples(context, isEmptyAllowed: true)
  } catch ClientError.refused(let refusal) where refusal.name == .invalidParams {
    // The source has no history.
  }
  context.client.disconnect()
  return try showInPlace(
    PlotScreen(
      range.title, samples, from: range.from, now: range.to, pointer: range.pointer,
      shown: \.movedHere),
    [Topic(range.source, mode: .newest)], terminal, context)
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
    let range = try SampledHistory(context, since: When("-1h"), points: 30)
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
