package import Apps
internal import CCurl
package import EventLoop
internal import Model
package import Signals

/// A web client by libcurl on the event loop.
///
/// It never blocks; only name lookups use a thread.
package final class CurlClient: WebClient {
  /// The limits of a transfer.
  package struct Limits {
    package var connectMilliseconds = 10_000

    /// From the start to the last byte, redirects included.
    package var milliseconds = 30_000

    /// Maximum size of a body after decompression.
    package var bytes = 8 << 20
    package var redirects = 5

    /// Concurrent transfers; further ones wait in a queue.
    package var transfers = 32

    package init() {}
  }

  /// Whether addresses of this machine and its network may be connected to.
  package var allowsLocal: Bool

  private let loop: Loop
  private let agent: String
  private let limits: Limits
  private let mayConnect: () -> Bool

  /// The handle of libcurl, created for the first transfer.
  private var multi: UnsafeMutableRawPointer?
  private var timer: Timer?
  private var watches: [curl_socket_t: DescriptorWatch] = [:]
  private var running: [UnsafeMutableRawPointer: Transfer] = [:]
  private var waiting = Queue<Transfer>()
  private var isClosed = false

  /// - Parameters:
  ///   - agent: The user agent, for example `"binderd/1.0"`.
  ///   - mayConnect: Whether the process may connect to other machines; called for each transfer.
  package init(
    on loop: Loop, agent: String, allowsLocal: Bool = false, limits: Limits = Limits(),
    mayConnect: @escaping () -> Bool = { Process.mayUseNetwork }
  ) {
    (self.loop, self.agent, self.limits, self.allowsLocal) = (loop, agent, limits, allowsLocal)
    self.mayConnect = mayConnect
  }

  /// The number of transfers, waiting ones included.
  package var count: Int { running.count + waiting.count }

  package func get(_ request: WebRequest) -> Signal<WebResponse, WebError> {
    Signal { [self] observer in
      do throws(WebError) {
        try open()
        let transfer = try Transfer(
          request, limits, agent: agent, allowsLocal: { [unowned self] in allowsLocal }
        ) { outcome in
          switch outcome {
          case .success(let response):
            observer.receive(response)
            observer.complete()
          case .failure(let error): observer.fail(error)
          }
        }
        waiting.append(transfer)
        startNext()
        return BlockDisposable { [self] in drop(transfer) }
      } catch {
        observer.fail(error)
        return NonDisposable.instance
      }
    }
  }

  /// Ends all transfers without notifying observers.
  package func close() {
    isClosed = true
    for transfer in Array(waiting) + running.values { drop(transfer) }
    if let multi { ccurl_multi_cleanup(multi) }
    multi = nil
    for watch in watches.values { watch.close() }
    watches = [:]
    timer?.close()
    timer = nil
  }

  // MARK: Transfers

  private func open() throws(WebError) {
    guard !isClosed else { throw .unavailable(reason: "the HTTP client is closed") }
    guard mayConnect() else {
      throw .unavailable(
        reason: "the daemon may not use the network; to allow it, install network.conf from its"
          + " documentation (share/doc/binderd) as a drop-in of binderd.service")
    }
    guard multi == nil else { return }
    if let fault = ccurl_load() { throw .unavailable(reason: String(cString: fault)) }
    do throws(SystemError) {
      timer = try Timer(on: loop) { [unowned self] in act(CURL_SOCKET_TIMEOUT, 0) }
    } catch {
      throw .unavailable(reason: "\(error)")
    }
    guard let multi = ccurl_multi_init() else { throw .unavailable(reason: "no memory") }
    self.multi = multi
    let owner = Unmanaged.passUnretained(self).toOpaque()
    ccurl_multi_on_socket(multi, socketIsWatched, owner)
    ccurl_multi_on_timer(multi, timerIsSet, owner)
    ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 8)
  }

  private func startNext() {
    while let multi, !isClosed, running.count < limits.transfers,
      let transfer = waiting.popFirst()
    {
      guard ccurl_multi_add(multi, transfer.easy) == CURLM_OK else {
        transfer.end(.failure(.unavailable(reason: "the transfer cannot be started")))
        continue
      }
      running[transfer.easy] = transfer
    }
  }

  /// Ends a transfer without notifying its observer.
  private func drop(_ transfer: Transfer) {
    transfer.forget()
    if running.removeValue(forKey: transfer.easy) != nil, let multi {
      ccurl_multi_remove(multi, transfer.easy)
      startNext()
    } else {
      waiting.removeAll { $0 === transfer }
    }
  }

  /// Lets libcurl act on a socket or timeout, then reports finished transfers.
  private func act(_ socket: curl_socket_t, _ events: CInt) {
    guard let multi else { return }
    ccurl_multi_act(multi, socket, events)
    var easy: UnsafeMutableRawPointer?
    var code = CURLE_OK
    // An observer may start a transfer, drop others or close the client.
    while let multi = self.multi, ccurl_multi_next(multi, &easy, &code) {
      guard let easy, let transfer = running.removeValue(forKey: easy) else { continue }
      let outcome = transfer.outcome(code, limits)
      ccurl_multi_remove(multi, easy)
      transfer.end(outcome)
    }
    startNext()
  }

  // MARK: Event loop integration

  fileprivate func watch(_ socket: curl_socket_t, _ what: CInt) {
    guard what != CURL_POLL_REMOVE else {
      watches.removeValue(forKey: socket)?.close()
      return
    }
    var events: DescriptorWatch.Events = []
    if what & CURL_POLL_IN != 0 { events.insert(.readable) }
    if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
    do throws(SystemError) {
      let watch: DescriptorWatch
      if let known = watches[socket] { watch = known } else { watch = try makeWatch(socket) }
      watch.wait(for: events)
    } catch {
      // Without the watch there are no events, so the transfer times out.
    }
  }

  private func makeWatch(_ socket: curl_socket_t) throws(SystemError) -> DescriptorWatch {
    let watch = try DescriptorWatch(socket, on: loop) { [unowned self] ready in
      var events: CInt = 0
      if ready.contains(.readable) { events |= CURL_CSELECT_IN }
      if ready.contains(.writable) { events |= CURL_CSELECT_OUT }
      act(socket, events)
    }
    watches[socket] = watch
    return watch
  }

  fileprivate func setTimer(_ milliseconds: Int) {
    guard milliseconds >= 0 else { return timer?.stop() ?? () }
    timer?.start(afterMilliseconds: UInt64(milliseconds))
  }
}

private func socketIsWatched(
  _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: CInt,
  _ owner: UnsafeMutableRawPointer?, _ unused: UnsafeMutableRawPointer?
) -> CInt {
  client(owner).watch(socket, what)
  return 0
}

private func timerIsSet(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ owner: UnsafeMutableRawPointer?
) -> CInt {
  client(owner).setTimer(milliseconds)
  return 0
}

/// Returns the client of a callback.
private func client(_ owner: UnsafeMutableRawPointer?) -> CurlClient {
  guard let owner else { preconditionFailure("a callback of libcurl without an owner") }
  return Unmanaged<CurlClient>.fromOpaque(owner).takeUnretainedValue()
}
