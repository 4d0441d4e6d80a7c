import AppAdapters
import Apps
import EventLoop
import Signals
import TestSupport

/// A web client with its own event loop.
final class Bench {
  struct Late: Error {}

  let loop: Loop
  let client: CurlClient

  /// - Parameter change: Sets limits.
  init(
    allowsLocal: Bool = true, mayConnect: Bool = true,
    _ change: (inout CurlClient.Limits) -> Void = { _ in }
  ) throws {
    loop = try Loop()
    var limits = CurlClient.Limits()
    change(&limits)
    client = CurlClient(
      on: loop, agent: "test/1", allowsLocal: allowsLocal, limits: limits,
      mayConnect: { mayConnect })
  }

  deinit {
    client.close()
    loop.run()
  }

  /// Sends a request and waits for its result.
  func get(
    _ url: String, headers: [String: String] = [:]
  ) throws -> Result<WebResponse, WebError> {
    var outcome: Result<WebResponse, WebError>?
    let run = client.get(WebRequest(url, headers: headers)).observe { event in
      switch event {
      case .next(let response): outcome = .success(response)
      case .failed(let error): outcome = .failure(error)
      case .completed: break
      }
    }
    defer { run.dispose() }
    try wait { outcome != nil }
    guard let outcome else { throw Late() }
    return outcome
  }

  func fault(_ url: String) throws -> WebError? {
    guard case .failure(let error) = try get(url) else { return nil }
    return error
  }

  /// Runs turns until a condition holds; fails after one minute.
  func wait(until condition: () -> Bool) throws {
    var isLate = false
    let alarm = try EventLoop.Timer(on: loop) { isLate = true }
    alarm.start(afterMilliseconds: 60_000)
    // Events on other threads do not wake the loop.
    let tick = try EventLoop.Timer(on: loop) {}
    tick.start(afterMilliseconds: 5, everyMilliseconds: 5)
    while !condition(), !isLate { loop.runOnce() }
    alarm.close()
    tick.close()
    if isLate { throw Late() }
  }
}

extension WebResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
