internal import EventLoop

/// The link between a socket and its connection.
final class Client: Transport, StreamSocketDelegate {
  private let socket: StreamSocket
  private let connection: Connection

  init(_ socket: StreamSocket, _ connection: Connection) {
    self.socket = socket
    self.connection = connection
  }

  func start() {
    socket.delegate = self
    connection.start(self)
    socket.readNow()  // the first request has usually arrived
  }

  // MARK: Calls from the connection

  func send(_ bytes: Span<UInt8>) -> Int? { socket.send(bytes) }
  func setReading(_ isReading: Bool) { socket.setReading(isReading) }
  func close() { socket.close() }

  // MARK: Calls from the socket

  func socket(received bytes: Span<UInt8>) { connection.receive(bytes) }
  func socketReachedEnd() { connection.receiveEnd() }
  func socketBecameWritable() { connection.becameWritable() }
  func socketClosed(_ error: SystemError?) { connection.end() }
}
