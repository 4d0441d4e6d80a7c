/// Where a program looks for the daemon.
public struct SocketSearch: Equatable, Sendable {
  /// One place, and who named it.
  public struct Place: Equatable, Sendable {
    /// The path of the socket.
    public let path: String

    /// What named it, for example `"--socket"`.
    public let origin: String

    /// A place.
    public init(path: String, origin: String) {
      self.path = path
      self.origin = origin
    }
  }

  /// The places in the order in which they are tried; never empty.
  public let places: [Place]

  /// The places for a program.
  ///
  /// What somebody has named is the only place: a client that asked for one daemon must not talk
  /// to another.
  ///
  /// - Parameters:
  ///   - option: What the command line says; before all others.
  ///   - environment: The value of a variable; `nil` or empty is none.
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
