import CMallocs
import Glibc

/// Returns the CPU time of this thread in ns.
func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

extension [Double] {
  var median: Double { sorted()[count / 2] }
}

/// A measured operation, and its floor: the least that the same work can cost.
struct Row {
  let name: String
  /// The maximum ratio to the floor; `nil` for no limit.
  let limit: Double?
  let floor: (_ count: Int) -> Void
  let ours: (_ count: Int) -> Void
}

/// Measures all rows in turn, so that a slow moment of the machine affects all rows alike.
func measure(_ rows: [Row], samples: Int = 15, events: Int = 200_000) {
  var times = rows.map { _ in (floor: [Double](), ours: [Double](), mallocs: 0) }
  for sample in 0...samples {
    for (i, row) in rows.enumerated() {
      let a = now()
      row.floor(events)
      let (mallocs, b) = (malloc_count(), now())
      row.ours(events)
      let c = now()
      guard sample > 0 else { continue }  // the first warms up
      times[i].floor.append((b - a) / Double(events))
      times[i].ours.append((c - b) / Double(events))
      times[i].mallocs += malloc_count() - mallocs
    }
  }
  print(padded("work", 36), "   floor    ours   times mallocs  at most")
  for (row, time) in zip(rows, times) {
    let (floor, ours) = (time.floor.median, time.ours.median)
    let times = ours / floor
    let mallocs = Double(time.mallocs) / Double(samples * events)
    var line = "\(padded(row.name, 36)) \(number(floor)) \(number(ours)) \(number(times))"
    line += " \(number(mallocs))"
    if let limit = row.limit {
      line += "  \(number(limit))  \(times <= limit ? "" : "missed")"
    }
    print(line)
  }
}

func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// Formats a number with two decimal places.
func number(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
  let text = "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  return String(repeating: " ", count: max(0, 7 - text.count)) + text
}
