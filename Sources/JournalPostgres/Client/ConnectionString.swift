internal import CPostgres
internal import Glibc

/// A connection string of PostgreSQL: `host=a,b dbname=binder` or `postgres://a,b/binder`.
///
/// Its description has no password.
package struct ConnectionString: Equatable, Sendable {
  /// The options of all hosts, without hosts, addresses and ports.
  private let common: PostgresOptions

  /// The hosts, each with one port.
  let hosts: [PostgresHost]

  /// The reason why a text is not a connection string; it repeats nothing of the text.
  package struct Fault: Error, Equatable {
    package let message: String
  }

  /// Options that the journal sets itself, or that would make a connection wait.
  private static let replaced: Set = [
    "host", "hostaddr", "port", "target_session_attrs", "connect_timeout", "password",
    "client_encoding", "fallback_application_name", "keepalives", "keepalives_idle",
    "keepalives_interval", "keepalives_count", "tcp_user_timeout",
  ]

  /// The password; `nil` if the string has none.
  private let password: String?

  package init(_ text: String) throws(Fault) {
    do throws(PostgresError) {
      try PostgresSession.load()
    } catch {
      throw Fault(message: error.message)
    }
    let options = try Self.options(of: text)
    func list(_ name: String, _ variable: String) -> [String] {
      // libpq would read the variable too, and look the host up on the loop.
      let text = options[name] ?? getenv(variable).map { String(cString: $0) }
      return text.map { $0.split(separator: ",", omittingEmptySubsequences: false) }?
        .map(String.init) ?? []
    }
    let names = list("host", "PGHOST")
    let addresses = list("hostaddr", "PGHOSTADDR")
    let ports = list("port", "PGPORT")
    let count = max(names.count, addresses.count, 1)
    guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
      throw Fault(message: "the connection string has not as many 'hostaddr' as 'host'")
    }
    guard ports.count <= 1 || ports.count == count else {
      throw Fault(message: "the connection string has \(ports.count) ports for \(count) hosts")
    }
    for port in ports where !port.isEmpty {
      guard let number = Int(port), 1...65_535 ~= number else {
        throw Fault(message: "a port of the connection string is not a number from 1 to 65535")
      }
    }
    hosts = (0..<count).map { i in
      func item(_ items: [String]) -> String? {
        let item = items.count == 1 ? items[0] : i < items.count ? items[i] : ""
        return item.isEmpty ? nil : item
      }
      return PostgresHost(name: item(names), address: item(addresses), port: item(ports))
    }
    password = options["password"]
    common = PostgresOptions(
      options.filter { !Self.replaced.contains($0.key) }.sorted { $0.key < $1.key }
        .map { ($0.key, $0.value) })
  }

  /// Returns the options that the text sets.
  ///
  /// The message of libpq may contain a part of a password, so it is not passed on.
  private static func options(of text: String) throws(Fault) -> [String: String] {
    var fault: UnsafeMutablePointer<CChar>?
    guard let parsed = cpostgres_parse(text, &fault) else {
      defer { cpostgres_free(fault) }
      let message = fault.map { String(cString: $0) } ?? ""
      let rule =
        if message.contains("invalid connection option") || message.contains("query parameter") {
          "it has an option that PostgreSQL does not know"
        } else if message.contains("missing \"=\"") {
          "each option is a name, '=' and a value; a value with spaces needs single quotes"
        } else {
          "write host=a,b,c dbname=binder, or postgres://a,b,c/binder"
        }
      throw Fault(message: "the connection string cannot be read: \(rule)")
    }
    defer { cpostgres_free_options(parsed) }
    var options: [String: String] = [:]
    var option = parsed
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        options[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return options
  }

  /// Returns the options for a connection to one address of a host.
  ///
  /// - Parameter address: A numeric address; `nil` for a Unix socket, or if the host has none.
  func options(for host: PostgresHost, at address: String?) -> PostgresOptions {
    var options = common.all
    func add(_ name: String, _ value: String?) {
      if let value { options.append((name, value)) }
    }
    add("host", host.name)
    add("hostaddr", address)
    add("port", host.port)
    add("password", password)
    add("client_encoding", "UTF8")
    add("fallback_application_name", "binderd")
    // A machine that is gone must not hold a connection for hours.
    add("keepalives_idle", "2")
    add("keepalives_interval", "2")
    add("keepalives_count", "3")
    add("tcp_user_timeout", "10000")
    if common["gssencmode"] == nil { add("gssencmode", "disable") }
    return PostgresOptions(options)
  }

  /// Whether a text is meant as a connection string, and not as the path of a file.
  package static func isMeant(by text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  /// The database; `nil` if the string leaves it to PostgreSQL's defaults.
  package var database: String? { common["dbname"] }
}

extension ConnectionString: CustomStringConvertible {
  /// The hosts and the database, for messages.
  package var description: String {
    let hosts = hosts.map(\.description).joined(separator: ",")
    return "PostgreSQL at \(hosts)" + (database.map { ", database \($0)" } ?? "")
  }
}

/// The options of one connection, by name.
struct PostgresOptions: Equatable, Sendable {
  let all: [(name: String, value: String)]

  init(_ all: [(name: String, value: String)]) { self.all = all }

  subscript(name: String) -> String? { all.first { $0.name == name }?.value }

  static func == (left: Self, right: Self) -> Bool {
    left.all.elementsEqual(right.all) { $0 == $1 }
  }
}

/// One host of a connection string.
struct PostgresHost: Hashable, Sendable {
  /// The name, a numeric address, or the directory of a Unix socket; `nil` for PostgreSQL's default.
  let name: String?

  /// The numeric address, if the string has it; the name is then only for certificates.
  let address: String?
  let port: String?

  /// The name to look up; `nil` if there is none.
  var unresolved: String? {
    guard address == nil, let name, !name.hasPrefix("/"), !name.hasPrefix("@") else { return nil }
    return name
  }
}

extension PostgresHost: CustomStringConvertible {
  var description: String {
    (name ?? address ?? "the default host") + (port.map { ":\($0)" } ?? "")
  }
}
