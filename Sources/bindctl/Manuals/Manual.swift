import BinderClient
import Console
import JSON
import Wire

/// The manual pages of the project, made from the tables of the programs.
enum Manual: String, CaseIterable {
  case client = "bindctl"
  case daemon = "binderd"
  case configuration = "binder.conf"
  case view = "binder.view"
  case service = "binder.service"
  case wireProtocol = "binder-protocol"
  case web = "binder-web"

  var section: Int {
    switch self {
    case .client: 1
    case .daemon, .web: 8
    case .configuration, .view, .service: 5
    case .wireProtocol: 7
    }
  }

  /// The other pages, for the section `SEE ALSO`.
  var references: [(name: String, section: Int)] {
    Self.allCases.filter { $0 != self }.map { ($0.rawValue, $0.section) }
  }

  static let option = Option(
    "man", value: "PAGE",
    "print a manual page in the language mdoc(7): bindctl, binderd, binder-web, binder.conf (TOPIC is"
      + " the file of the schema), binder.view, binder.service or binder-protocol (asks the daemon)"
  )

  /// Returns the source of the page.
  ///
  /// - Parameter schema: The file of the configuration's schema; only ``configuration`` reads it.
  func page(_ context: Context, schema: String?) throws -> ManualPage {
    switch self {
    case .client: return context.syntaxes.manual(date: Release.date, references)
    case .daemon: return try daemonPage()
    case .web: return try webPage()
    case .view: return viewPage()
    case .service: return servicePage()
    case .configuration:
      guard let schema else { throw UsageError("missing argument TOPIC", command: "help") }
      return try configurationPage(schema: schema)
    case .wireProtocol: return try protocolPage(context.client)
    }
  }
}

/// Prints the manual page that `--man` names.
func showManual(_ name: String, _ context: Context) throws -> ExitCode {
  guard let manual = Manual(rawValue: name) else {
    let names = Manual.allCases.map(\.rawValue).joined(separator: ", ")
    throw UsageError("no manual page '\(name)': there are \(names)", command: "help")
  }
  context.output.line(try manual.page(context, schema: context.invocation.operands.first).source)
  return .done
}
