internal import JSON

/// A client that maintains the daemon.
///
/// It reloads the configuration, removes events that all readers have passed, and opens views.
final class Housekeeper: LoadClient {
  private var views: [String] = []
  private var lastView = 0

  override func forget() {
    views = []
  }

  override func act() {
    // It gets as many turns as the others.
    guard random.once(in: 10) else { return }
    switch random.below(4) {
    case 0: send("reload", [:])
    case 1: compact()
    case 2: open()
    default: close()
    }
  }

  /// Requests removal of events that all readers have passed.
  private func compact() {
    guard crowd.proved > 1 else { return }
    let before = 1 + random.below(crowd.proved)
    crowd.compacted = max(crowd.compacted, before)
    send(
      "journal.compact", ["before": JSONText(members: ["seq": JSONText(before)])])
  }

  private func open() {
    guard views.count < 8 else { return close() }
    lastView += 1
    let view = "v\(lastView)"
    views.append(view)
    send(
      "open",
      [
        "binder": JSONText(string: "cell"), "view": JSONText(string: view),
        "args": JSONText(members: ["name": JSONText(string: "n\(random.below(4))")]),
      ])
  }

  private func close() {
    guard let i = views.indices.randomElement(using: &random) else { return }
    send("close", ["view": JSONText(string: views.remove(at: i))])
  }
}
