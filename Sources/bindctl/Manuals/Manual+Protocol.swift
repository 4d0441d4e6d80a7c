import BinderClient
import Console
import JSON
import Wire

extension Manual {
  /// Returns the page of the protocol, made from the replies of a daemon to `describe` and from the
  /// tables of the errors and limits.
  func protocolPage(_ client: BinderClient) throws -> ManualPage {
    let all = try client.call("describe").object
    var page = ManualPage(
      rawValue, section: section, "the socket protocol of binderd", date: Release.date)
    page.section("DESCRIPTION")
    page.text(
      "Clients speak JSON-RPC 2.0 over a Unix stream socket, one JSON text per line. "
        + "The whole contract, with schemas and transcripts, is Protocol/README.md of the sources. "
        + "This page lists the methods, sources, errors and limits of this version. rpc.discover "
        + "returns the same methods as an OpenRPC document.")
    page.literal(
      """
      $ socat - UNIX-CONNECT:/run/binder/bus.sock
      -> {"id":1,"method":"cells.set","params":{"name":"lamp","value":true}}
      <- {"jsonrpc":"2.0","id":1,"result":{"value":true,"seq":1,"version":1}}
      """)
    page.section("METHODS OF THE DAEMON")
    page.list(
      try all.object("methods").members.map { member in
        entry(
          member.name, try client.call("describe", ["path": .string(member.name)]).object)
      })
    page.section("SERVICES")
    for service in all.object("services").members {
      let one = try client.call("describe", ["path": .string(service.name)]).object
      page.subsection(service.name)
      page.text(service.value.bare)
      page.list(
        one.object("sources").members.map { member in
          (.word("\(service.name)/\(member.name)"), sourceText(member.value.object))
        })
      page.list(
        one.object("methods").members.map { method in
          entry("\(service.name).\(method.name)", method.value.object)
        })
    }
    page.section("LIMITS")
    page.text("The configuration sets the limits that are not fixed; see the defaults below.")
    page.list(
      LimitName.allCases.map { name in
        let fixed = name.row.path == nil ? ", fixed" : ""
        return (
          .word(name.rawValue),
          "\(name.row.meaning.asSentence.dropLast()); default \(Limits()[name])\(fixed)."
        )
      })
    page.section("ERROR NAMES")
    page.text("The names and codes are stable. Messages may change.")
    page.list(
      ErrorName.allCases.map { name in
        let row = name.row
        let members = row.data + row.optional.map { "[\($0)]" }
        let data = members.isEmpty ? "" : " Members of data: \(members.joined(separator: ", "))."
        return (
          .word("\(name.rawValue) \(row.code)"),
          row.meaning.asSentence + data + (row.retry ? " A retry may succeed." : "")
        )
      })
    page.references(references)
    return page
  }

  /// Returns the entry of a method, with its parameters.
  private func entry(_ name: String, _ method: JSONObject) -> ManualEntry {
    let parameters = method.array("params").map(\.object)
    let words = parameters.map { parameter in
      let name = parameter.string("name") ?? ""
      return parameter["optional"] == .bool(true) ? "[\(name)]" : name
    }
    let result = method.string("result").map { " Returns: \($0)." } ?? ""
    return ManualEntry(
      .word(([name] + words).joined(separator: " ")),
      (method.string("doc") ?? "").asSentence + result,
      members: parameters.map { parameter in
        let type = parameter.string("type") ?? "any"
        let doc = parameter.string("doc") ?? ""
        return (
          .word(parameter.string("name") ?? ""),
          doc.isEmpty ? "\(type)." : "\(type): \(doc)".asSentence
        )
      })
  }

  private func sourceText(_ source: JSONObject) -> String {
    let words = [
      source.string("type").map { "Type: \($0)" },
      source["writable"] == .bool(true) ? "can be set" : nil,
      source["journaled"] == .bool(true) ? "kept in the journal" : "not kept in the journal",
    ]
    return (source.string("doc") ?? "").asSentence + " "
      + words.compactMap(\.self).joined(separator: ", ") + "."
  }
}
