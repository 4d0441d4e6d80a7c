import EventLoop
import Glibc
import Signals
import Synchronization
import Testing

@testable import JournalPostgres

/// Connecting to hosts whose names take long to look up.
@Suite(.needsPostgres)
struct PostgresDialerTests {
  /// A lookup that takes longer than a host may take to answer.
  private static let slow: UInt32 = 700_000
  private let loop: Loop
  private let count = Counter()

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }

  init() throws { loop = try Loop() }

  /// Looks each name up after a pause, and finds an address at which nobody listens.
  private func names(pause: UInt32 = slow) -> HostNames {
    HostNames(on: loop) { [count] _ in
      usleep(pause)
      count.value.add(1, ordering: .relaxed)
      return .success(["127.0.0.1"])
    }
  }

  private func host() throws -> PostgresHost {
    try #require(try ConnectionString("host=slow port=1 dbname=x").hosts.first)
  }

  private func end(_ names: HostNames) {
    names.close()
    loop.run()
  }

  @Test
  func `the time for an answer begins when an address is known`() throws {
    let names = names()
    let dialer = PostgresDialer(try ConnectionString("host=slow port=1 dbname=x"), names, on: loop)
    var failure: PostgresDialer.Failure?
    dialer.dial { if case .failure(let error) = $0 { failure = error } }
    while failure == nil { loop.runOnce() }
    #expect("\(failure as Any)".contains("refused"))
    end(names)
  }

  @Test
  func `a lookup that ends late serves the next attempt`() throws {
    let names = names(pause: 50_000)
    let host = try host()
    names.find(host) { _ in Issue.record("nobody waits any more") }.dispose()
    // Its result arrives, and is kept.
    loop.runOnce()
    var found: HostNames.Addresses?
    let wait = names.find(host) { found = $0 }
    while found == nil { loop.runOnce() }
    #expect(found == .success(["127.0.0.1"]))
    #expect(count.value.load(ordering: .relaxed) == 1)
    wait.dispose()
    end(names)
  }
}
