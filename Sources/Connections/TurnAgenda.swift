internal import Signals

/// The work that is left to do for the clients at the end of a turn.
struct TurnAgenda {
  /// The clients that are served in this turn.
  private var listed: [Client] = []

  /// The clients that are served in the next turn.
  private var postponed: [Client] = []

  /// The postponed clients that had no time at all in the last turn.
  private var unserved: [Client] = []

  /// The clients that are served when the durable position advances.
  private var waiting: [Client] = []

  /// The clients that have disconnected.
  private var gone: [Client] = []

  /// Actions to run before anything is sent.
  private var actions: [() -> Void] = []

  /// Whether no client is to be served.
  var isEmpty: Bool { listed.isEmpty }
  var hasClients: Bool { !listed.isEmpty || !gone.isEmpty }
  var hasPostponed: Bool { !postponed.isEmpty || !unserved.isEmpty }
  var hasActions: Bool { !actions.isEmpty }

  // MARK: Adding

  mutating func list(_ client: Client) {
    guard !client.isListed else { return }
    client.isListed = true
    listed.append(client)
  }

  mutating func postpone(_ client: Client, isFirst: Bool) {
    guard !client.isPostponed else { return }
    client.isPostponed = true
    if isFirst { unserved.append(client) } else { postponed.append(client) }
  }

  mutating func await(_ client: Client) {
    guard !client.isWaiting else { return }
    client.isWaiting = true
    waiting.append(client)
  }

  mutating func appendGone(_ client: Client) { gone.append(client) }
  mutating func append(_ action: @escaping () -> Void) { actions.append(action) }

  // MARK: Listing

  /// Lists the clients that wait for the durable position.
  mutating func listWaiting() {
    for client in waiting {
      client.isWaiting = false
      list(client)
    }
    // Its capacity is bounded by the number of clients.
    waiting.removeAll(keepingCapacity: true)
  }

  /// Lists postponed clients: those that had no time first, so that all of a user's clients have
  /// their turn.
  mutating func listPostponed() {
    guard hasPostponed else { return }
    let (first, last) = (unserved, postponed)
    (unserved, postponed) = ([], [])
    listed.removeAll(where: \.isPostponed)
    for client in first + last { (client.isPostponed, client.isListed) = (false, true) }
    listed = first + listed + last
  }

  // MARK: Removing

  mutating func removeListed() -> [Client] {
    defer { listed = [] }
    return listed
  }

  mutating func removeGone() -> [Client] {
    defer { gone = [] }
    return gone
  }

  mutating func removeActions() -> [() -> Void] {
    defer { actions = [] }
    return actions
  }

  /// Forgets the clients that wait for the durable position.
  mutating func removeWaiting() { waiting = [] }
}

/// The clients that are checked once a second until they are no longer slow.
struct SlowClients {
  private var clients: [Client] = []

  /// The timer of the next check; `nil` if there is none.
  var sweep: (any Disposable)?

  var needsSweep: Bool { sweep == nil && !clients.isEmpty }

  /// - Returns: Whether the client was not there.
  mutating func append(_ client: Client) -> Bool {
    guard !client.isMonitored else { return false }
    (client.isMonitored, client.slowPlace) = (true, clients.count)
    clients.append(client)
    return true
  }

  /// Forgets a client that has ended.
  ///
  /// Otherwise all that have ended since the last check would be freed at the next one, together.
  mutating func remove(_ client: Client) {
    let place = client.slowPlace
    guard client.isMonitored, place < clients.count, clients[place] === client else { return }
    client.isMonitored = false
    clients.swapAt(place, clients.count - 1)
    clients[place].slowPlace = place
    clients.removeLast()
  }

  mutating func removeAll() -> [Client] {
    defer { clients = [] }
    return clients
  }
}
