import Console
import Testing

struct HealthTests {
  private func state(_ checks: HealthCheck...) -> Health {
    var health = Health()
    for check in checks { health.add(check) }
    return health
  }

  @Test
  func `the worst state decides, and skipped checks do not count`() {
    let (ok, skipped) = (HealthCheck("a", .ok, ""), HealthCheck("b", .skipped, ""))
    let warning = HealthCheck("w", .warning, "it is late")
    let (critical, unknown) = (HealthCheck("c", .critical, "bad"), HealthCheck("u", .unknown, ""))
    #expect(state(ok, skipped).exitCode == 0)
    #expect(state(ok, skipped).summary == "BINDERD OK: 1 check passed")
    #expect(state(ok, unknown).exitCode == 3)
    #expect(state(unknown, warning, ok).exitCode == 1)
    #expect(state(warning, ok).summary == "BINDERD WARNING: w: it is late")
    #expect(state(warning, critical, unknown).exitCode == 2)
  }

  @Test
  func `daemons that show no life cannot take over`() {
    func text(_ silences: UInt64...) -> String {
      let nodes = silences.enumerated().map { i, silent in
        ClusterReport.Node(
          name: "n\(i)", role: i == 0 ? "active" : "following", position: 1, silent: silent,
          version: "1")
      }
      return HealthCheck.cluster(
        ClusterReport(node: "n0", active: "n0", away: nil, nodes: nodes)
      ).text
    }
    #expect(text(0, 900, 2_999) == "'n0' is active; 2 more can take over")
    #expect(text(0, 900, 3_000) == "'n0' is active; 1 more can take over")
    #expect(text(0, 3_000) == "'n0' is active; no other daemon can take over")
    let away = HealthCheck.cluster(
      ClusterReport(node: "n0", active: nil, away: "a:5432: connection refused", nodes: []))
    #expect(away.state == .critical)
    #expect(away.text.contains("cannot reach the database: a:5432: connection refused;"))
  }

  @Test
  func `each client needs a descriptor`() {
    #expect(HealthCheck.files(limit: 1024).state == .ok)
    let few = HealthCheck.files(limit: 256)
    #expect(few.state == .warning)
    #expect(few.text == "only 256 files may be open, and each client is one")
  }

  @Test
  func `a system without io_uring is healthy too`() {
    #expect(HealthCheck.sending(by: "io_uring").text.hasPrefix("io_uring sends"))
    let slow = HealthCheck.sending(by: "send")
    #expect(slow.state == .ok)
    #expect(slow.text.hasPrefix("each client needs a call"))
  }

  @Test
  func `a user who has most of a limit of the role is named`() {
    func check(_ clients: UInt64, _ state: UInt64) -> HealthCheck {
      HealthCheck.limits(
        ofUser: "kim", "connections_user 10, state_user 100",
        [("connections_user", clients, 10), ("state_user", state, 100), ("memory_user", 9, .max)])
    }
    #expect(check(7, 79).state == .ok)
    #expect(check(7, 79).text == "kim: connections_user 10, state_user 100")
    #expect(check(8, 0).state == .warning)
    #expect(check(8, 0).text == "kim has 8 of 10: connections_user of the role")
    #expect(check(0, 80).fix?.contains("bindctl stats --users") == true)
  }

  @Test
  func `the disk needs room`() {
    let (mebi, gibi): (UInt64, UInt64) = (1 << 20, 1 << 30)
    func state(_ available: UInt64, _ total: UInt64) -> HealthCheck.State {
      let check = HealthCheck.disk(available: available, of: total, path: "/")
      #expect((check.fix == nil) == (check.state == .ok))
      return check.state
    }
    #expect(state(200 * gibi, 1024 * gibi) == .ok)
    #expect(state(90 * gibi, 1024 * gibi) == .warning)
    #expect(state(15 * gibi, 1024 * gibi) == .critical)
    #expect(state(400 * mebi, gibi) == .warning)
    #expect(state(60 * mebi, 100 * mebi) == .critical)
    #expect(state(0, 0) == .critical)
  }

  @Test
  func `the state approaches its limit`() {
    func state(_ percent: UInt64) -> HealthCheck.State {
      HealthCheck.state(bytes: percent * 1000, of: 100_000).state
    }
    #expect(state(79) == .ok)
    #expect(state(80) == .warning)
    #expect(state(94) == .warning)
    #expect(state(95) == .critical)
  }

  @Test
  func `a clock that jumped, an old daemon and unlimited growth are warnings`() {
    #expect(HealthCheck.clock(ahead: nil, behind: nil).state == .ok)
    let ahead = HealthCheck.clock(ahead: 313_200, behind: nil)
    #expect(ahead.text == "the clock jumped 87 hours ahead; age-based retention is paused")
    #expect(ahead.fix == "if the time is right: bindctl journal compact --force")
    #expect(HealthCheck.clock(ahead: nil, behind: 5).state == .warning)
    #expect(HealthCheck.versions(bindctl: "1", binderd: "1").state == .ok)
    #expect(HealthCheck.versions(bindctl: "2", binderd: "1").state == .warning)
    #expect(
      HealthCheck.retention(rules: 0, bytes: 5 << 20)
        == HealthCheck("retention", .ok, "no rules; 1 GiB of each stream is kept"))
    func journal(_ count: UInt64, _ first: UInt64, _ last: UInt64) -> String {
      HealthCheck.journal("j", count: count, first: first, last: last, isWritable: true).text
    }
    #expect(journal(0, 1, 0) == "j: 0 events, all since the first")
    #expect(journal(7, 1, 7) == "j: 7 events, all since the first")
    #expect(journal(5, 1, 7) == "j: 5 events, the first is 1, 2 were removed")
    #expect(journal(5, 3, 7) == "j: 5 events, the first is 3, 2 were removed")
    #expect(HealthCheck.retention(rules: 0, bytes: 2 << 30).state == .warning)
    #expect(HealthCheck.retention(rules: 1, bytes: 2 << 30).state == .ok)
    let full = HealthCheck.retention(rules: 1, bytes: 0, filling: ["cells/a", "cells/b"])
    #expect(full.state == .warning)
    #expect(full.text.hasPrefix("cells/a and 1 other: near the 1 GiB"))
    #expect(full.fix?.contains(#"{"streams": "cells/a", "max_stream_bytes": "1G"}"#) == true)
    #expect(HealthCheck.clients(80, of: 100).state == .warning)
  }

  @Test
  func `a unit must not have failed or been restarted, and its socket must listen`() {
    func state(_ name: String, _ properties: [String: String]) -> HealthCheck.State {
      let check = HealthCheck.unit(name, properties, manager: "systemctl")
      #expect((check.fix == nil) == (check.state == .ok))
      return check.state
    }
    let (service, socket) = ("binderd.service", "binderd.socket")
    #expect(state(service, ["ActiveState": "active", "NRestarts": "0"]) == .ok)
    #expect(state(service, ["ActiveState": "inactive", "Result": "success"]) == .ok)
    #expect(state(service, ["ActiveState": "active", "NRestarts": "2"]) == .warning)
    #expect(state(service, ["ActiveState": "failed", "Result": "exit-code"]) == .critical)
    #expect(state(socket, ["ActiveState": "inactive"]) == .critical)
    #expect(state(socket, ["ActiveState": "failed", "Result": "timeout"]) == .critical)
  }

  @Test
  func `the next step for a failed unit of a user is complete`() {
    let check = HealthCheck.unit(
      "binderd.service", ["ActiveState": "failed", "Result": "exit-code"],
      manager: "systemctl --user")
    #expect(
      check.fix == "journalctl --user -n 50 -u binderd.service;"
        + " then systemctl --user reset-failed binderd.service")
  }

  @Test
  func `bindings with a schedule that have not run yet are named`() {
    let one = HealthCheck.bindings([], notRun: ["night"], of: 2)
    #expect(one.state == .ok)
    #expect(one.text == "2 active; by their schedule 'night' has not run yet")
    let many = HealthCheck.bindings([], notRun: ["a", "b", "c", "d", "e"], of: 9)
    #expect(many.text == "9 active; by their schedule 'a', 'b', 'c' and 2 more have not run yet")
    let failed = HealthCheck.bindings([("x", "no")], notRun: ["a"], of: 2)
    #expect(failed.state == .warning)
  }
}
