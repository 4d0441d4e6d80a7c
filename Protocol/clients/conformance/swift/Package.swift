// swift-tools-version: 6.2
import PackageDescription

/// The driver of the Swift client; `run` builds it.
let package = Package(
  name: "conformance",
  dependencies: [.package(name: "binderd", path: "../../../..")],
  targets: [
    .executableTarget(
      name: "Driver", dependencies: [.product(name: "BinderClient", package: "binderd")])
  ]
)
