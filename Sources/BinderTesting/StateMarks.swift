internal import EventSourcing
internal import JSON
internal import Journal
internal import Signals

/// The states of services after each event, as hashes, for the event with which a replay differs.
final class StateMarks {
  /// The hashes by position.
  private var hashes: [UInt64: Int] = [:]

  /// The bytes of states that may still be hashed, so that a test with a long state stays fast.
  private var bytesLeft = 1 << 20

  /// Keeps the state of each service after each of its events.
  func observe(_ host: ServiceHost, _ services: [String]) -> any Disposable {
    host.events(EventFilter()).observeNext { [self, unowned host] event in
      let service = String(event.type.prefix { $0 != "." })
      hashes[event.seq] = nil
      guard bytesLeft > 0, services.contains(service),
        let text = host.stateTexts(of: [service])[service]
      else { return }
      bytesLeft -= text.text.utf8.count
      hashes[event.seq] = hash(text)
    }
  }

  /// Returns the first event after which a new state differs from the one that the daemon had.
  func firstDifference(
    of service: String, in records: [Record], _ host: ServiceHost
  ) -> Record? {
    var found: Record?
    host.fold(records, of: service) { record, text in
      guard let known = hashes[record.seq] else { return false }
      if known != hash(text) { found = record }
      return found == nil
    }
    return found
  }

  private func hash(_ text: JSONText) -> Int { text.value.sorted.text.text.hashValue }
}
