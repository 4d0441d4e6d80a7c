internal import JSON
package import Wire

extension Request {
  /// - Throws: `invalid_params` if the parameters have options, which a call within another one cannot
  ///   have.
  package func checkHasNoOptions() throws(WireError) {
    guard parameters.options != nil else { return }
    throw WireError(
      JSONDecodingError(
        member: CallOptions.name, of: "", expected: "no such member", got: "a value"))
  }

  /// Returns the parameters as compact JSON without some members.
  ///
  /// Equal parameters give equal text, whatever their member order.
  func parameters(in line: Span<UInt8>, except names: [String]) -> String {
    guard let params, case .object(var object) = JSONText(scanned: line.extracting(params)).value
    else { return "" }
    for name in names { object[name] = nil }
    return JSONValue.object(object).inOrder.text.text
  }
}

extension JSONValue {
  /// The value with the members of all objects sorted by name.
  ///
  /// Numbers keep their spelling.
  fileprivate var inOrder: JSONValue {
    switch self {
    case .null, .bool, .number, .string: return self
    case .array(let elements): return .array(elements.map(\.inOrder))
    case .object(let object):
      var ordered = JSONObject()
      for member in object.members.sorted(by: { $0.name < $1.name }) {
        ordered[member.name] = member.value.inOrder
      }
      return .object(ordered)
    }
  }
}
