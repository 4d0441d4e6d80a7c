import Signals
import SignalsTestSupport

/// The language of the suite: `"-a-b-|"`.
///
/// A character is a second: `-` nothing, `a` an element, `|` the completion, `#` the failure. What
/// happens in one second is in parentheses, `(ab|)`; an element of several characters in brackets,
/// `[ab]`.
struct Marbles {
  let time = VirtualTime()

  /// Returns a signal that runs a diagram for each observer.
  func cold(_ diagram: String) -> Signal<String, Broken> {
    Signal { [time] observer in
      let timers = CompositeDisposable()
      for (second, event) in parse(diagram) {
        if second == 0 {
          observer.on(event)
        } else {
          timers.add(disposable: time.schedule(after: second) { observer.on(event) })
        }
      }
      return timers
    }
  }

  /// Returns a signal that runs a diagram for each observer and cannot fail.
  func safe(_ diagram: String) -> SafeSignal<String> {
    cold(diagram).suppressError()
  }

  /// Returns a subject that receives the events of a diagram from now on.
  func hot(_ diagram: String) -> PassthroughSubject<String, Broken> {
    let subject = PassthroughSubject<String, Broken>()
    for (second, event) in parse(diagram) {
      _ = time.schedule(after: second) { subject.on(event) }
    }
    return subject
  }

  /// Returns the diagram of a signal, observed from now on and disposed after so many seconds.
  func draw<Source: SignalProtocol>(_ signal: Source, for seconds: Double = 100) -> String
  where Source.Element: CustomStringConvertible {
    let start = time.now
    var seen: [(second: Int, mark: String)] = []
    let run = signal.observe { [time] event in
      let mark =
        switch event {
        case .next(let element): element.description.count == 1 ? "\(element)" : "[\(element)]"
        case .failed: "#"
        case .completed: "|"
        }
      seen.append((Int(time.now - start), mark))
    }
    time.run(for: seconds)
    run.dispose()
    var diagram = ""
    var second = 0
    while let first = seen.first {
      diagram += String(repeating: "-", count: first.second - second)
      let marks = seen.prefix { $0.second == first.second }.map(\.mark)
      diagram += marks.count == 1 ? marks[0] : "(\(marks.joined()))"
      seen.removeFirst(marks.count)
      second = first.second + 1
    }
    return diagram
  }
}

/// Returns the events of a diagram, each with its second.
func parse(_ diagram: String) -> [(second: Double, event: Signal<String, Broken>.Event)] {
  var events: [(Double, Signal<String, Broken>.Event)] = []
  var second = 0.0
  var isGroup = false
  var word: String?
  for character in diagram {
    switch (character, word) {
    case ("]", let text?):
      events.append((second, .next(text)))
      word = nil
    case (_, let text?):
      word = text + String(character)
      continue
    case ("[", _):
      word = ""
      continue
    case ("(", _):
      isGroup = true
      continue
    case (")", _): isGroup = false
    case ("-", _): break
    case ("|", _): events.append((second, .completed))
    case ("#", _): events.append((second, .failed(Broken())))
    default: events.append((second, .next(String(character))))
    }
    if !isGroup { second += 1 }
  }
  return events
}
