import BinderClient
import Console
import JSON
import Model

extension Context {
  /// Suggests the key of a map for a source such as `maps/app/port`, which is an empty map.
  ///
  /// Each name below `maps/` is a map, and is empty until it is written, so a command on a mistyped one
  /// would wait for ever, or show `{}`.
  ///
  /// - Parameter value: The present value of the source.
  /// - Parameter words: What was meant, for the map and the key.
  func suggestKey(
    of source: String, _ value: JSONText?, _ words: (_ map: String, _ key: String) -> String
  ) {
    guard source.hasPrefix("maps/"), let slash = source.lastIndex(of: "/"),
      value?.text == "{}"
    else { return }
    let (map, key) = (String(source[..<slash]), String(source[slash...].dropFirst()))
    guard map.contains("/"),
      let answer = try? client.connected().call("get", ["source": .string(map)]).object,
      case .object(let entries)? = answer["value"], entries[key] != nil
    else { return }
    note("the map '\(source)' is empty; did you mean: \(words(map, key))")
  }
}
