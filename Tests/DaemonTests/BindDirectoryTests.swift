import Glibc
import JSON
import TestSupport
import Testing

/// The directory of `*.bind` files, read by the daemon and by `--check-config`.
struct BindDirectoryTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    mkdir(directory.path + "/bind.d", 0o755)
  }

  private func write(_ text: String, _ name: String = "home.bind") {
    Files.write(text, to: "\(directory.path)/bind.d/\(name)")
  }

  private func configure(_ text: String = "{}") {
    Files.write(text, to: directory.path + "/binder.conf")
  }

  @Test
  func `files are bound at the start, and a reload applies their changes`() throws {
    configure()
    write("# home\ncells/a ~> cells/b\nn: cells/a ~> cells/c\nnope/x ~> cells/d\n")
    write("not read", "readme.txt")
    let arguments = ["--config", directory.path + "/binder.conf"]
    let daemon = try DaemonProcess(arguments, in: directory.path)
    #expect(daemon.log.contains("bind.d/home.bind:4:1: no source 'nope/x'"))
    let client = try TestSocket(daemon.socket)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    let get = #"{"id":2,"method":"get","params":["cells/*"]}"#
    func cells() throws -> String { try client.result(get)["values"]?.text.text ?? "" }
    let bound = #"{"cells/a":1,"cells/b":1,"cells/c":1}"#
    #expect(try holds { try cells() == bound })

    write("cells/a ~> cells/b\ncells/a ~> cells/d\n")
    #expect(try client.call(#"{"id":3,"method":"reload"}"#).contains(#""changed":["bindings"]"#))
    _ = try client.call(#"{"id":4,"method":"cells.set","params":["a",2]}"#)
    #expect(try holds { try cells().contains(#""cells/b":2,"cells/c":1,"cells/d":2"#) })
    #expect(try client.call(#"{"id":5,"method":"reload"}"#).contains(#""changed":[]"#))

    write("cells/a ~> cells/b\n  cells/a => cells/d\n")
    let refused = try client.call(#"{"id":6,"method":"reload"}"#)
    #expect(refused.contains(#"home.bind","line":2,"column":11,"message":"expected an arrow"#))
    _ = try client.call(#"{"id":7,"method":"cells.set","params":["a",3]}"#)
    #expect(try holds { try cells().contains(#""cells/b":3,"cells/c":1,"cells/d":3"#) })

    #expect(daemon.end() == 0)
    #expect(throws: DaemonProcess.Failure.self, "a fault of a line stops the start") {
      try daemon.start(arguments)
    }
    write("cells/a ~> cells/e\n")
    try daemon.start(arguments)
    let again = try TestSocket(daemon.socket)
    #expect(
      try holds { try again.result(get)["values"]?.text.text.contains(#""cells/e":3"#) == true })
    #expect(daemon.end() == 0)
  }

  @Test
  func `values written after a file was bound stay, also after maintenance of the journal`() throws
  {
    configure()
    write("cells/a ~> cells/b\n")
    let configuration = ["--config", directory.path + "/binder.conf"]
    let daemon = try DaemonProcess(configuration, in: directory.path)
    let first = try TestSocket(daemon.socket)
    _ = try first.call(#"{"id":1,"method":"cells.set","params":["a",20]}"#)
    let get = #"{"id":2,"method":"get","params":["cells/b"]}"#
    #expect(try holds { try first.call(get).contains(#""value":20"#) })
    _ = try first.call(#"{"id":3,"method":"cells.set","params":["b",23]}"#)
    let lines = directory.path + "/lines"
    for work in [["--compact", "--before", "2"], ["--export", lines], ["--import", lines]] {
      #expect(daemon.end() == 0)
      let words = [DaemonProcess.executable] + configuration + ["--journal", daemon.journal]
      _ = try run(words + work + ["--force"], isWithErrors: true)
      try daemon.start(configuration)
      let client = try TestSocket(daemon.socket)
      // When it is answered, the writes of the start are durable.
      _ = try client.call(#"{"id":4,"method":"cells.set","params":["c",1]}"#)
      #expect(try client.call(get).contains(#""value":23"#), "\(work)")
    }
    #expect(daemon.end() == 0)
  }

  @Test
  func `the check reports the errors of every file, and the bindings`() throws {
    configure(#"{ "bind_directory": "\#(directory.path)/bind.d" }"#)
    let check = [DaemonProcess.executable, "--check-config", directory.path + "/binder.conf"]
    write("lamp: cells/a ~> cells/b | not\n")
    #expect(try run(check).contains("binding     lamp: cells/a ~> cells/b | not\n"))
    write("cells/a ~~> cells/b\n\ncells/c ~> cells/d | nott\n")
    write("cells/x ~> cells/y |\n", "other.bind")
    let place = directory.path + "/bind.d"
    #expect(
      try run(check, 78)
        == "\(place)/home.bind:1:9: unknown operator '~~>'\n"
        + "\(place)/home.bind:3:22: unknown transformer 'nott': did you mean 'not'?\n"
        + "\(place)/other.bind:1:21: expected transformer, found the end\n")
    chmod(place + "/other.bind", 0o666)
    #expect(try run(check, 78).contains("\(place)/other.bind: everybody may write it"))
    configure(#"{ "bind_directory": "\#(directory.path)/none" }"#)
    #expect(try run(check, 78).contains("\(directory.path)/none: No such file or directory"))
    #expect(throws: DaemonProcess.Failure.self, "nor does a daemon start") {
      _ = try DaemonProcess(["--config", directory.path + "/binder.conf"], in: directory.path)
    }
    let named = check + ["--bind-dir", directory.path + "/none"]
    #expect(try run(named, 78).contains("\(directory.path)/none: No such file or directory"))
    configure()
    unlink(place + "/home.bind")
    unlink(place + "/other.bind")
    rmdir(place)
    #expect(try run(check).contains("bindings    \(place) does not exist\n"), "not named")
  }
}
