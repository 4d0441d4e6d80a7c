internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// The kind of a value of a binding, as far as it is known before it runs.
private enum KnownKind: String {
  case boolean = "true or false"
  case number = "a number"
  case string = "a text"
  case list = "a list"
  case object = "an object"

  init?(_ kind: ValueType.Kind) {
    switch kind {
    case .any: return nil
    case .boolean: self = .boolean
    case .number, .integer: self = .number
    case .string: self = .string
    case .list: self = .list
    case .object: self = .object
    }
  }

  init?(_ argument: BindArgument?) {
    guard let argument else { return nil }
    if argument.number != nil {
      self = .number
    } else if argument.string != nil {
      self = .string
    } else {
      guard case .bool = argument.value else { return nil }
      self = .boolean
    }
  }
}

/// The kinds that a transformer takes and makes; `nil` is any value.
private struct KnownTransformer {
  var takes: KnownKind?

  /// The kind of each element that it takes, of a list.
  var takesElements: KnownKind?
  var makes: KnownKind?

  /// Whether it makes the kind that it takes.
  var keeps = false

  private static let logic = KnownTransformer(takes: .boolean, makes: .boolean)
  private static let number = KnownTransformer(takes: .number, makes: .number)
  private static let text = KnownTransformer(takes: .string, makes: .string)
  private static let test = KnownTransformer(takes: .number, makes: .boolean)
  private static let sum = KnownTransformer(takesElements: .number, makes: .number)
  private static let same = KnownTransformer(keeps: true)

  private static let all: [String: KnownTransformer] = [
    "not": logic, "negate": number, "scale": number, "offset": number,
    "celsius_to_fahrenheit": number, "round": number, "clamp": number, "above": test,
    "below": test, "between": test, "hysteresis": test,
    "equals": KnownTransformer(makes: .boolean), "differs": KnownTransformer(makes: .boolean),
    "same": KnownTransformer(makes: .boolean), "to_string": KnownTransformer(makes: .string),
    "to_number": KnownTransformer(makes: .number), "json": KnownTransformer(makes: .string),
    "format": KnownTransformer(makes: .string), "parse_json": KnownTransformer(takes: .string),
    "uppercase": text, "lowercase": text, "trim": text,
    "length": KnownTransformer(makes: .number), "count": KnownTransformer(makes: .number),
    "scan": number, "sum": sum, "avg": sum, "min": sum, "max": sum, "minus": sum, "times": sum,
    "divided": sum, "all": KnownTransformer(takesElements: .boolean, makes: .boolean),
    "any": KnownTransformer(takesElements: .boolean, makes: .boolean), "distinct": same,
    "debounce": same, "sample": same, "throttle": same, "delay": same,
  ]

  /// Returns what is known of a call; `nil` if nothing is.
  static func known(_ call: TransformerCall) -> KnownTransformer? {
    // The reverse takes what the other makes, and is not worth a table of its own.
    guard !call.isSwapped else { return nil }
    switch call.name {
    case "constant": return KnownTransformer(makes: KnownKind(call.arguments.first))
    case "where":
      let isOfNumbers = ["above", "below", "between"].contains(call.arguments.first?.word ?? "")
      return KnownTransformer(takes: isOfNumbers ? .number : nil, keeps: true)
    default: return all[call.name]
    }
  }
}

extension SourceTypes {
  /// Checks that the declared types of the sources of a binding fit its transformers and its target.
  ///
  /// Sources without a type are not checked, and neither is the way from right to left.
  func check(_ expression: BindExpression) throws(BindFault) {
    guard isOn, expression.operator.goesRight else { return }
    func kind(of source: String) -> KnownKind? {
      // Their types are those of the elements.
      if source.hasPrefix("lists/") { return .list }
      if source.hasPrefix("maps/") { return .object }
      return type(of: source).flatMap { KnownKind($0.type.kind) }
    }
    var kinds: [(path: String, kind: KnownKind?)] = []
    for path in expression.leftPaths {
      kinds.append((path.text, try Self.result(of: path.transformers, from: kind(of: path.text))))
    }
    var present: KnownKind?
    switch expression.source {
    case .path: present = kinds.first?.kind
    case .list: present = .list
    case .every: present = .string
    }
    let calls = expression.transformers
    if !expression.isOfOnePath, let first = calls.first, !kinds.isEmpty,
      let wanted = KnownTransformer.known(first)?.takesElements,
      let other = kinds.first(where: { $0.kind != nil && $0.kind != wanted })
    {
      throw BindFault(
        notBindable:
          "\(TransformerFault.subject(of: first.name)) takes \(wanted.rawValue), and '\(other.path)' is \(other.kind?.rawValue ?? "")",
        first.name, at: first.column)
    }
    present = try Self.result(of: calls, from: present)
    guard !expression.right.hasPrefix("lists/"), !expression.right.hasPrefix("maps/"),
      let target = type(of: expression.right)
    else { return }
    if let last = calls.last, last.name == "constant", let argument = last.arguments.first,
      let rule = target.type.fault(of: JSONValue(argument).text)
    {
      throw BindFault(
        notBindable: "'\(expression.right)' takes \(rule), not \(argument)", expression.right,
        at: argument.column)
    }
    if let present, let wanted = KnownKind(target.type.kind), present != wanted {
      throw BindFault(
        notBindable: "'\(expression.right)' takes \(target.type.rule), not \(present.rawValue)",
        expression.right, at: expression.rightColumn)
    }
  }

  /// Returns what the last of some transformers makes; `nil` if it is not known.
  private static func result(
    of calls: [TransformerCall], from kind: KnownKind?
  ) throws(BindFault) -> KnownKind? {
    var present = kind
    for call in calls {
      guard let known = KnownTransformer.known(call) else {
        present = nil
        continue
      }
      if let wanted = known.takes, let present, present != wanted {
        throw BindFault(
          notBindable: "'\(call.name)' takes \(wanted.rawValue), not \(present.rawValue)",
          call.name,
          at: call.column)
      }
      if !known.keeps { present = known.makes }
    }
    return present
  }
}
