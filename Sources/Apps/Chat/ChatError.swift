package import Binder

/// An error from reading or changing a room or its messages.
package enum ChatError: Rejecting, Equatable {
  case unknownRoom(String)
  case unknownMessage(id: Int, room: Int)
  case nameTaken(String)
  case badName

  /// The name of a room contains an invisible character.
  case hidden(Unicode.Scalar)
  case tooLong(parameter: String, max: Int)
  case empty(parameter: String)
  case badText(parameter: String)
  case tooManyRooms(max: Int)
  case noNumberLeft
  case tooManyOwnRooms(max: Int)
  case notMember(room: String)
  case notCreator(room: String)

  /// Only its author may edit a message.
  case notAuthor(id: Int)
  case isRemoved(id: Int)
  case badLimit(max: Int)

  /// The caller has no valid user name.
  case user(UsersError)

  package var rejection: Rejection {
    switch self {
    case .unknownRoom(let room): .notFound("room", room).saying(description)
    case .unknownMessage(let id, _): .notFound("message", id).saying(description)
    case .nameTaken(let name): .exists("room", name).saying(description)
    case .badName, .hidden: .invalid("name", description)
    case .tooLong(let parameter, _), .empty(let parameter), .badText(let parameter):
      .invalid(parameter, description)
    case .badLimit: .invalid("limit", description)
    case .tooManyRooms, .tooManyOwnRooms, .noNumberLeft: .rejected("too_many", description)
    case .notMember: .rejected("not_member", description)
    case .notCreator: .rejected("not_creator", description)
    case .notAuthor: .rejected("not_author", description)
    case .isRemoved: .rejected("removed", description)
    case .user(let error): error.rejection
    }
  }

  package var description: String {
    switch self {
    case .unknownRoom(let room): "there is no room '\(room)'"
    case .unknownMessage(let id, let room): "room \(room) has no message \(id)"
    case .nameTaken(let name): "there is a room '\(name)' already"
    case .badName: "the name of a room begins with a letter and does not end with a space"
    case .hidden(let character):
      "the name of a room has no invisible characters, such as "
        + "U+\(String(character.value, radix: 16, uppercase: true))"
    case .tooLong(let parameter, let max): "'\(parameter)' has at most \(max) bytes"
    case .empty(let parameter): "'\(parameter)' is not empty"
    case .badText(let parameter): "'\(parameter)' has no control characters"
    case .tooManyRooms(let max): "there are at most \(max) rooms"
    case .tooManyOwnRooms(let max): "you have made \(max) rooms; remove one first"
    case .noNumberLeft: "there is no number left for a room"
    case .notMember(let room): "you have not joined '\(room)'"
    case .notCreator(let room): "'\(room)' was created by somebody else"
    case .notAuthor(let id): "message \(id) was written by somebody else"
    case .isRemoved(let id): "message \(id) was removed"
    case .badLimit(let max): "1 to \(max)"
    case .user(let error): "\(error)"
    }
  }
}
