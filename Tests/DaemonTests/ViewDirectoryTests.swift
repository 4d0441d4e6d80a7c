import Glibc
import JSON
import TestSupport
import Testing

/// The directory of `*.view` files beside that of the bindings.
struct ViewDirectoryTests {
  private let directory: TemporaryDirectory
  private var arguments: [String] { ["--config", directory.path + "/binder.conf"] }
  private var place: String { directory.path + "/view.d" }

  init() throws {
    directory = try TemporaryDirectory()
    mkdir(directory.path + "/view.d", 0o755)
    Files.write("{}", to: directory.path + "/binder.conf")
  }

  private func write(_ text: String, _ name: String = "lamp.view") {
    Files.write(text, to: "\(place)/\(name)")
  }

  private let lamp = "view \"A lamp.\" (name: text)\ncells/{name} ~> value\n"

  @Test
  func `files are views of all clients, and a reload closes those that have changed`() throws {
    write(lamp)
    write("view \"Both.\"\ntab \"Lamp\" => lamp name=\"b\"\n", "both.view")
    write("not read", "readme.txt")
    let daemon = try DaemonProcess(arguments, in: directory.path)
    let client = try TestSocket(daemon.socket)
    #expect(
      try client.call(#"{"id":1,"method":"describe"}"#).contains(
        #"{"name":"lamp","service":"views","doc":"A lamp.","args":[{"name":"name","type":"string","optional":false}]}"#
      ))
    let open =
      #"{"id":2,"method":"open","params":{"binder":"lamp","view":"v","args":{"name":"a"}}}"#
    #expect(try client.call(open).contains(#""value":{"kind":"state","value":null}"#))
    let other = try TestSocket(daemon.socket)
    _ = try other.call(#"{"id":1,"method":"open","params":{"binder":"both","view":"w"}}"#)
    #expect(try other.line()?.contains(#""view":"w.1""#) == true)

    write(lamp + "on -> cells.set name={name} value=true\n")
    let reload = try TestSocket(daemon.socket)
    #expect(try reload.call(#"{"id":1,"method":"reload"}"#).contains(#""changed":["views"]"#))
    #expect(try client.line()?.contains(#""view":"v","seq":0,"reason":"changed""#) == true)
    #expect(try other.line()?.contains(#""view":"w.1","seq":0,"reason":"changed""#) == true)
    #expect(try other.line()?.contains(#""view":"w","seq":0,"reason":"changed""#) == true)
    #expect(try client.call(open).contains(#""intents":{"on":{"params":{}}}"#))
    #expect(try reload.call(#"{"id":2,"method":"reload"}"#).contains(#""changed":[]"#))

    write(lamp + "on -> cells.st\n")
    let refused = try reload.call(#"{"id":3,"method":"reload"}"#)
    #expect(
      refused.contains(
        #"lamp.view","line":3,"column":7,"message":"no method 'cells.st'; did you mean 'cells.set'?"#
      ))
    #expect(
      try client.call(#"{"id":4,"method":"intent","params":{"view":"v","name":"on"}}"#).contains(
        #""value":true"#))
    #expect(daemon.end() == 0)
  }

  @Test
  func `an open view of the directory goes on after a restart`() throws {
    let daemon = try ManagedDaemon(configuration: "{}") { place in
      mkdir(place + "/view.d", 0o755)
      Files.write(lamp, to: place + "/view.d/lamp.view")
    }
    let client = try TestSocket(daemon.socket)
    let opened = try client.call(
      #"{"id":1,"method":"open","params":{"binder":"lamp","view":"v","args":{"name":"a"}}}"#)
    #expect(opened.contains(#""value":null"#), "\(opened)")
    try daemon.settle(clients: 1)
    try daemon.restart()
    try client.send(#"{"id":2,"method":"cells.set","params":{"name":"a","value":5}}"#)
    var frame: String?
    repeat {
      frame = try client.line()
    } while frame?.contains(#""props":"#) == false
      || frame?.contains(#":{"value":5}"#) == false
    #expect(frame?.contains(#""method":"next","params":{"view":"v""#) == true, "\(frame ?? "")")
    daemon.end()
  }

  @Test
  func `a faulty view is left out of a start`() throws {
    write(lamp)
    write("view \"Odd.\"\non -> cells.st\n", "odd.view")
    let daemon = try DaemonProcess(arguments, in: directory.path)
    #expect(daemon.log.contains("view.d/odd.view:2:7: no method 'cells.st'"))
    let client = try TestSocket(daemon.socket)
    let views = try client.call(#"{"id":1,"method":"describe"}"#)
    #expect(views.contains(#""name":"lamp""#) && !views.contains(#""name":"odd""#))
    #expect(daemon.end() == 0)
    write("view \"Odd.\"\non ->\n", "odd.view")
    try daemon.start(arguments)
    #expect(daemon.log.contains("view.d/odd.view:2:6: expected a method"))
    #expect(daemon.log.contains("; the view is left out"))
    let again = try TestSocket(daemon.socket)
    #expect(try again.call(#"{"id":1,"method":"describe"}"#).contains(#""name":"lamp""#))
    #expect(daemon.end() == 0)
  }

  @Test(.enabled(if: getuid() == 0))
  func `a view of another owner stops a start and a reload, and changes nothing`() throws {
    write(lamp)
    let daemon = try DaemonProcess(arguments, in: directory.path)
    let client = try TestSocket(daemon.socket)
    write("view \"Other.\"\n", "other.view")
    chown(place + "/other.view", 1234, 1234)
    let refused = try client.call(#"{"id":1,"method":"reload"}"#)
    #expect(refused.contains("other.view: it belongs to user 1234, not to root"), "\(refused)")
    let views = try client.call(#"{"id":1,"method":"describe"}"#)
    #expect(views.contains(#""name":"lamp""#) && !views.contains(#""name":"other""#))
    #expect(daemon.end() == 0)
    let check = [DaemonProcess.executable, "--check-config", directory.path + "/binder.conf"]
    #expect(try run(check, 78).contains("other.view: it belongs to user 1234"))
  }

  @Test
  func `names are free, tabs have no cycle, and owner and mode are checked`() throws {
    let check = [DaemonProcess.executable, "--check-config", directory.path + "/binder.conf"]
    write(lamp)
    #expect(try run(check).contains("view        lamp: A lamp.\n"))
    write("view \"A\"\ncells/a ~> a | nott\n")
    #expect(
      try run(check, 78)
        == "\(place)/lamp.view:2:16: no transformer 'nott'; did you mean 'not'?\n")
    chmod(place + "/lamp.view", 0o666)
    #expect(try run(check, 78).contains("\(place)/lamp.view: everybody may write it"))
    unlink(place + "/lamp.view")
    write("view \"A\"\n", "a-b.view")
    #expect(try run(check, 78).contains("a-b.view: the name of a view is 1 to 64 of"))
    unlink(place + "/a-b.view")

    let daemon = try DaemonProcess(arguments, in: directory.path)
    let client = try TestSocket(daemon.socket)
    write("view \"A\"\n", "cell.view")
    write("view \"A\"\ntab \"B\" => b\n", "a.view")
    write("view \"B\"\ntab \"A\" => a\n", "b.view")
    let refused = try client.call(#"{"id":1,"method":"reload"}"#)
    #expect(refused.contains("service 'cells' has a view 'cell'"))
    #expect(refused.contains(#"a.view","line":2,"column":12,"message":"the tab leads back to 'a'"#))
    #expect(daemon.end() == 0)
  }
}
