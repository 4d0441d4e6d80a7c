// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "chores",
  dependencies: [.package(name: "binderd", path: "../..")],
  targets: [
    .executableTarget(
      name: "choresd", dependencies: [.product(name: "Binder", package: "binderd")]),
    .testTarget(
      name: "choresdTests",
      dependencies: ["choresd", .product(name: "BinderTesting", package: "binderd")]),
  ]
)
