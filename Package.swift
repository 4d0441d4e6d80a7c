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
    .library(name: "BinderClient", targets: ["BinderClient"]),
    .library(name: "JSON", targets: ["JSON"]),
    .library(name: "Signals", targets: ["Signals"]),
    .library(name: "SignalsDialects", targets: ["SignalsDialects"]),
  ],
  targets: [
    // C: what Swift cannot import, and headers of libraries. No `link` in their module maps: the
    // pkg-config files say what to link, so that static builds can say otherwise.
    .target(name: "CChecksum"),
    .target(name: "CCurl"),
    .target(name: "CPosix"),
    .systemLibrary(name: "Clibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),

    // Ground: no other layer.
    .target(name: "Facts"),
    .target(name: "JSON"),
    // libm rounds; a program that links nothing else would miss it.
    .target(name: "Signals", exclude: ["README.md"], linkerSettings: [.linkedLibrary("m")]),
    .target(name: "EventLoop", dependencies: ["CPosix", "Clibuv"]),

    // Beside the layers: for programs outside this package. No layer uses it.
    .target(name: "SignalsDialects", dependencies: ["Signals"], exclude: ["README.md"]),

    // The language of the socket, shared with the client.
    .target(name: "Wire", dependencies: ["JSON"]),

    // What an administrator says: the file, and who may do what.
    .target(name: "Configuration", dependencies: ["Facts", "JSON", "Wire"]),

    // Promise.
    .target(name: "Journal", dependencies: ["Signals"]),

    // Business logic.
    .target(
      name: "Services", dependencies: ["Facts", "JSON", "Journal", "Signals"],
      exclude: ["README.md"]),

    // The view: one client, as the application sees it.
    .target(name: "Connections", dependencies: ["JSON", "Signals", "Wire"]),

    // Application logic: one function a file.
    .target(
      name: "Binders",
      dependencies: [
        "Configuration", "Connections", "Facts", "JSON", "Services", "Signals", "Wire",
      ]),

    // The host: sockets to connections.
    .target(name: "Server", dependencies: ["Connections", "EventLoop", "Signals", "Wire"]),

    // What services ask of the machine.
    .target(
      name: "Machine", dependencies: ["EventLoop", "Services", "Signals"],
      linkerSettings: [.linkedLibrary("crypt")]),

    // What services ask of the web, and what is found there.
    .target(name: "HTTP", dependencies: ["CCurl", "EventLoop", "Services", "Signals"]),
    .target(
      name: "Syndication",
      dependencies: ["CExpat", "EventLoop", "JSON", "Services", "Signals", "Wire"]),

    // Stores: one target for each C library.
    .target(
      name: "JournalSQLite",
      dependencies: ["CChecksum", "CSQLite", "EventLoop", "Journal", "Signals"],
      exclude: ["README.md"]),

    // Full text over what services hold.
    .target(
      name: "SearchSQLite", dependencies: ["CSQLite", "EventLoop", "Services", "Signals"]),

    // Composition root.
    .executableTarget(
      name: "binderd",
      dependencies: [
        "Binders", "Configuration", "Connections", "Console", "EventLoop", "Facts", "HTTP", "JSON",
        "Journal", "JournalSQLite", "Machine", "SearchSQLite", "Server", "Services", "Signals",
        "Syndication", "Wire",
      ]),

    // The client: for Swift programs, and the command line.
    .target(name: "BinderClient", dependencies: ["JSON", "Wire"]),
    .target(name: "Console", dependencies: ["JSON", "Wire"]),
    .executableTarget(
      name: "bindctl", dependencies: ["BinderClient", "Console", "JSON", "Wire"]),

    // What test targets share.
    .target(
      name: "TestSupport", dependencies: ["JSON", "Services", "Signals"], path: "Tests/TestSupport"),
    .target(
      name: "SignalsTestSupport", dependencies: ["Signals"], path: "Tests/SignalsTestSupport"),
    .target(name: "HistoryChecker", dependencies: ["JSON"], path: "Tests/HistoryChecker"),
    .executableTarget(name: "soak", dependencies: ["HistoryChecker"], path: "Tests/Soak"),

    .testTarget(name: "ArchitectureTests"),
    .testTarget(
      name: "BinderClientTests", dependencies: ["BinderClient", "JSON", "TestSupport", "Wire"]),
    .testTarget(
      name: "BindersTests",
      dependencies: [
        "Binders", "Configuration", "Connections", "Facts", "JSON", "Journal", "Services",
        "Signals", "TestSupport", "Wire",
      ]),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: ["Configuration", "Facts", "JSON", "TestSupport", "Wire"]),
    .testTarget(
      name: "ConnectionsTests",
      dependencies: ["Connections", "JSON", "Server", "Signals", "TestSupport", "Wire"]),
    .testTarget(name: "ConsoleTests", dependencies: ["Console", "JSON", "Wire"]),
    .testTarget(
      name: "DaemonTests",
      dependencies: ["HistoryChecker", "JSON", "TestSupport", "Wire", "binderd"],
      exclude: ["Journals"]),
    .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"]),
    .testTarget(name: "FactsTests", dependencies: ["Facts", "TestSupport"]),
    .testTarget(
      name: "HTTPTests", dependencies: ["EventLoop", "HTTP", "Services", "Signals", "TestSupport"]),
    .testTarget(name: "HistoryCheckerTests", dependencies: ["HistoryChecker", "JSON"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
    .testTarget(
      name: "JournalTests",
      dependencies: ["CSQLite", "EventLoop", "Journal", "JournalSQLite", "Signals", "TestSupport"]),
    .testTarget(
      name: "MachineTests",
      dependencies: ["EventLoop", "Machine", "Services", "Signals", "TestSupport"]),
    .testTarget(
      name: "SearchSQLiteTests",
      dependencies: ["EventLoop", "SearchSQLite", "Services", "Signals"]),
    .testTarget(
      name: "ServicesTests",
      dependencies: ["Facts", "JSON", "Journal", "Services", "Signals", "TestSupport"]),
    .testTarget(
      name: "SignalsTests", dependencies: ["Signals", "SignalsTestSupport", "TestSupport"]),
    .testTarget(
      name: "SignalsDialectsTests",
      dependencies: ["Signals", "SignalsDialects", "SignalsTestSupport", "TestSupport"]),
    .testTarget(
      name: "SyndicationTests",
      dependencies: ["EventLoop", "Services", "Signals", "Syndication", "TestSupport"]),
    .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
    .testTarget(name: "WireTests", dependencies: ["JSON", "Wire"]),
  ]
)

/// The layers that hold no pointer; there every unsafe line must say `unsafe`.
let safe: Set = [
  "Facts", "JSON", "Signals", "Wire", "Configuration", "Journal", "Services", "Connections",
  "Binders",
  "Server", "SignalsDialects",
]

for target in package.targets where !["CChecksum", "CCurl", "CPosix"].contains(target.name) {
  guard target.type != .system else { continue }
  target.swiftSettings = settings + (safe.contains(target.name) ? [.strictMemorySafety()] : [])
}

/// What is measured and not installed: `SIGNALS_BENCH=1 swift build -c release --product signals-bench`.
if Context.environment["SIGNALS_BENCH"] != nil {
  package.targets += [
    .target(name: "CMallocs", path: "Benchmarks/CMallocs"),
    .executableTarget(
      name: "signals-bench", dependencies: ["CMallocs", "Signals"], path: "Benchmarks/signals",
      swiftSettings: settings),
  ]
}
