package import JSON

extension JSONObject {
  /// The document with each `$ref` replaced by its target.
  package var resolved: JSONObject {
    guard case .object(let all) = resolve(.object(self)) else { return self }
    return all
  }

  private func resolve(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      if object.members.count == 1, case .string(let reference)? = object["$ref"] {
        return resolve(target(reference))
      }
      var parts = JSONObject()
      for member in object.members { parts[member.name] = resolve(member.value) }
      return .object(parts)
    case .array(let elements): return .array(elements.map(resolve))
    default: return value
    }
  }

  /// Returns the target of a reference such as `#/components/schemas/s1`.
  private func target(_ reference: String) -> JSONValue {
    reference.split(separator: "/").dropFirst().reduce(.object(self)) { value, name in
      if case .object(let object) = value { object[String(name)] ?? .null } else { .null }
    }
  }
}
