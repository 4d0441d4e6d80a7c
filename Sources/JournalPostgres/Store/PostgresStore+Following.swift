internal import EventLoop
internal import Journal
internal import Model

/// Applying the events of the active daemon.
extension PostgresStore {
  /// The limits of one reading: events, and about bytes.
  private static let (pageCount, pageBytes) = (Int64(1_000), Int64(1 << 20))

  /// Reads the events up to a position, if this daemon follows and does not read already.
  func fetch(upTo seq: UInt64) {
    switch role {
    case .joining, .following: break
    case .active, .over: return
    }
    guard let link, !lease.isFetching, seq > durable else { return }
    lease.isFetching = true
    var parameters = PostgresParameters()
    parameters.add(durable)
    parameters.add(Self.pageCount)
    parameters.add(Self.pageBytes)
    link.run(.events, parameters) { [unowned self] outcome in
      guard self.link === link else { return }
      lease.isFetching = false
      switch outcome.result {
      case .success(let result): apply(result, upTo: seq)
      case .failure(let error): connection.reconnect(because: "\(error)")
      }
    }
  }

  private func apply(_ result: PostgresResult, upTo seq: UInt64) {
    let (events, damaged) = queue.followed(result)
    if let damaged {
      return fail(.corrupt(seq: damaged, detail: "its checksum does not match"))
    }
    guard !events.isEmpty else {
      // A position of a notification alone says nothing, because others may send one.
      if seq <= lease.head?.last ?? 0 {
        connection.reconnect(because: "the journal does not have event \(seq)")
      }
      return
    }
    // Positions grow, so the last one shows a gap.
    guard events.last == durable + UInt64(events.count) else {
      return end(because: "events were removed before this daemon has applied them")
    }
    queue.follow(events)
    delegate?.store(followed: events)
    guard !isClosed else { return }
    lease.seenAt = loop.milliseconds
    fetch(upTo: seq)
    finishTaking()
  }
}
