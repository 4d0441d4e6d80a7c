/// The output side of a connection, provided by its host.
package protocol Transport: AnyObject {
  /// Sends as many bytes as possible without blocking.
  ///
  /// - Returns: The number of bytes taken; `nil` if the client is gone. If not all were taken, the
  ///   host calls ``Connection/becameWritable()`` when there is room.
  func send(_ bytes: Span<UInt8>) -> Int?

  /// Starts or pauses reading from the client.
  func setReading(_ isReading: Bool)

  /// Closes the connection.
  ///
  /// Called once.
  func close()
}
