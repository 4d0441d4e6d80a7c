import Testing

@testable import Journal

/// The roles of the daemons that share a journal, as one of them sees them.
struct ClusterNodeTests {
  private func role(_ state: String, silent: UInt64, active: String?) -> String {
    ClusterNode(
      name: "a", boot: "", address: nil, version: "", state: state, position: 0, silent: silent
    ).role(ifActive: active)
  }

  @Test
  func `one daemon is active, whatever the others were`() {
    #expect(role("active", silent: 0, active: "a") == "active")
    #expect(role("following", silent: 500, active: "a") == "active")
    #expect(role("active", silent: 2_999, active: "b") == "following")
    #expect(role("active", silent: 3_000, active: "b") == "silent")
    #expect(role("active", silent: 3_000, active: nil) == "silent")
  }

  @Test
  func `a daemon that follows is silent after ten seconds`() {
    #expect(role("following", silent: 9_999, active: "b") == "following")
    #expect(role("following", silent: 10_000, active: "b") == "silent")
  }
}
