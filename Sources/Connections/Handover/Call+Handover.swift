extension Call {
  /// Creates a call that restores a part of a connection; it is not answered.
  package init(of connection: Connection) { self.init(connection: connection, id: nil) }
}
