internal import JSON
internal import Model
internal import Wire

/// Parses a configuration file member by member.
struct ConfigurationParser {
  let reader: ConfigurationReader
  private let accounts: Accounts

  private static let members = [
    "socket", "socket_mode", "journal", "cluster", "durability", "bind_directory", "limits",
    "retention", "web", "feeds", "slow_log", "roles", "gateways",
  ]

  /// Parses a file and stores its settings in `configuration`.
  ///
  /// - Throws: All errors in the file, in file order.
  static func parse(
    _ bytes: [UInt8], file: String, _ accounts: Accounts, into configuration: inout Configuration
  ) throws(ConfigurationFaults) {
    let text: ConfigurationText
    let root: ConfigurationValue
    do throws(JSONFault) {
      text = try ConfigurationText(bytes)
    } catch {
      let reader = ConfigurationReader(.init(unfinished: bytes), file: file)
      throw ConfigurationFaults([
        reader.fault(at: error.offset, "the comment that begins here has no end")
      ])
    }
    let reader = ConfigurationReader(text, file: file)
    // An empty file is an error, not the defaults: they admit more users than most files do. The
    // file may have been truncated by mistake, or is still being written.
    guard !text.json.isEmpty else {
      throw ConfigurationFaults([
        reader.fault(at: 0, "the file has no settings; write {} for the defaults")
      ])
    }
    do throws(JSONFault) {
      root = try ConfigurationValue(parsing: text.json.span)
    } catch {
      throw ConfigurationFaults([reader.fault(at: error.offset, error.reason.rawValue)])
    }
    Self(reader: reader, accounts: accounts).read(root, into: &configuration)
    configuration.warnings = reader.warnings
    guard reader.faults.isEmpty else {
      let inOrder = reader.faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
      throw ConfigurationFaults(inOrder)
    }
  }

  private func read(_ root: ConfigurationValue, into configuration: inout Configuration) {
    guard let members = reader.members(of: root, "the configuration", known: Self.members) else {
      return
    }
    configuration.socket = members["socket"].flatMap {
      reader.path($0, "'socket'", maxBytes: 107)  // the kernel limit
    }
    configuration.journal = members["journal"].flatMap { readJournal($0) }
    if let node = members["cluster"] { readCluster(node, into: &configuration.cluster) }
    if let node = members["socket_mode"],
      let mode = reader.word(
        node, "'socket_mode'", #""0600", "0660" or "0666""#,
        { ["0600": 0o600, "0660": 0o660, "0666": 0o666][$0] as UInt32? })
    {
      configuration.socketMode = mode
    }
    configuration.durability = members["durability"].flatMap {
      reader.word($0, "'durability'", Durability.forms) { Durability($0) }
    }
    configuration.bindDirectory = members["bind_directory"].flatMap {
      reader.path($0, "'bind_directory'")
    }
    if let node = members["limits"] { readLimits(node, into: &configuration.limits) }
    if let node = members["retention"] {
      configuration.retention =
        reader.elements(of: node, "'retention'")?
        .compactMap { retention($0) } ?? []
    }
    if let node = members["web"] { readWeb(node, into: &configuration.web) }
    if let node = members["feeds"] { readFeeds(node, into: &configuration.feeds) }
    if let node = members["slow_log"] { readSlowLog(node, into: &configuration.slowLog) }
    if let node = members["roles"] {
      configuration.roles = RoleParser(reader, accounts).roles(node)
    }
    if let node = members["gateways"] {
      configuration.roles.gateways = RoleParser(reader, accounts).gateways(node)
    }
  }

  // MARK: Limits and retention

  private func readLimits(_ node: ConfigurationValue, into limits: inout Limits) {
    let names = LimitName.allCases.filter { $0.row.path != nil }
    let known = names.map(\.rawValue)
    guard let members = reader.members(of: node, "'limits'", known: known) else { return }
    for name in names {
      guard let node = members[name.rawValue],
        let value = reader.integer(node, "'\(name.rawValue)'", in: name.row.range)
      else { continue }
      limits[name] = value
    }
    for (low, high) in [
      (LimitName.outputSoft, LimitName.outputHard), (.lineOut, .lineOutMax),
    ] where limits[low] > limits[high] {
      let at = (members[low.rawValue] ?? members[high.rawValue] ?? node).offset
      reader.addFault(
        at: at,
        "'\(low.rawValue)' (\(limits[low])) is above '\(high.rawValue)' (\(limits[high]))")
    }
  }

  private func retention(_ node: ConfigurationValue) -> Retention? {
    guard
      let members = reader.members(
        of: node, "a retention",
        known: ["streams", "max_age", "max_count", "max_bytes", "max_stream_bytes"])
    else { return nil }
    guard let streams = members["streams"] else {
      reader.addFault(at: node.offset, "a retention needs 'streams'")
      return nil
    }
    guard members.count > 1 else {
      reader.addFault(
        at: node.offset,
        "a retention needs 'max_age', 'max_count', 'max_bytes' or 'max_stream_bytes'")
      return nil
    }
    guard let pattern = reader.pattern(streams, "'streams'", separator: "/") else { return nil }
    return Retention(
      streams: pattern,
      maxAge: members["max_age"].flatMap {
        reader.word($0, "'max_age'", #"a time such as "90s", "12h" or "30d""#, ScaledNumber.seconds)
          .map { Int64($0) }
      },
      maxCount: members["max_count"].flatMap {
        reader.integer($0, "'max_count'", in: 1...Int(Int64.max))
      },
      maxBytes: members["max_bytes"].flatMap { bytes($0, "'max_bytes'") },
      maxStreamBytes: members["max_stream_bytes"].flatMap { bytes($0, "'max_stream_bytes'") })
  }

  private func bytes(_ node: ConfigurationValue, _ name: String) -> Int? {
    if case .number = node.value { return reader.integer(node, name, in: 1...Int(Int64.max)) }
    return reader.word(
      node, name, #"a number of bytes, or a size such as "64M" or "2G""#, ScaledNumber.bytes
    )
    .map { Int($0) }
  }
}
