// swift-tools-version: 6.2
import PackageDescription

let signals = Target.Dependency.product(name: "Signals", package: "binderd")
let json = Target.Dependency.product(name: "JSON", package: "binderd")
let dialects = Target.Dependency.product(name: "SignalsDialects", package: "binderd")

/// Programs outside the package of binderd that use its public libraries, as anybody could.
let package = Package(
  name: "Examples",
  dependencies: [.package(name: "binderd", path: "..")],
  targets: [
    .executableTarget(name: "Profile", dependencies: [signals]),
    .executableTarget(name: "Temperature", dependencies: [signals]),

    // One program for each document that this project began with.
    .executableTarget(name: "BinderArchitecture", dependencies: [signals]),
    .executableTarget(name: "ModelViewBinding", dependencies: [signals, dialects]),
    .executableTarget(name: "BINDForSwift", dependencies: [signals, dialects]),
    .executableTarget(name: "BindingProblem", dependencies: [signals, dialects]),
    .executableTarget(name: "BinderPodcasts", dependencies: [signals]),

    // The two documents about RxSwift again, in their own words.
    .executableTarget(name: "RxSearchy", dependencies: [dialects]),
    .executableTarget(name: "RxPodcasts", dependencies: [dialects, json]),
  ]
)
