internal import EventLoop
internal import Signals

/// Connects to all hosts of a connection string at once, and keeps the first that takes writes.
///
/// libpq would try one after the other. A host that is paused accepts a connection and does not
/// answer, so each attempt would cost the whole time limit.
final class PostgresDialer {
  /// The time after which the hosts that have not answered are given up, in milliseconds.
  static let limitMilliseconds: UInt64 = 500

  /// The time for the lookup of the first address, in milliseconds.
  private static let lookupMilliseconds: UInt64 = 10_000

  /// The reasons why no host could be used.
  struct Failure: Error {
    var reasons: [(host: PostgresHost, error: PostgresError)] = []

    /// Whether trying again is useless until an administrator changes something.
    ///
    /// It is not, if one host was silent: it may be the one that works.
    var isLasting: Bool { !reasons.isEmpty && reasons.allSatisfy(\.error.isLasting) }

    /// Whether another attempt must wait longer.
    var isSlow: Bool { !reasons.isEmpty && reasons.allSatisfy(\.error.isSlow) }
  }

  private let string: ConnectionString
  private let loop: Loop
  private let names: HostNames
  private var attempts: [Attempt] = []
  private var lookups = DisposeBag()
  private var timer: Timer?
  private var then: ((Result<PostgresLink, Failure>) -> Void)?
  private var failure = Failure()

  /// The hosts whose lookup has not ended.
  private var unresolved: Set<PostgresHost> = []

  /// Whether an address is known, so that the time for an answer runs.
  private var hasAddress = false

  init(_ string: ConnectionString, _ names: HostNames, on loop: Loop) {
    (self.string, self.names, self.loop) = (string, names, loop)
  }

  /// Connects; call it while no earlier attempt runs.
  ///
  /// - Parameters:
  ///   - avoided: A host that took writes but could not commit; it is used only if no other takes
  ///     writes.
  ///   - then: Called once, unless ``stop()`` is called before.
  func dial(
    avoiding avoided: PostgresHost? = nil,
    then: @escaping (Result<PostgresLink, Failure>) -> Void
  ) {
    stop()
    (self.then, failure, lookups) = (then, Failure(), DisposeBag())
    do throws(SystemError) {
      timer = try Timer(on: loop) { [unowned self] in giveUp() }
    } catch {
      return end(.failure(Failure(reasons: [(string.hosts[0], .init(message: "\(error)"))])))
    }
    timer?.start(afterMilliseconds: Self.lookupMilliseconds)
    (unresolved, hasAddress) = (Set(string.hosts), false)
    for host in string.hosts {
      names.find(host) { [unowned self] found in
        unresolved.remove(host)
        switch found {
        case .success(let addresses):
          for address in addresses { begin(host, at: address, isAvoided: host == avoided) }
        case .failure(let error): failure.reasons.append((host, error))
        }
        endIfDone()
      }
      .dispose(in: lookups)
    }
  }

  /// Ends all attempts without a result.
  func stop() {
    timer?.close()
    timer = nil
    then = nil
    lookups.dispose()
    for attempt in attempts { attempt.close() }
    attempts = []
  }

  private func begin(_ host: PostgresHost, at address: String?, isAvoided: Bool) {
    guard then != nil else { return }
    if !hasAddress {
      hasAddress = true
      timer?.start(afterMilliseconds: Self.limitMilliseconds)
    }
    do throws(PostgresError) {
      let session = try PostgresSession(string.options(for: host, at: address))
      let attempt = Attempt(session, host, on: loop) { [unowned self] attempt, error in
        finish(attempt, error, isAvoided: isAvoided)
      }
      attempts.append(attempt)
      attempt.wait(for: .writable)
    } catch {
      failure.reasons.append((host, error))
    }
  }

  private func finish(_ attempt: Attempt, _ error: PostgresError?, isAvoided: Bool) {
    if let error {
      attempt.close()
      attempts.removeAll { $0 === attempt }
      failure.reasons.append((attempt.host, error))
      return endIfDone()
    }
    attempt.isDone = true
    guard !isAvoided else { return endIfDone() }
    finish(attempt)
  }

  private func finish(_ attempt: Attempt) {
    let (session, host) = (attempt.session, attempt.host)
    attempt.stopWatching()
    attempts.removeAll { $0 === attempt }
    do throws(PostgresError) {
      end(.success(try PostgresLink(session, to: host, on: loop)))
    } catch {
      failure.reasons.append((host, error))
      endIfDone()
    }
  }

  private func endIfDone() {
    guard then != nil, unresolved.isEmpty, attempts.allSatisfy(\.isDone) else { return }
    giveUp()
  }

  /// Connects to an avoided host if no other one is ready; otherwise reports the failure.
  private func giveUp() {
    if let attempt = attempts.first(where: \.isDone) { return finish(attempt) }
    let limit = Self.limitMilliseconds
    for attempt in attempts {
      failure.reasons.append(
        (attempt.host, PostgresError(message: "no answer within \(limit) ms")))
    }
    for host in unresolved {
      failure.reasons.append((host, PostgresError(message: "the name server does not answer")))
    }
    end(.failure(failure))
  }

  private func end(_ result: Result<PostgresLink, Failure>) {
    let then = then
    stop()
    then?(result)
  }

  /// A connection that is being made to one address.
  private final class Attempt {
    let session: PostgresSession
    let host: PostgresHost

    /// Whether it is connected, and kept in reserve.
    var isDone = false
    private let loop: Loop
    private var watch: DescriptorWatch?
    private let onEnd: (Attempt, PostgresError?) -> Void

    /// - Parameter onEnd: Called with `nil` when it is connected to a host that takes writes.
    init(
      _ session: PostgresSession, _ host: PostgresHost, on loop: Loop,
      _ onEnd: @escaping (Attempt, PostgresError?) -> Void
    ) {
      (self.session, self.host, self.loop, self.onEnd) = (session, host, loop, onEnd)
    }

    /// Waits for the descriptor that the session has now, which may be another one than before.
    func wait(for events: DescriptorWatch.Events) {
      do throws(SystemError) {
        watch = try DescriptorWatch(session.descriptor, on: loop) { [unowned self] _ in proceed() }
        watch?.wait(for: events)
      } catch {
        onEnd(self, PostgresError(message: "\(error)"))
      }
    }

    private func proceed() {
      // libpq may close the descriptor and open another with the same number.
      stopWatching()
      do throws(PostgresError) {
        switch try session.connect() {
        case .read: wait(for: .readable)
        case .write: wait(for: .writable)
        case .done:
          onEnd(self, session.isReadOnly ? PostgresError(message: "it takes no writes") : nil)
        }
      } catch {
        onEnd(self, error)
      }
    }

    func stopWatching() {
      watch?.close()
      watch = nil
    }

    func close() { stopWatching() }
  }
}

extension PostgresDialer.Failure: CustomStringConvertible {
  /// The reasons, each host once.
  var description: String {
    var seen: Set<String> = []
    let lines = reasons.compactMap { host, error -> String? in
      // The message of libpq names the address already.
      let text = error.message.contains("connection to server") ? "" : "\(host): "
      let line = text + error.message
      return seen.insert(line).inserted ? line : nil
    }
    return lines.isEmpty ? "no host answers" : lines.joined(separator: "; ")
  }
}

/// The pause before the next attempt, which doubles from 100 ms to 2 s while attempts fail.
struct GrowingPause {
  private static let (shortest, longest) = (UInt64(100), UInt64(2_000))
  private var milliseconds = shortest

  /// Returns the pause in milliseconds, and doubles the next one.
  mutating func next() -> UInt64 {
    defer { milliseconds = min(2 * milliseconds, Self.longest) }
    return milliseconds
  }

  mutating func reset() { milliseconds = Self.shortest }
}
