internal import JSON
internal import Model
package import Wire

/// A moment of the past in the parameters of a request: `{"seq":n}` or `{"time":"…"}`.
package struct PastMoment: Decodable {
  private let seq: Position?
  private let time: String?

  /// A position, or a time in microseconds since 1970.
  package enum Place {
    case position(UInt64)
    case time(Int64)
  }

  /// Returns the moment.
  ///
  /// - Parameter parameter: The name of the parameter, for the error.
  /// - Throws: ``WireError`` unless there is either a position or a valid time.
  package func place(_ parameter: String) throws(WireError) -> Place {
    switch (seq?.seq, time.map { Timestamp($0) }) {
    case (let seq?, nil): .position(seq)
    case (nil, let time??): .time(time.microseconds)
    default: throw Self.malformed(parameter)
    }
  }

  /// Returns the error for a moment with neither a position nor a valid time, or with both.
  package static func malformed(_ parameter: String) -> WireError {
    WireError(
      JSONDecodingError(
        path: "/\(parameter)", expected: #"{"seq":n} or {"time":"…"}"#, got: "another value"))
  }
}
