internal import EventLoop
internal import Glibc
internal import Signals

/// Looks up the addresses of hosts, on a thread of its own, because a lookup may wait for seconds.
final class HostNames {
  typealias Addresses = Result<[String?], PostgresError>

  private let thread: Background<Void>
  private let loop: Loop
  private let lookUp: @Sendable (PostgresHost) -> Addresses

  /// The running lookups, and results that arrived after their callers gave up.
  private var lookups: [PostgresHost: Lookup] = [:]

  /// The time for which the result of such a lookup is used, in milliseconds.
  private static let keptMilliseconds: UInt64 = 10_000

  private struct Lookup {
    var found: (addresses: Addresses, at: UInt64)?

    /// Those that wait, by number.
    var waiting: [Int: (Addresses) -> Void] = [:]
  }

  private var lastNumber = 0

  /// - Parameter lookUp: Returns the addresses of a host, and may wait.
  init(
    on loop: Loop,
    lookUp: @escaping @Sendable (PostgresHost) -> Addresses = { HostNames.addresses(of: $0) }
  ) {
    thread = Background(on: loop) {}
    (self.loop, self.lookUp) = (loop, lookUp)
  }

  /// Calls `body` once with the addresses of a host, or with the reason if it has none.
  ///
  /// - Parameter body: `nil` is the address of a host that needs none.
  /// - Returns: Ends the wait when it is disposed. The lookup goes on, for the next call.
  func find(_ host: PostgresHost, _ body: @escaping (Addresses) -> Void) -> any Disposable {
    guard host.unresolved != nil else {
      body(Self.addresses(of: host))
      return NonDisposable.instance
    }
    if let found = lookups[host]?.found {
      lookups[host] = nil
      if loop.milliseconds - found.at < Self.keptMilliseconds {
        body(found.addresses)
        return NonDisposable.instance
      }
    }
    lastNumber += 1
    let number = lastNumber
    if lookups[host] == nil { begin(host) }
    lookups[host]?.waiting[number] = body
    return BlockDisposable { [weak self] in self?.lookups[host]?.waiting[number] = nil }
  }

  private func begin(_ host: PostgresHost) {
    lookups[host] = Lookup()
    // It ends by itself.
    _ = thread.run(
      { [lookUp] _, _ in lookUp(host) },
      unavailable: { .success(.failure(PostgresError(message: "\($0)"))) }
    )
    .observeNext { [weak self] in self?.end(host, $0) }
  }

  private func end(_ host: PostgresHost, _ addresses: Addresses) {
    guard let waiting = lookups.removeValue(forKey: host)?.waiting else { return }
    if waiting.isEmpty { lookups[host] = Lookup(found: (addresses, loop.milliseconds)) }
    for (_, body) in waiting.sorted(by: { $0.key < $1.key }) { body(addresses) }
  }

  func close() { thread.abandon() }

  /// Returns the numeric addresses of a host, `nil` if it needs none; waits for the name server.
  static func addresses(of host: PostgresHost) -> Addresses {
    guard let name = host.unresolved else { return .success([host.address]) }
    var wanted = addrinfo()
    wanted.ai_socktype = CInt(SOCK_STREAM.rawValue)
    wanted.ai_flags = AI_ADDRCONFIG
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name, nil, &wanted, &found)
    guard status == 0 else {
      return .failure(
        PostgresError(message: "host '\(name)': \(String(cString: gai_strerror(status)))"))
    }
    defer { freeaddrinfo(found) }
    var addresses: [String?] = []
    var next = found
    while let entry = next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let status = getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      if status == 0 {
        addresses.append(
          String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
      next = entry.pointee.ai_next
    }
    return .success(addresses)
  }
}
