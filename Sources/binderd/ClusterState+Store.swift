import Features
import Journal

extension ClusterState {
  /// The part of a node whose store is this one.
  init(of node: String, _ store: any DaemonStore) {
    let isConnected = !store.isInterrupted
    switch store.role {
    case .active(let term):
      self.init(node: node, role: .active, term: term, active: node, connected: isConnected)
    case .following(let active):
      self.init(
        node: node, role: .following, active: active?.name, address: active?.address,
        connected: isConnected)
    case .joining, .over: self.init(node: node, role: .joining, connected: isConnected)
    }
  }
}
