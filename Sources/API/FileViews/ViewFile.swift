internal import Connections
internal import JSON
internal import Signals

/// The parsed text of a view: its assignments, its bindings, and the actions of the user.
///
/// ```
/// view "The heating of the house."
/// title = "Kitchen"
/// cells/kitchen/temperature | round(1) ~> temperature   as "°C"
/// warmer -> cells.add name="kitchen/wanted" by=0.5      main
/// ```
///
/// `Protocol/views-in-files.md` has the grammar.
package struct ViewFile: Sendable {
  /// The limits of a file.
  package enum Limit {
    static let bytes = 64 << 10
    static let properties = 64
    static let intents = 64
    static let arguments = 16
    static let members = 32
    static let tabs = 32

    /// More than all properties, intents and tabs together.
    static let lines = 2 * properties + intents + tabs

    /// The most faults in one answer.
    static let faults = 100
  }

  /// A place in a file; line and column count from 1, the column in Unicode scalars.
  struct Place: Equatable, Sendable, Comparable {
    var line: Int
    var column: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// A name and the place at which it is written.
  struct Name: Equatable, Sendable {
    let text: String
    let place: Place
  }

  /// A type that a line may give to a value.
  enum Form: Equatable, Sendable {
    case text, number, integer, yesno, date, time, clock, secret
    case choice([String])

    /// The types that have a name.
    static let named: [(name: String, form: Form)] = [
      ("text", .text), ("number", .number), ("integer", .integer), ("yesno", .yesno),
      ("date", .date), ("time", .time), ("clock", .clock), ("secret", .secret),
    ]

    /// The JSON of a value.
    var shape: Shape {
      switch self {
      case .text: .string
      case .date: .text(.date)
      case .time: .text(.time)
      case .clock: .text(.clock)
      case .secret: .text(.secret)
      case .number: .number
      case .integer: .integer
      case .yesno: .bool
      case .choice(let words): .words(words)
      }
    }
  }

  /// A parameter of the view, which `open` gives.
  struct Parameter: Sendable {
    let name: Name
    let form: Form
  }

  /// A value that a line gives.
  enum Value: Sendable {
    /// JSON, whose texts may contain `{argument}`.
    case json(JSONValue, Place)
    /// The argument of the view.
    case argument(Name)
    /// The member of the row for which the intent is; the list is named if the line says it.
    case row(Name, of: Name?)
    /// The value of a property.
    case property(Name)
    /// A value that the user is asked for.
    case asked(Form?)
  }

  /// The way in which people see a value.
  struct Shown: Sendable {
    var form: Form?
    /// A word such as `bytes`, or a text behind the number.
    var unit: String?
    var isHidden = false
    var isQuiet = false
    var hides: [Name] = []
  }

  /// `name = value`.
  struct Assignment: Sendable {
    let name: Name
    let value: Value
    let shown: Shown
  }

  /// `key ~> name`, below a list.
  struct Member: Sendable {
    let path: Name
    /// The name in the row.
    let name: Name
    let transformers: [TransformerCall]
    /// The text after the path, which tells two members apart.
    let text: String
    let shown: Shown
  }

  /// `where PATH op value`.
  struct Filter: Sendable {
    let path: Name
    let comparison: String
    let operand: JSONText?
  }

  /// `by PATH desc`.
  struct Order: Sendable {
    let path: Name
    let isDescending: Bool
  }

  /// A source, a direction and a property.
  struct Binding: Sendable {
    let expression: BindExpression
    /// The places of the sources, in their order.
    let sources: [Name]
    let name: Name
    let place: Place
    let shown: Shown
    let filter: Filter?
    let order: Order?
    let limit: Int?
    var members: [Member] = []

    /// Whether lines about rows belong to it.
    var isOfRows: Bool {
      !members.isEmpty || filter != nil || order != nil || limit != nil || isPattern
    }

    /// Whether its source stands for many.
    var isPattern: Bool {
      expression.isOfOnePath
        && expression.left.split(separator: "/").contains { $0 == "*" || $0 == "**" }
    }
  }

  /// `name=value`, behind a method or a view.
  struct Argument: Sendable {
    let name: Name
    let value: Value
    let place: Place
  }

  /// When and how an intent is offered.
  struct Offered: Sendable {
    var isMain = false
    var isDestructive = false
    var isLive = false
    var dismisses = false
    var when: Name?
    var unless: Name?

    /// The member of the row that must say something, or nothing.
    var row: RowCondition?
  }

  /// `when row.NAME` or `unless row.NAME`.
  struct RowCondition: Sendable {
    let member: Name
    let list: Name?
    let place: Place
    let isMet: Bool
  }

  /// `name -> method`, `name => view`, or `tab "Name" => view`.
  struct Action: Sendable {
    enum Kind: Equatable, Sendable {
      case call
      /// Opens a view in a style: `push`, `present` or `replace`.
      case open(String)
      case tab
    }

    let kind: Kind
    let name: Name
    /// The method or the view.
    let target: Name
    let arguments: [Argument]
    let offered: Offered
  }

  /// One line.
  enum Line: Sendable {
    case assign(Assignment)
    case bind(Binding)
    case act(Action)
  }

  /// A line about the view.
  package internal(set) var doc = ""
  var parameters: [Parameter] = []
  var lines: [Line] = []

  /// The text of the file.
  package internal(set) var text = ""
}

/// A fault in a view file.
package struct ViewFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// Line and column count from 1.
  package let line: Int
  package let column: Int

  /// The broken rule, and a suggestion.
  package let message: String

  init(_ place: ViewFile.Place, _ message: String) {
    (line, column, self.message) = (place.line, place.column, message)
  }

  package var description: String { "\(line):\(column): \(message)" }
}

extension ViewFile.Action {
  /// The members of a row that it takes, each with its list if the line names it.
  var rowMembers: [(name: ViewFile.Name, list: ViewFile.Name?, place: ViewFile.Place)] {
    let ofArguments = arguments.compactMap {
      argument -> (name: ViewFile.Name, list: ViewFile.Name?, place: ViewFile.Place)? in
      guard case .row(let name, let list) = argument.value else { return nil }
      return (name, list, argument.place)
    }
    return ofArguments
      + (offered.row.map { [(name: $0.member, list: $0.list, place: $0.place)] } ?? [])
  }

  var usesRow: Bool { !rowMembers.isEmpty }
}

extension ViewFile {
  /// The bytes charged to the user of an open view, besides those of any view.
  var weight: Int {
    bindings.reduce(actions.count * ItemBytes.transformer) { sum, binding in
      sum + ItemBytes.source * binding.sources.count
        + ItemBytes.transformer * (binding.expression.transformers.count + binding.members.count)
    }
  }

  var assignments: [Assignment] {
    lines.compactMap { if case .assign(let one) = $0 { one } else { nil } }
  }
  var bindings: [Binding] { lines.compactMap { if case .bind(let one) = $0 { one } else { nil } } }
  var actions: [Action] { lines.compactMap { if case .act(let one) = $0 { one } else { nil } } }

  /// Returns the lists whose rows have all members that an intent takes; it is one if the intent is
  /// clear, and none if the intent takes no row.
  ///
  /// - Parameter lists: The lines that may be lists.
  func lists(of action: Action, among lists: [Binding]) -> [Binding] {
    let taken = action.rowMembers
    guard !taken.isEmpty else { return [] }
    return lists.filter { binding in
      let names = rowNames(of: binding)
      // A row without named members has an `id` for clients, and the members of its value.
      if action.offered.row?.member.text == "value", binding.members.isEmpty { return false }
      return taken.allSatisfy { name, list, _ in
        names.contains(name.text) && (list == nil || list?.text == binding.name.text)
      }
    }
  }

  /// The names that a row of a binding has for intents.
  func rowNames(of binding: Binding) -> [String] {
    ["id"] + (binding.members.isEmpty ? ["key", "value"] : binding.members.map(\.name.text))
  }
}
