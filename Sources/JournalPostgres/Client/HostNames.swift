internal import EventLoop
internal import Glibc
internal import Signals

/// Looks up the addresses of hosts, on a thread of its own, because a lookup may wait for seconds.
final class HostNames {
  private let thread: Background<Void>

  init(on loop: Loop) {
    thread = Background(on: loop) {}
  }

  /// Calls `body` once for each address of a host, or with the reason if it has none.
  ///
  /// - Parameter body: `nil` is the address of a host that needs none.
  /// - Returns: Ends the lookup when it is disposed.
  func find(
    _ host: PostgresHost, _ body: @escaping (Result<[String?], PostgresError>) -> Void
  ) -> any Disposable {
    guard host.unresolved != nil else {
      body(Self.addresses(of: host))
      return NonDisposable.instance
    }
    return thread.run(
      { _, _ in Self.addresses(of: host) },
      unavailable: { .success(.failure(PostgresError(message: "\($0)"))) }
    )
    .observeNext { body($0) }
  }

  func close() { thread.abandon() }

  /// Returns the numeric addresses of a host, `nil` if it needs none; waits for the name server.
  static func addresses(of host: PostgresHost) -> Result<[String?], PostgresError> {
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
