import Testing

/// The dependency rules: the modules that each layer may import.
///
/// SwiftPM cannot enforce them: all modules share one search path, so transitive dependencies are
/// visible.
private let law: [String: Set<String>] = [
  // Foundations.
  "Model": ["JSON"],
  "Signals": [],
  // For programs outside this package: no layer may import it.
  "SignalsDialects": ["Signals"],
  "RxDialect": ["Signals"],
  "JSON": [],
  "Wire": ["Glibc", "JSON"],
  "Configuration": ["JSON", "Model", "Wire"],
  "EventLoop": ["CSupport", "Clibuv", "Glibc", "Model", "Signals"],
  // The event store, and its implementations.
  "Journal": ["CSupport", "JSON", "Model", "Signals"],
  "JournalSQLite": ["CSQLite", "EventLoop", "Glibc", "JSON", "Journal", "Model", "Signals"],
  // The journal in memory, for tests.
  "JournalMemory": ["Journal", "Model", "Signals"],
  "JournalPostgres": ["CPostgres", "EventLoop", "Glibc", "JSON", "Journal", "Model", "Signals"],
  // Event sourcing, the view of a client, the features, and their access to the machine.
  "EventSourcing": ["JSON", "Journal", "Model", "Signals", "Wire"],
  "Connections": ["EventLoop", "JSON", "Model", "Signals", "Wire"],
  "API": ["Configuration", "Connections", "EventSourcing", "JSON", "Model", "Signals", "Wire"],
  "Features": [
    "API", "Configuration", "Connections", "EventSourcing", "JSON", "Journal", "Model", "Signals",
    "Wire",
  ],
  // An application needs nothing that a program outside this package does not have.
  "Apps": ["Binder", "JSON", "Signals"],
  "Adapters": ["EventLoop", "Features", "Glibc"],
  "LuaScripts": ["CLua", "EventSourcing", "Features", "JSON", "Wire"],
  "AppAdapters": [
    "Apps", "CCurl", "CExpat", "CSQLite", "EventLoop", "EventSourcing", "Glibc", "JSON", "Model",
    "Signals", "Wire",
  ],
  // The client, the terminal, the command line.
  "BinderClient": ["Glibc", "JSON", "Model", "Wire"],
  // For programs outside this package, with tasks: no layer may import it.
  "BinderAsync": ["BinderClient", "Glibc", "JSON", "Model", "Synchronization", "Wire"],
  "Console": ["Glibc", "JSON", "Model", "Wire"],
  "bindctl": [
    "BinderClient", "CSupport", "Console", "Glibc", "JSON", "Model", "Synchronization", "Wire",
  ],
  // The page for browsers, beside the daemon.
  "binder-web": ["BinderClient", "CWebSockets", "EventLoop", "Glibc", "JSON", "Model", "Wire"],
  // Composition.
  "BinderDaemon": [
    "API", "Adapters", "Configuration", "Connections", "Console", "EventLoop", "EventSourcing",
    "Features", "Glibc", "JSON", "Journal", "JournalPostgres", "JournalSQLite", "LuaScripts",
    "Model", "Signals", "Wire",
  ],
  // The facade, for daemons outside this package.
  "Binder": [
    "API", "BinderDaemon", "Configuration", "Connections", "EventSourcing", "Glibc", "JSON",
    "Model",
    "Signals", "Wire",
  ],
  // For tests outside this package: no layer may import it.
  "BinderTesting": [
    "API", "Binder", "BinderDaemon", "Configuration", "Connections", "EventSourcing", "Features",
    "JSON", "Journal", "JournalMemory", "Model", "Signals", "Wire",
  ],
  "binderd": [
    "API", "AppAdapters", "Apps", "Binder", "BinderDaemon", "Configuration", "Connections",
    "EventLoop",
    "EventSourcing", "Glibc", "Wire",
  ],
]

/// The files that may use `@unchecked Sendable` or `nonisolated(unsafe)`; each states its reason.
private let unchecked: Set<String> = [
  "EventLoop/Lock.swift", "EventLoop/Mailbox.swift", "LuaScripts/LuaInterpreter.swift",
  "JournalSQLite/Borrowed.swift",
  "JournalSQLite/Database.swift", "Model/Names.swift", "Journal/RecordBatch.swift",
  "Signals/Core/LiveNodes.swift", "bindctl/LineEditor.swift",
  "bindctl/Terminal.swift",
]

struct LayerTests {
  @Test(arguments: law.keys.sorted())
  func `a layer imports only the allowed modules`(layer: String) throws {
    for file in try sources(of: layer) {
      for imported in file.imports where law[layer]?.contains(imported) != true {
        Issue.record("\(layer)/\(file.name) imports \(imported)")
      }
    }
  }

  @Test(arguments: law.keys.sorted())
  func `unchecked code occurs only in the listed files`(layer: String) throws {
    for file in try sources(of: layer) where !unchecked.contains("\(layer)/\(file.name)") {
      for escape in ["@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency"] {
        #expect(!file.text.contains(escape), "\(layer)/\(file.name) says \(escape)")
      }
    }
  }

  @Test
  func `the list of unchecked files names only files with unchecked code`() {
    for name in unchecked {
      let text = Targets.text(of: name)
      #expect(
        text.contains("@unchecked Sendable") || text.contains("nonisolated(unsafe)"), "\(name)")
    }
  }

  @Test
  func `every layer has an import rule`() {
    let inC: Set = [
      "CCurl", "CExpat", "CLua", "CPostgres", "CSQLite", "CSupport", "CWebSockets", "Clibuv",
    ]
    #expect(Set(Targets.names).subtracting(inC) == Set(law.keys))
  }

  @Test(arguments: law.keys.sorted())
  func `no layer uses Foundation, and only BinderAsync uses async code`(layer: String) throws {
    for file in try sources(of: layer) {
      #expect(!file.imports.contains { $0.hasPrefix("Foundation") }, "\(layer)/\(file.name)")
      // Console/Generate has the text of such code.
      if layer == "BinderAsync" || file.name.hasPrefix("Generate/") { continue }
      for word in [" async ", " await ", "Task {", "Task.detached", " actor "] {
        let code = file.code
        #expect(!code.contains(word), "\(layer)/\(file.name) says \(word)")
      }
    }
  }

  @Test(arguments: law.keys.sorted())
  func `no code forces a value`(layer: String) throws {
    for file in try sources(of: layer) {
      for word in ["try!", " as! ", "fatalError("] {
        #expect(!file.code.contains(word), "\(layer)/\(file.name) says \(word)")
      }
    }
  }

  @Test(arguments: ["binderd", "bindctl", "binder-web"])
  func `a program begins with the start routine, which also reads the command line`(
    program: String
  ) throws {
    let main = try #require(try sources(of: program).first { $0.name == "main.swift" })
    let starts = ["Process.start()", "cposix_start()", "runProgram(program)"]
    #expect(starts.contains { main.code.contains($0) })
    // Swift's list needs /proc.
    for file in try sources(of: program) + sources(of: "BinderDaemon") {
      #expect(!file.code.contains("CommandLine."), "\(program)/\(file.name)")
    }
  }

  /// State and service of a feature know no client; its binder and its views connect them.
  @Test(arguments: ["Apps", "Features"])
  func `in a feature, only binders and views know clients`(layer: String) throws {
    let others: Set = ["Leases/ClientLeases.swift"]
    // What these keep for clients is more than a binder. Their state and service know none.
    let ofClients: Set<Substring> = ["Bindings", "Past", "Programs", "Readers"]
    for file in try sources(of: layer) where !others.contains(file.name) {
      guard file.name.firstMatch(of: /(Binder|Views?)\.swift$/) == nil else { continue }
      let isState = file.name.hasSuffix("Service.swift") || file.code.contains(": ServiceState")
      guard isState || !ofClients.contains(file.name.prefix { $0 != "/" }) else { continue }
      for module in ["API", "Connections"] where file.imports.contains(module) {
        Issue.record("\(layer)/\(file.name) imports \(module)")
      }
    }
  }

  @Test
  func `a small service stays small`() throws {
    let example = "Examples/Chores/Sources/choresd/Chores.swift"
    let text = Targets.text(inPackage: example)
    #expect(text.contains("import Binder"))
    #expect(!text.dropFirst().contains("\nimport "), "\(example) imports more than Binder")
    // With its binder and its view.
    #expect(text.codeLines <= 65, "\(example) has \(text.codeLines) lines")
    let todo = try sources(of: "Apps").filter { $0.name.hasPrefix("Todo/") }
    let lines = todo.reduce(0) { $0 + $1.text.codeLines }
    #expect(!todo.isEmpty && lines <= 140, "Todo has \(lines) lines")
  }

  @Test
  func `the run of a daemon begins with the start routine`() throws {
    let run = try #require(
      try sources(of: "BinderDaemon").first { $0.name == "RunProgram.swift" })
    #expect(run.code.contains("let words = Process.start()"))
  }

  @Test
  func `the composition root stays small`() throws {
    let lines = try sources(of: "binderd").filter { $0.name == "main.swift" }
      .map { $0.text.split(separator: "\n").count }
    #expect(lines.count == 1)
    #expect(lines.allSatisfy { $0 < 100 })
  }
}

extension String {
  /// The number of lines without blank ones and comments.
  fileprivate var codeLines: Int {
    split(separator: "\n").count { !$0.drop { $0 == " " }.hasPrefix("//") }
  }
}

private struct Source {
  let name: String
  let text: String

  /// Returns the text without its comments.
  var code: String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
  }

  var imports: [String] {
    // Indented lines are code or text, for example of a help text.
    text.split(separator: "\n").filter { $0.first != " " }.compactMap { line in
      let words = line.split(separator: " ").filter { !$0.hasPrefix("//") }
      guard let i = words.firstIndex(of: "import"), i <= 2, i + 1 < words.count else { return nil }
      return String(words[i + 1].prefix { $0 != "." })
    }
  }
}

private func sources(of layer: String) throws -> [Source] {
  try Targets.files(of: layer).map { Source(name: $0, text: Targets.text(of: "\(layer)/\($0)")) }
}
