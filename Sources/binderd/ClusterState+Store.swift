import Features
import Journal

extension ClusterState {
  /// The part of a node whose store is this one.
  init(of node: String, _ store: any DaemonStore) {
    let away = store.interruption
    let active: ActiveNode? =
      switch store.role {
      case .active: ActiveNode(name: node, address: nil)
      case .following(let active): active
      case .joining, .over: nil
      }
    let nodes = store.nodes.map {
      // Of itself this daemon knows the present.
      let isItself = $0.name == node && away == nil
      return Node(
        name: $0.name, role: $0.role(ifActive: active?.name),
        position: isItself ? store.durable : $0.position, silent_ms: isItself ? 0 : $0.silent,
        version: $0.version, address: $0.address)
    }
    switch store.role {
    case .active(let term):
      self.init(
        node: node, role: .active, term: term, active: node, away: away, nodes: nodes)
    case .following:
      self.init(
        node: node, role: .following, active: active?.name, address: active?.address,
        away: away, nodes: nodes)
    case .joining, .over:
      self.init(node: node, role: .joining, away: away, nodes: nodes)
    }
  }
}
