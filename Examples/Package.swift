// swift-tools-version: 6.2
import PackageDescription

/// Programs outside the package of binderd that use its public libraries, as anybody could.
let package = Package(
  name: "Examples",
  dependencies: [.package(name: "binderd", path: "..")],
  targets: [
    .executableTarget(
      name: "Profile", dependencies: [.product(name: "Signals", package: "binderd")]),
    .executableTarget(
      name: "Temperature", dependencies: [.product(name: "Signals", package: "binderd")]),
  ]
)
