package import Configuration

/// A part of the daemon that clients can use: what it offers, and what it does at the start and the
/// stop of the daemon.
package struct Feature {
  /// Adds methods, sources and views to the catalogue.
  package let bind: (Catalog) -> Void

  /// The ways to remove values that clients have written.
  package let removers: [Remover]

  /// Uses a configuration, before the start and after each reload.
  package let configure: (Configuration) -> Void

  /// Begins what runs once in a cluster, for example timers, when the daemon becomes the active one.
  package let begin: () -> Void

  /// Begins no more work, and cancels what waits for others.
  package let stop: () -> Void

  /// Ends the threads that requests wait for, when no request runs any more.
  package let close: () -> Void

  package init(
    removers: [Remover] = [], configure: @escaping (Configuration) -> Void = { _ in },
    begin: @escaping () -> Void = {}, stop: @escaping () -> Void = {},
    close: @escaping () -> Void = {}, bind: @escaping (Catalog) -> Void
  ) {
    self.bind = bind
    self.removers = removers
    self.configure = configure
    self.begin = begin
    self.stop = stop
    self.close = close
  }
}
