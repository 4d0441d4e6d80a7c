import BinderClient
import Console
import JSON
import Wire

let clusterSyntax = Syntax(
  "cluster", "Shows the daemons that share the journal, and which one is active.",
  details: """
    BEHIND is the number of events that a daemon had not applied at its last sign of life, and SILENT
    the time since then in milliseconds. Each daemon shows life once a second. The role of a daemon is
    silent after 10 s without a sign of life; for one that was the active daemon, after 3 s. The daemon
    that answers is marked with *.
    """,
  examples: [
    "bindctl cluster", "bindctl cluster -j | jq -r 'select(.role == \"active\").address'",
    "bindctl watch daemon/cluster",
  ])

var clusterCommand: Command {
  Command(clusterSyntax) { context in
    guard let cluster = try cluster(of: context.client) else {
      throw Failure("the daemon shares its journal with no other: it is a file, not a database")
    }
    if let reason = cluster.string("away") {
      note("the database is away: \(reason); this is the state before, and commands wait")
    }
    let nodes = cluster.nodes
    let last = ClusterReport(cluster).last
    var table = Table(
      ["NODE", "ROLE", "POSITION", "BEHIND", "SILENT", "VERSION", "ADDRESS"], numbers: [2, 3, 4])
    for var node in nodes {
      let behind = last - min(last, node.uint("position") ?? 0)
      node["behind"] = .number(JSONNumber(behind))
      guard context.output.form == .human else {
        context.output.result(node, bare: nil, human: "")
        continue
      }
      let isHere = node.string("name") == cluster.string("node")
      table.add(
        [(node.string("name") ?? "") + (isHere ? "*" : "")]
          + ["role", "position", "behind", "silent_ms", "version", "address"].map {
            node[$0]?.bare ?? ""
          })
    }
    if context.output.form == .human { context.output.table(table) }
    return .done
  }
}

/// Returns the value of `daemon/cluster`; `nil` if the daemon shares its journal with no other.
private func cluster(of client: BinderClient) throws -> JSONObject? {
  do throws(ClientError) {
    let answer = try client.call("get", ["source": .string("daemon/cluster")]).object
    guard case .object(let cluster)? = answer["value"] else { return nil }
    return cluster
  } catch {
    guard case .refused(let refusal) = error, refusal.name == .notFound else { throw error }
    return nil
  }
}

extension JSONObject {
  /// The daemons of a value of `daemon/cluster`.
  fileprivate var nodes: [JSONObject] {
    guard case .array(let nodes)? = self["nodes"] else { return [] }
    return nodes.compactMap { node in if case .object(let node) = node { node } else { nil } }
  }
}

extension ClusterReport {
  /// Reads a value of `daemon/cluster`.
  init(_ cluster: JSONObject) {
    self.init(
      node: cluster.string("node") ?? "?", active: cluster.string("active"),
      away: cluster.string("away"),
      nodes: cluster.nodes.map {
        Node(
          name: $0.string("name") ?? "?", role: $0.string("role") ?? "?",
          position: $0.uint("position") ?? 0, silent: $0.uint("silent_ms") ?? 0,
          version: $0.string("version") ?? "?")
      })
  }
}
