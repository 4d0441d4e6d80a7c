/// The places where a program looks for the daemon's socket.
public struct SocketSearch: Equatable, Sendable {
  /// One place, with the setting that named it.
  public struct Place: Equatable, Sendable {
    /// The path of the socket.
    public let path: String

    /// The setting that named the path, for example `"--socket"`.
    public let origin: String

    /// Creates a place.
    public init(path: String, origin: String) {
      self.path = path
      self.origin = origin
    }
  }

  /// The places to try, in order; never empty.
  public let places: [Place]

  /// Finds the places for a program.
  ///
  /// A place set explicitly is the only one, so that a client never reaches the wrong daemon.
  ///
  /// - Parameters:
  ///   - option: The path from the command line. It takes precedence.
  ///   - environment: Returns the value of a variable; `nil` or an empty value means unset.
  public init(option: String?, environment: (String) -> String?) {
    func variable(_ name: String) -> String? {
      environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let option {
      places = [Place(path: option, origin: "--socket")]
    } else if let named = variable("BINDER_SOCKET") {
      places = [Place(path: named, origin: "$BINDER_SOCKET")]
    } else {
      let system = Place(path: "/run/binder/bus.sock", origin: "the system's")
      let user = variable("XDG_RUNTIME_DIR").map {
        Place(path: $0 + "/binder/bus.sock", origin: "$XDG_RUNTIME_DIR")
      }
      places = [user, system].compactMap(\.self)
    }
  }
}
