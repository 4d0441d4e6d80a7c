@testable import binder_web
import Glibc
import TestSupport
import Testing

struct SessionsTests {
  private let directory: TemporaryDirectory
  private var file: String { directory.path + "/sessions" }
  private let clock = Clock()

  private final class Clock {
    var now: Int64 = 1_000_000
  }

  init() throws { directory = try TemporaryDirectory() }

  private func open(port: UInt16 = 7420) -> Gate {
    let clock = clock
    return Gate(hosts: ["h"], .token(Sessions(file: file, port: port) { clock.now }))
  }

  private func admit(_ gate: Gate) throws -> Session {
    guard case .token(let sessions) = gate.admission else { throw Failure() }
    var request = WebRequest()
    request.host = .value("h")
    request.token = .value(sessions.makeToken())
    guard case .welcome(let session) = gate.decide(request, from: nil) else { throw Failure() }
    return session
  }

  private struct Failure: Error {}

  private func isAdmitted(_ session: Session, _ gate: Gate) -> Bool {
    var request = WebRequest()
    request.host = .value("h")
    request.cookie = .value("binder_7420=\(session.id)")
    return gate.decide(request, from: nil) == .allowed(user: nil)
  }

  @Test
  func `sessions survive the program, for its user only`() throws {
    let session = try admit(open())
    #expect(isAdmitted(session, open()))
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    unlink(file)
    #expect(!isAdmitted(session, open()))
  }

  @Test
  func `sessions and tokens end`() throws {
    let gate = open()
    let session = try admit(gate)
    #expect(session.end == clock.now + Sessions.lifetime)
    guard case .token(let sessions) = gate.admission else { throw Failure() }
    let token = sessions.makeToken()
    clock.now += Sessions.tokenLifetime
    var request = WebRequest()
    request.host = .value("h")
    request.token = .value(token)
    #expect(gate.decide(request, from: nil) == .refused(.usedToken))
    clock.now = session.end - 1
    #expect(isAdmitted(session, gate) && isAdmitted(session, open()))
    clock.now = session.end
    #expect(!isAdmitted(session, gate) && !isAdmitted(session, open()))
  }

  @Test
  func `the oldest of many sessions makes room`() throws {
    let gate = open()
    let all = try (0..<65).map { _ in try admit(gate) }
    #expect(all.map { isAdmitted($0, gate) } == [false] + Array(repeating: true, count: 64))
    #expect(all.map { isAdmitted($0, open()) } == [false] + Array(repeating: true, count: 64))
    #expect(Set(all.flatMap { [$0.id, $0.key] }).count == 130)
  }

  @Test(arguments: ["", "\n\n", "a b", "a b c\n", "a b 99999999999999999999\n", "\u{0}\u{0}"])
  func `a damaged file has no sessions and is replaced`(text: String) throws {
    Files.write(text, to: file)
    let gate = open()
    let session = try admit(gate)
    #expect(isAdmitted(session, open()))
  }

  @Test
  func `the file is not written through a link`() throws {
    let target = directory.path + "/target"
    Files.write("mine", to: target)
    symlink(target, file)
    let session = try admit(open())
    #expect(Files.text(of: target) == "mine")
    #expect(isAdmitted(session, open()))
  }
}
