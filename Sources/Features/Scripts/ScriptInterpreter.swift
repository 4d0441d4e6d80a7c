package import EventSourcing
package import JSON

/// Makes interpreters for the texts of services.
package protocol ScriptLanguage: Sendable {
  /// The reason why there is no interpreter, for example a library that is not installed; `nil` if
  /// there is one.
  var obstacle: String? { get }

  /// Runs a text once, which declares sources, events and methods.
  ///
  /// - Parameter file: The name of the file, for messages.
  func interpreter(
    for text: String, file: String
  ) throws(ScriptFailure) -> any ScriptInterpreter

  /// Returns the names that members of rows can have, by the names of the row sets.
  ///
  /// A row set whose rows may have other members is left out.
  func rowNames(in text: String, _ declaration: ScriptDeclaration) -> [String: Set<String>]
}

/// A text of a service that has run once, with its functions.
///
/// It may keep nothing between two calls; see ``hasChanged``. One thread uses it at a time.
package protocol ScriptInterpreter: AnyObject, Sendable {
  /// The declarations of the text.
  var declaration: ScriptDeclaration { get }

  /// Everything on which the folds depend, as a text; commands and queries are not in it.
  var foldDigest: String { get }

  /// The global names that the text reads and nothing has, with their lines.
  var unknownNames: [ScriptName] { get }

  /// Returns the mistakes that its text shows without running, as far as they are sure.
  func doubts(in text: String) -> [ScriptDoubt]

  /// Watches the folds from now on, which costs time: see ``lostChanges``.
  func watch()

  /// The sources whose rows a fold has read, changed and not assigned, with the lines that read them.
  var lostChanges: [ScriptName] { get }

  /// Whether a call has changed a variable or a table of the file; `false` within a call.
  ///
  /// Such a change is state that is in no snapshot and is not rolled back, so the interpreter is not
  /// used any more.
  var hasChanged: Bool { get }

  /// Runs a command or a query.
  func call(_ call: ScriptCall, in world: any ScriptWorld) -> ScriptOutcome

  /// Applies an event to the tables of a world.
  ///
  /// It may be called while a command records the event. It has the same limits then.
  ///
  /// - Returns: The reason why it has failed; `nil` if it is applied.
  func fold(
    _ kind: String, _ data: JSONText, at place: ScriptPlace, in world: any ScriptWorld
  ) -> ScriptFailure?
}

/// A name in a text.
package struct ScriptName: Equatable, Sendable {
  package let name: String
  package let line: Int

  package init(_ name: String, line: Int) { (self.name, self.line) = (name, line) }
}

/// A place in a text that is probably a mistake.
package struct ScriptDoubt: Equatable, Sendable {
  package let line: Int
  package let column: Int
  package let message: String

  package init(line: Int, column: Int, _ message: String) {
    (self.line, self.column, self.message) = (line, column, message)
  }
}

/// The place of an event, as a script sees it.
package struct ScriptPlace: Equatable, Sendable {
  package let seq: UInt64
  package let version: UInt64

  /// Microseconds since 1970.
  package let time: Int64

  /// The uid of the user who has caused it; `nil` if unknown.
  package let user: UInt32?
  package let stream: String

  package init(seq: UInt64, version: UInt64, time: Int64, user: UInt32?, stream: String) {
    (self.seq, self.version, self.time) = (seq, version, time)
    (self.user, self.stream) = (user, stream)
  }
}

/// A call of a method of a script.
package struct ScriptCall {
  package let method: String
  package let isQuery: Bool

  /// The parameters, an object.
  package let parameters: JSONText
  package let uid: UInt32
  package let pid: Int32

  package init(
    _ method: String, isQuery: Bool = false, _ parameters: JSONText, uid: UInt32, pid: Int32
  ) {
    (self.method, self.isQuery, self.parameters) = (method, isQuery, parameters)
    (self.uid, self.pid) = (uid, pid)
  }
}

/// The state, the journal and the clock, as a running script sees them.
package protocol ScriptWorld: AnyObject {
  /// Returns a row of a table; the key of a value or a list is empty.
  func row(_ key: String, of table: Int) -> JSONText?

  /// Sets a row, or removes it.
  ///
  /// - Returns: The rule that the key or the row breaks; `nil` if it is set.
  func set(_ key: String, of table: Int, to row: JSONText?) -> String?

  /// Returns the keys of a table in the order of their bytes; `nil` if there are more than `most`.
  func keys(of table: Int, atMost most: Int) -> [String]?

  /// Records an event, and applies it with ``ScriptInterpreter/fold(_:_:at:in:)``.
  func record(_ kind: String, _ data: JSONText, in stream: String?) -> ScriptRecording

  /// The time of an event recorded now, in microseconds since 1970.
  var now: Int64 { get }
}

/// The outcome of recording an event.
package enum ScriptRecording: Equatable {
  case done

  /// It breaks a rule.
  case refused(String)

  /// Its fold has failed.
  case failed
}

/// The outcome of a call.
package enum ScriptOutcome: Equatable {
  /// The value that it has returned; `nil` for none.
  case done(JSONText?)
  case refused(ScriptRefusal)
  case failed(ScriptFailure)

  /// The reason why it has not come to its end; `nil` if it has.
  package var failure: ScriptFailure? {
    if case .failed(let failure) = self { failure } else { nil }
  }
}

/// An error that a script gives to its client.
package struct ScriptRefusal: ServiceError, Equatable {
  package let kind: ServiceErrorKind
  package let description: String

  package init(_ kind: ServiceErrorKind, _ description: String) {
    (self.kind, self.description) = (kind, description)
  }
}

/// The reason why a script has not come to its end.
package enum ScriptFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// An error in the script, with file and line.
  case fault(String)

  /// It has used up one of its limits, at a file and line if they are known.
  case limit(Limit, at: String? = nil)

  package enum Limit: String, Sendable {
    case instructions, memory, time
  }

  /// The limit that was used up; `nil` for another failure.
  package var limit: Limit? {
    if case .limit(let limit, _) = self { limit } else { nil }
  }

  /// Parts the faults of several declarations.
  package static let separator: Character = "\u{1E}"

  package var description: String {
    switch self {
    case .fault(let text): text.split(separator: Self.separator).joined(separator: "; ")
    case .limit(let limit, let place):
      (place.map { $0 + ": " } ?? "") + "it has used all of its \(limit)"
    }
  }
}

extension ScriptFailure {
  /// The failure of a call after ``ScriptInterpreter/hasChanged``.
  static func changed(_ script: Script) -> ScriptFailure {
    .fault(
      "\(script.file): a call has changed a variable or table of the file; what lasts belongs into "
        + "rows, a value or a list")
  }
}
