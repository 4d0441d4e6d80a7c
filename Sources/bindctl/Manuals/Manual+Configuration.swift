import Console
import JSON
import Wire

extension Manual {
  /// Returns the page of the configuration, made from its schema and the table of the limits.
  func configurationPage(schema path: String) throws -> ManualPage {
    let text = try bindctl.text(of: path)
    let schema: JSONObject
    do throws(JSONFault) {
      schema = try JSONText(parsing: text).object
    } catch {
      throw Failure("'\(path)' is not JSON: \(error)", .usage)
    }
    var page = ManualPage(
      rawValue, section: section, "the configuration of binderd", date: Release.date)
    page.section("DESCRIPTION")
    page.text(
      "The configuration is JSON with comments and trailing commas. Every setting may be left out. "
        + "A file without any setting is refused, because it may have been emptied by mistake; {} means the defaults. "
        + "The installed file lists all settings with their defaults. "
        + "The command binderd --check-config reports errors with line and column. "
        + "The command bindctl reload applies the settings that need no restart.")
    let settings = SchemaSettings(schema)
    let plain = settings.root.filter { !$0.hasMembers }
    page.list(plain.map { (.word($0.name), $0.text) })
    for setting in settings.root where setting.hasMembers {
      page.subsection(setting.name)
      page.text(setting.text)
      page.list(settings.members(of: setting).map { (.word($0.name), $0.text) })
    }
    page.section("EXAMPLES")
    page.literal(
      """
      { "limits": { "subs": 1024 },
        "retention": [{ "streams": "cells/log/**", "max_age": "30d" }] }
      """)
    page.references(references)
    return page
  }
}

/// The settings that a JSON schema describes.
private struct SchemaSettings {
  /// One setting of an object.
  struct Setting {
    let name: String
    let schema: JSONObject

    /// The description, the form and the default.
    let text: String

    /// Whether the setting is an object, or a list of objects, with members of its own.
    let hasMembers: Bool
  }

  private let definitions: JSONObject
  private let schema: JSONObject

  init(_ schema: JSONObject) {
    self.schema = schema
    definitions = schema.object("$defs")
  }

  /// The settings of the file.
  var root: [Setting] { settings(of: schema, isLimit: false) }

  func members(of setting: Setting) -> [Setting] {
    let items = setting.schema.object("items")
    return settings(
      of: items.members.isEmpty ? setting.schema : items, isLimit: setting.name == "limits")
  }

  private func settings(of schema: JSONObject, isLimit: Bool) -> [Setting] {
    schema.object("properties").members.map { member in
      let own = withAlternative(resolved(member.value.object))
      let hasMembers = (own["properties"] ?? own.object("items")["properties"]) != nil
      let limit = isLimit ? LimitName(rawValue: member.name) : nil
      var sentences = [limit?.row.meaning ?? own.string("description") ?? ""]
      if !hasMembers, let form = form(own) { sentences.append(form) }
      if let limit { sentences.append("default \(Limits()[limit])") }
      return Setting(
        name: member.name, schema: own,
        text: sentences.filter { !$0.isEmpty }.map(\.asSentence).joined(separator: " "),
        hasMembers: hasMembers)
    }
  }

  /// Returns a schema with the properties of its alternative that is an object, if there is one.
  private func withAlternative(_ schema: JSONObject) -> JSONObject {
    guard case .array(let choices)? = schema["oneOf"],
      let properties = choices.lazy.compactMap({ $0.object["properties"] }).first
    else { return schema }
    var schema = schema
    schema["properties"] = properties
    return schema
  }

  /// Returns a schema with the members of the definition that it refers to.
  private func resolved(_ schema: JSONObject) -> JSONObject {
    guard let name = schema.string("$ref")?.split(separator: "/").last else { return schema }
    var all = definitions.object(String(name))
    for member in schema.members { all[member.name] = member.value }
    return all
  }

  /// Returns the form of a value in words; `nil` if the description has to say it.
  private func form(_ schema: JSONObject) -> String? {
    if case .array(let choices)? = schema["enum"] {
      return "one of \(choices.map(\.bare).joined(separator: ", "))"
    }
    if case .array(let choices)? = schema["anyOf"] {
      let forms = choices.map { form(resolved($0.object)) ?? "" }.filter { !$0.isEmpty }
      return forms.isEmpty ? nil : forms.joined(separator: ", or ")
    }
    switch schema.string("type") {
    case "integer":
      let (low, high) = (schema["minimum"]?.bare, schema["maximum"]?.bare)
      return "an integer" + (low.map { " from \($0)" } ?? "") + (high.map { " to \($0)" } ?? "")
    case "boolean": return "true or false"
    case "array":
      return form(resolved(schema.object("items"))).map { "a list; each element is \($0)" }
        ?? "a list"
    case "object":
      let names = schema.object("properties").members.map(\.name).joined(separator: " and ")
      return names.isEmpty ? nil : "an object with \(names)"
    case "string":
      let examples = schema.array("examples").map(\.bare)
      return examples.isEmpty
        ? "a string" : "a string such as \(examples.joined(separator: " or "))"
    default: return nil
    }
  }
}
