internal import EventLoop

/// A client whose output is sent together with that of others.
protocol GatheredClient: AnyObject {
  /// Prepares for a kill while the output is being sent.
  func beginGatheredSending()

  /// Continues after the output was sent.
  func endGatheredSending()
}

/// Small outputs of clients that are served one after the other, to be sent together.
///
/// An output is gathered while its client is served, and sent after that client and up to 31 others.
/// The client is then served again for a moment: its state, and what is kept of it over a restart,
/// change only when the result is known. If the daemon is killed during the call that sends, it is not
/// known which clients have a part of a line: the next daemon closes them all.
final class GatheredOutput {
  let batch: SendBatch

  /// The clients of the outputs; `nil` for those that have their result.
  private var clients: ContiguousArray<(any GatheredClient)?> = []

  /// Whether the outputs of the client that is being served may be gathered.
  private(set) var isOpen = false

  init(_ batch: SendBatch) {
    self.batch = batch
  }

  /// Begins to gather the output of some clients, if that costs less than to send each.
  func open(forClients count: Int) {
    isOpen = batch.usesRing && count >= SendBatch.leastCount
  }

  /// Names the client of the output that was added to the batch.
  ///
  /// - Returns: The place of the output.
  func append(_ client: some GatheredClient) -> Int {
    clients.append(client)
    return clients.count - 1
  }

  /// Sends the outputs if there may be no room for another.
  func sendIfFull() { if batch.isFull { send() } }

  /// Sends the last outputs; others are not gathered until ``open(forClients:)``.
  func close() {
    guard isOpen else { return }
    isOpen = false
    send()
  }

  private func send() {
    guard !clients.isEmpty else { return }
    for client in clients { client?.beginGatheredSending() }
    batch.send()
    // A client may end another one.
    for place in clients.indices { clients[place]?.endGatheredSending() }
    clients.removeAll(keepingCapacity: true)
    batch.removeAll()
  }

  /// Returns the result of an output, once; sends it if that was not done.
  func result(of place: Int) -> Int? {
    clients[place] = nil
    return batch.result(of: place)
  }
}
