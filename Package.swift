// swift-tools-version: 6.2
import PackageDescription

/// One upcoming feature per promise the layers make; language mode 6 comes with the tools version.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),  // structs that hold a Span
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "binderd",
  products: [
    .executable(name: "binderd", targets: ["binderd"]),
    .executable(name: "bindctl", targets: ["bindctl"]),
    .executable(name: "binder-web", targets: ["binder-web"]),
    .library(name: "Binder", targets: ["Binder"]),
    .library(name: "BinderTesting", targets: ["BinderTesting"]),
    .library(name: "BinderClient", targets: ["BinderClient", "BinderAsync"]),
    .library(name: "JSON", targets: ["JSON"]),
    .library(name: "Signals", targets: ["Signals"]),
    .library(name: "SignalsDialects", targets: ["RxDialect", "SignalsDialects"]),
  ],
  traits: [
    .default(enabledTraits: ["Apps"]),
    .trait(name: "Apps", description: "The applications: chat, people, todo, feeds and others."),
  ],
  targets: [
    // C: what Swift cannot import, and headers of libraries. No `link` in their module maps: the
    // pkg-config files say what to link, so that static builds can say otherwise.
    .target(name: "CCurl"),
    .target(name: "CLua", linkerSettings: [.linkedLibrary("m")]),
    .target(name: "CPostgres"),
    .target(name: "CSupport"),
    .target(name: "CWebSockets", linkerSettings: [.linkedLibrary("websockets")]),
    .systemLibrary(name: "Clibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),

    // Ground: no layer above.
    .target(name: "JSON"),
    .target(name: "Model", dependencies: ["JSON"]),
    // libm rounds; a program that links nothing else would miss it.
    .target(
      name: "Signals", path: "Libraries/Signals", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("m")]),
    .target(name: "EventLoop", dependencies: ["CSupport", "Clibuv", "Model", "Signals"]),

    // Beside the layers: for programs outside this package. No layer uses it.
    .target(
      name: "SignalsDialects", dependencies: ["Signals"], path: "Libraries/SignalsDialects",
      exclude: ["README.md"]),
    // A module of its own, because RxSwift has the names of Signals for other types.
    .target(
      name: "RxDialect", dependencies: ["Signals"], path: "Libraries/RxDialect",
      exclude: ["README.md"]),

    // The language of the socket, shared with the client.
    .target(name: "Wire", dependencies: ["JSON"]),

    // What an administrator says: the file, and who may do what.
    .target(name: "Configuration", dependencies: ["JSON", "Model", "Wire"]),

    // Promise.
    .target(name: "Journal", dependencies: ["CSupport", "JSON", "Model", "Signals"]),

    // The engine: services whose state is made of journaled events.
    .target(
      name: "EventSourcing",
      dependencies: ["JSON", "Journal", "Model", "Signals", "Wire"],
      exclude: ["README.md"]),

    // The view: one client, as the application sees it; and the sockets that clients come from.
    .target(
      name: "Connections",
      dependencies: ["EventLoop", "JSON", "Model", "Signals", "Wire"]),

    // What all clients can use: the catalogue, subscriptions, bindings, views.
    .target(
      name: "API",
      dependencies: [
        "Configuration", "Connections", "EventSourcing", "JSON", "Model", "Signals", "Wire",
      ]),

    // A folder for each feature: state, service, binder, views.
    .target(
      name: "Features",
      dependencies: [
        "API", "Configuration", "Connections", "EventSourcing", "JSON", "Journal", "Model",
        "Signals", "Wire",
      ]),

    // Applications, which prove that services, binders and views suffice.
    .target(name: "Apps", dependencies: ["Binder", "JSON", "Signals"]),

    // What features ask of the machine; what applications ask of it and of the web.
    .target(name: "Adapters", dependencies: ["EventLoop", "Features"]),
    .target(
      name: "AppAdapters",
      dependencies: [
        "Apps", "CCurl", "CExpat", "CSQLite", "EventLoop", "EventSourcing", "JSON", "Model",
        "Signals", "Wire",
      ], linkerSettings: [.linkedLibrary("crypt")]),

    // The language of services in files.
    .target(
      name: "LuaScripts", dependencies: ["CLua", "EventSourcing", "Features", "JSON", "Wire"]),

    // Stores: one target for each C library.
    .target(
      name: "JournalSQLite",
      dependencies: ["CSQLite", "EventLoop", "JSON", "Journal", "Model", "Signals"],
      exclude: ["README.md"]),
    .target(
      name: "JournalPostgres",
      dependencies: ["CPostgres", "EventLoop", "JSON", "Journal", "Model", "Signals"]),

    // The journal in memory, for daemons in a test.
    .target(name: "JournalMemory", dependencies: ["Journal", "Model", "Signals"]),

    // Composition root: a daemon with the standard services and those of a program.
    .target(
      name: "BinderDaemon",
      dependencies: [
        "API", "Adapters", "Configuration", "Connections", "Console", "EventLoop", "EventSourcing",
        "Model", "Features", "JSON", "Journal", "JournalPostgres", "JournalSQLite", "LuaScripts",
        "Signals", "Wire",
      ]),

    // The engine as a library, for daemons outside this package: a facade.
    .target(
      name: "Binder",
      dependencies: [
        "API", "BinderDaemon", "Configuration", "Connections", "EventSourcing", "JSON", "Model",
        "Signals", "Wire",
      ]),

    // Tests of such daemons: a daemon in the process, in virtual time.
    .target(
      name: "BinderTesting",
      dependencies: [
        "API", "Binder", "BinderDaemon", "Configuration", "Connections", "EventSourcing",
        "Features",
        "JSON", "Journal", "JournalMemory", "Model", "Signals", "Wire",
      ]),

    // The daemon with the applications.
    .executableTarget(
      name: "binderd",
      dependencies: [
        .target(name: "AppAdapters", condition: .when(traits: ["Apps"])),
        .target(name: "Apps", condition: .when(traits: ["Apps"])),
        "API", "Binder", "BinderDaemon", "Configuration", "Connections", "EventLoop",
        "EventSourcing", "Wire",
      ]),

    // The client: for Swift programs, and the command line.
    .target(name: "BinderClient", dependencies: ["JSON", "Model", "Wire"]),
    .target(name: "BinderAsync", dependencies: ["BinderClient", "JSON", "Model", "Wire"]),
    .target(name: "Console", dependencies: ["JSON", "Model", "Wire"]),
    .executableTarget(
      name: "bindctl",
      dependencies: ["BinderClient", "CSupport", "Console", "JSON", "Model", "Wire"]),

    // The page for browsers, which reaches the daemon as any client.
    .executableTarget(
      name: "binder-web",
      dependencies: ["BinderClient", "CWebSockets", "EventLoop", "JSON", "Model", "Wire"]),

    // What test targets share.
    .target(
      name: "TestSupport", dependencies: ["JSON", "Journal", "Model", "Signals"],
      path: "Tests/TestSupport"),
    .target(
      name: "ServiceTestSupport",
      dependencies: [
        "Apps", "Binder", "EventSourcing", "Features", "JSON", "Journal", "JournalMemory", "Model",
        "Signals",
        "TestSupport",
      ],
      path: "Tests/ServiceTestSupport"),
    .target(
      name: "SignalsTestSupport", dependencies: ["Signals"], path: "Tests/SignalsTestSupport"),
    .target(name: "HistoryChecker", dependencies: ["JSON"], path: "Tests/HistoryChecker"),
    .executableTarget(
      name: "choresd", dependencies: ["Binder"], path: "Examples/Chores/Sources/choresd"),
    .executableTarget(name: "otherd", dependencies: ["BinderDaemon"], path: "Tests/OtherDaemon"),
    .executableTarget(name: "soak", dependencies: ["HistoryChecker"], path: "Tests/Soak"),

    .testTarget(
      name: "AdaptersTests",
      dependencies: [
        "Adapters", "AppAdapters", "Apps", "EventLoop", "Features", "Signals", "TestSupport",
      ]),
    .testTarget(name: "ArchitectureTests", exclude: ["PublicAPI.txt"]),
    .testTarget(name: "BinderWebTests", dependencies: ["TestSupport", "binder-web"]),
    .testTarget(
      name: "BinderClientTests",
      dependencies: ["BinderAsync", "BinderClient", "JSON", "TestSupport", "Wire"]),
    .testTarget(
      name: "APITests",
      dependencies: [
        "API", "Apps", "Binder", "BinderTesting", "Configuration", "Connections", "EventSourcing",
        "Features", "JSON", "Journal", "JournalMemory", "Model", "ServiceTestSupport", "Signals",
        "TestSupport", "Wire",
      ]),
    .testTarget(
      name: "BinderTests",
      dependencies: ["Binder", "BinderTesting", "JSON", "Signals", "TestSupport", "choresd"]),
    .testTarget(
      name: "AppsTests",
      dependencies: [
        "API", "Apps", "Binder", "BinderTesting", "Configuration", "EventSourcing", "Features",
        "JSON", "Journal", "JournalMemory", "Model",
        "ServiceTestSupport", "Signals", "TestSupport",
      ]),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: ["Configuration", "JSON", "Model", "TestSupport", "Wire"]),
    .testTarget(
      name: "ConnectionsTests",
      dependencies: [
        "Connections", "EventLoop", "JSON", "Model", "Signals", "TestSupport", "Wire",
      ]),
    .testTarget(name: "ConsoleTests", dependencies: ["Console", "JSON", "Model", "Wire"]),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "HistoryChecker", "JSON", "TestSupport", "Wire", "bindctl", "binderd", "otherd",
      ],
      exclude: ["Journals"]),
    .testTarget(
      name: "EventLoopTests", dependencies: ["EventLoop", "Model", "Signals", "TestSupport"]),
    .testTarget(
      name: "EventSourcingTests",
      dependencies: [
        "Apps", "Binder", "EventSourcing", "Features", "JSON", "Journal", "JournalMemory", "Model",
        "ServiceTestSupport",
        "Signals", "TestSupport",
      ]),
    .testTarget(name: "ModelTests", dependencies: ["JSON", "Model", "TestSupport"]),
    .testTarget(
      name: "FeaturesTests",
      dependencies: [
        "API", "Configuration", "EventSourcing", "Features", "JSON", "Journal", "JournalMemory",
        "Model",
        "ServiceTestSupport", "Signals", "TestSupport",
      ]),
    .testTarget(name: "HistoryCheckerTests", dependencies: ["HistoryChecker", "JSON"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
    .testTarget(
      name: "LuaScriptsTests",
      dependencies: [
        "Configuration", "EventSourcing", "Features", "JSON", "Journal", "JournalMemory",
        "LuaScripts", "Model", "ServiceTestSupport", "Signals", "TestSupport", "Wire",
      ]),
    .testTarget(
      name: "JournalTests",
      dependencies: [
        "CSQLite", "EventLoop", "Journal", "JournalMemory", "JournalPostgres", "JournalSQLite",
        "Model", "Signals",
        "TestSupport",
      ]),
    .testTarget(
      name: "SignalsTests", dependencies: ["Signals", "SignalsTestSupport", "TestSupport"]),
    .testTarget(
      name: "SignalsDialectsTests",
      dependencies: [
        "RxDialect", "Signals", "SignalsDialects", "SignalsTestSupport", "TestSupport",
      ]),
    .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
    .testTarget(name: "WireTests", dependencies: ["JSON", "TestSupport", "Wire"]),
  ]
)

/// The layers that hold no pointer; there every unsafe line must say `unsafe`.
let safe: Set = [
  "Model", "JSON", "Signals", "SignalsDialects", "RxDialect", "Wire", "Configuration", "Journal",
  "EventSourcing", "Connections", "API", "Features", "Apps", "Binder", "BinderTesting",
  "JournalMemory",
]

for target in package.targets
where !["CCurl", "CLua", "CPostgres", "CSupport", "CWebSockets"].contains(target.name) {
  guard target.type != .system else { continue }
  target.swiftSettings = settings + (safe.contains(target.name) ? [.strictMemorySafety()] : [])
}

/// `BINDERD_TARGETS` selects some targets, with those that they depend on: names separated by commas,
/// or a name of these.
///
/// - `programs`: what is installed.
/// - `memory`: the tests of targets that touch memory by hand, for the address sanitizer.
/// - `threads`: the tests of targets that start threads, for the thread sanitizer.
let selections: [String: Set<String>] = [
  "programs": ["binderd", "bindctl", "binder-web"],
  "memory": [
    "AdaptersTests", "BinderWebTests", "EventLoopTests", "JSONTests", "JournalTests",
    "LuaScriptsTests",
  ],
  "threads": ["AdaptersTests", "DaemonTests", "EventLoopTests", "JournalTests"],
]
if let selection = Context.environment["BINDERD_TARGETS"], !selection.isEmpty {
  var wanted = selections[selection] ?? Set(selection.split(separator: ",").map(String.init))
  var waiting = wanted
  while let name = waiting.popFirst() {
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      switch dependency {
      case .byNameItem(let below, _), .targetItem(let below, _):
        if wanted.insert(below).inserted { waiting.insert(below) }
      default: break
      }
    }
  }
  package.targets.removeAll { !wanted.contains($0.name) }
  package.products.removeAll { product in
    selection != "programs" || !["binderd", "bindctl", "binder-web"].contains(product.name)
  }
}

/// What is measured and not installed: `SIGNALS_BENCH=1 swift build -c release --product signals-bench`.
if Context.environment["SIGNALS_BENCH"] != nil {
  package.targets += [
    .target(name: "CMallocs", path: "Benchmarks/CMallocs"),
    .executableTarget(
      name: "signals-bench", dependencies: ["CMallocs", "Signals"], path: "Benchmarks/signals",
      swiftSettings: settings),
  ]
} else if Context.environment["TABLES_BENCH"] != nil {
  // The same for `tables-bench`.
  package.targets += [
    .target(name: "CMallocs", path: "Benchmarks/CMallocs"),
    .executableTarget(
      name: "tables-bench",
      dependencies: [
        "Binder", "CMallocs", "EventSourcing", "JSON", "Journal", "JournalMemory", "Model",
        "Signals",
      ], path: "Benchmarks/tables", swiftSettings: settings),
  ]
}
