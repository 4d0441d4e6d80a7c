public import JSON

/// The identifier of a subscription, a view or a binding.
public enum Handle: Hashable, Sendable {
  /// A handle chosen by the client: 1 to 64 of `[A-Za-z0-9_.:-]`.
  case name(String)

  /// A handle assigned by the daemon: 1, 2, 3, …
  case number(Int)

  /// Creates a handle with a client's name; `nil` if the name is not valid.
  public init?(name: String) {
    let count = name.utf8.count
    guard 1...64 ~= count, name.utf8.allSatisfy({ isNameByte($0) }) else { return nil }
    self = .name(name)
  }

  /// The handle as JSON.
  public var text: JSONText {
    switch self {
    case .name(let name): JSONText(string: name)
    case .number(let number): JSONText(number)
    }
  }
}

extension Handle: CustomStringConvertible {
  /// The handle as shown to people.
  public var description: String {
    switch self {
    case .name(let name): name
    case .number(let number): "\(number)"
    }
  }
}

/// Returns whether a byte is valid in a handle or in a segment of a path: `[A-Za-z0-9_.:-]`.
@inlinable
public func isNameByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
    UInt8(ascii: ":"), UInt8(ascii: "-"):
    true
  default: false
  }
}

extension Handle: Codable, Shaped {
  /// An integer or a string.
  public static var shape: Shape { .either([.integer, .string]) }

  /// Decodes a string or a number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      let name = try container.decode(String.self)
      guard let handle = Handle(name: name) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "1 to 64 of [A-Za-z0-9_.:-], or a number")
      }
      self = handle
    }
  }

  /// Encodes the handle as a string or a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .name(let name): try container.encode(name)
    case .number(let number): try container.encode(number)
    }
  }
}
