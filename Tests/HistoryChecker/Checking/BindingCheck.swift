internal import JSON

extension HistoryChecker {
  /// Checks that a binding writes a value of its source, later than the value that it wrote before.
  func check(_ event: Event, of binding: KnownBinding) throws(Violation) -> KnownBinding {
    let told = event.data.members?["value"] ?? .null
    func isTold(_ value: Value) -> Bool {
      // The binding writes null for a removed source.
      value == .json(told) || (value == .none && told == .null)
    }
    var binding = binding
    let start = max(binding.position, timeline.start)
    let changes = timeline.changes(of: binding.source, after: start, upTo: event.seq) ?? []
    if let change = changes.first(where: { isTold($0.value) }) {
      binding.position = change.seq
    } else {
      let first = timeline.value(of: binding.source, at: timeline.start)
      guard binding.position <= timeline.start, first.map(isTold) ?? false else {
        throw Violation(
          .event,
          "position \(event.seq) gives \(event.stream) the value \(told), which \(binding.source) had not behind \(binding.position)"
        )
      }
      binding.position = timeline.start
    }
    return binding
  }
}
