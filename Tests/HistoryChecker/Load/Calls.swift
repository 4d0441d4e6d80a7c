internal import JSON

/// The sources that a crowd uses: few, so that clients contend for them.
enum Sources {
  static func any(_ random: inout SeededRandom) -> String {
    switch random.below(10) {
    case 0..<3: "cells/n\(random.below(6))"
    case 3: "cells/bound\(random.below(2))"
    case 4: "cells/flag\(random.below(3))"
    case 5: "cells/big"
    case 6, 7: "lists/short/l\(random.below(4))"
    case 8: "lists/long"
    default: "maps/m\(random.below(3))"
    }
  }

  static func pattern(_ random: inout SeededRandom) -> String {
    ["cells/**", "cells/*", "maps/**", "lists/short/*"].randomElement(using: &random) ?? ""
  }
}

/// Random commands.
enum Calls {
  static func any(_ random: inout SeededRandom) -> MethodCall {
    switch random.below(100) {
    case 0..<35: number(&random)
    case 35..<42: flag(&random)
    case 42..<45: call("cells.set", "big", ["value": text(2_000 + random.below(18_000), &random)])
    case 45..<75: list("short/l\(random.below(4))", value(&random), 8, &random)
    case 75..<82: list("long", text(3_000, &random), 60, &random)
    case 82..<84: replace(&random)
    case 84..<88: together(&random)
    default: map(&random)
    }
  }

  /// Returns several calls as one `atomic`.
  private static func together(_ random: inout SeededRandom) -> MethodCall {
    var calls: [JSONText] = []
    for _ in 0...random.below(4) {
      let call =
        switch random.below(4) {
        case 0: flag(&random)
        case 1: list("short/l\(random.below(4))", value(&random), 8, &random)
        case 2: map(&random)
        default: number(&random)
        }
      calls.append(
        JSONText(members: [
          "method": JSONText(string: call.method), "params": JSONText(members: call.params),
        ]))
    }
    return MethodCall(method: "atomic", params: ["calls": JSONText(elements: calls)])
  }

  private static func call(
    _ method: String, _ name: String, _ params: [String: JSONText] = [:]
  ) -> MethodCall {
    var params = params
    params["name"] = JSONText(string: name)
    return MethodCall(method: method, params: params)
  }

  private static func number(_ random: inout SeededRandom) -> MethodCall {
    let name = "n\(random.below(6))"
    let value = JSONText(random.below(5))
    switch random.below(10) {
    case 0..<6: return call("cells.add", name, ["by": JSONText(1 + random.below(3))])
    case 6, 7: return call("cells.set", name, ["value": value])
    case 8: return call("cells.compare_and_set", name, ["expected": value, "value": JSONText(7)])
    default: return call("cells.remove", name)
    }
  }

  private static func flag(_ random: inout SeededRandom) -> MethodCall {
    let name = "flag\(random.below(3))"
    return switch random.below(5) {
    case 0: call("cells.remove", name)
    case 1: call("cells.set", name, ["value": value(&random)])
    default: call("cells.toggle", name)
    }
  }

  /// - Parameter length: The approximate length that the list reaches.
  private static func list(
    _ name: String, _ value: JSONText, _ length: Int, _ random: inout SeededRandom
  ) -> MethodCall {
    let at = JSONText(random.below(length))
    switch random.below(2 * length) {
    case 0: return call("lists.clear", name)
    case 1: return call("lists.move", name, ["from": at, "to": JSONText(random.below(length))])
    default: break
    }
    return switch random.below(8) {
    case 0..<3: call("lists.append", name, ["value": value])
    case 3: call("lists.insert", name, ["at": at, "value": value])
    case 4, 5: call("lists.update", name, ["at": at, "value": value])
    case 6: call("lists.move", name, ["from": at, "to": JSONText(random.below(length))])
    default: call("lists.remove", name, ["at": at])
    }
  }

  private static func replace(_ random: inout SeededRandom) -> MethodCall {
    var elements: [JSONText] = []
    for _ in 0..<random.below(6) { elements.append(value(&random)) }
    return MethodCall(
      method: "set",
      params: [
        "source": JSONText(string: "lists/short/l\(random.below(4))"),
        "value": JSONText(elements: elements),
      ])
  }

  private static func map(_ random: inout SeededRandom) -> MethodCall {
    let name = "m\(random.below(3))"
    let key = JSONText(string: "k\(random.below(10))")
    return switch random.below(20) {
    case 0: call("maps.clear", name)
    case 1..<6: call("maps.remove", name, ["key": key])
    default: call("maps.put", name, ["key": key, "value": value(&random)])
    }
  }

  private static func value(_ random: inout SeededRandom) -> JSONText {
    switch random.below(6) {
    case 0: JSONText(random.below(4))
    case 1: JSONText(true)
    case 2: .null
    case 3: JSONText(members: ["a": JSONText(elements: [JSONText(random.below(3)), .null])])
    default: text(3 + random.below(20), &random)
    }
  }

  private static func text(_ length: Int, _ random: inout SeededRandom) -> JSONText {
    let word = String(random.next(), radix: 36)
    return JSONText(
      string: String(String(repeating: word + "ü\"\u{1} ", count: length / 8 + 1).prefix(length)))
  }
}
