import Features
import Journal

extension ClusterState {
  /// The part of a node whose store is this one.
  init(of node: String, _ store: any DaemonStore) {
    let isConnected = !store.isInterrupted
    let nodes = store.nodes.map {
      // Of itself this daemon knows the present.
      $0.name == node && isConnected
        ? Node(
          name: node, role: $0.state, position: store.durable, silent_ms: 0, version: $0.version,
          address: $0.address)
        : Node(
          name: $0.name, role: $0.isAlive ? $0.state : "silent", position: $0.position,
          silent_ms: $0.silent, version: $0.version, address: $0.address)
    }
    switch store.role {
    case .active(let term):
      self.init(
        node: node, role: .active, term: term, active: node, connected: isConnected, nodes: nodes)
    case .following(let active):
      self.init(
        node: node, role: .following, active: active?.name, address: active?.address,
        connected: isConnected, nodes: nodes)
    case .joining, .over:
      self.init(node: node, role: .joining, connected: isConnected, nodes: nodes)
    }
  }
}
