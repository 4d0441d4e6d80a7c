import Glibc
import Testing

/// Fault 20: slow, short and interrupted system calls.
struct SlowDiskTests {
  @Test(.needs("gcc"))
  func `20: a slow disk delays answers to commands, and other requests are served`() throws {
    let manager = try ServiceManagerSocket()
    let disk = try DiskGate()
    let slow = try DaemonProcess(
      wrapper: manager.wrapper + ["WATCHDOG_USEC=200000"] + disk.wrapper)
    let writer = try TestSocket(slow.socket)
    let other = try TestSocket(slow.socket)
    #expect(manager.wait(for: "READY=1"))
    disk.hold()
    let before = disk.count(on: "-tail1")
    try writer.send(#"{"id":"w","method":"cells.set","params":["a",1]}"#)
    #expect(holds { disk.count(on: "-tail1") > before }, "the flush has begun")
    for _ in 0..<10 {
      let answer = try other.call(#"{"id":1,"method":"get","params":["cells/a"]}"#)
      #expect(answer.contains(#""not_found""#), "what is not durable is not seen")
      #expect(manager.wait(for: "WATCHDOG=1"))
    }
    #expect(writer.isSilent())
    disk.release()
    #expect(try writer.line()?.contains(#""id":"w","result":{"value":1,"seq":1"#) == true)
    #expect(
      try other.call(#"{"id":1,"method":"get","params":["cells/a"]}"#).contains(#""value":1"#))
  }

  @Test(.needs("gcc"))
  func `20: other requests are served while a file of the tail grows`() throws {
    let disk = try DiskGate()
    let slow = try DaemonProcess(["--durability", "os"], wrapper: disk.wrapper)
    let writer = try TestSocket(slow.socket)
    let other = try TestSocket(slow.socket)
    let long = String(repeating: "x", count: 100_000)
    disk.hold("fallocate")
    try writer.send(#"{"id":"w","method":"cells.set","params":["a","\#(long)"]}"#)
    #expect(holds { disk.count("fallocate", on: "-tail2") > 0 }, "the growth has begun")
    try other.send(#"{"id":"o","method":"cells.set","params":["b",1]}"#)
    let third = try TestSocket(slow.socket)
    for _ in 0..<10 {
      #expect(try third.call(#"{"id":1,"method":"ping"}"#).contains(#""result""#))
    }
    #expect(writer.isSilent() && other.isSilent())
    disk.release("fallocate")
    #expect(try writer.line()?.contains(#""id":"w","result""#) == true)
    #expect(try other.line()?.contains(#""id":"o","result""#) == true)
  }

  @Test(.needs("gcc"))
  func `20: commands that arrive during a flush share the next one`() throws {
    let disk = try DiskGate()
    let slow = try DaemonProcess(wrapper: disk.wrapper)
    disk.hold()
    let before = disk.count(on: "-tail1")
    var clients: [TestSocket] = []
    for i in 0..<20 {
      clients.append(try TestSocket(slow.socket))
      try clients[i].send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)",1]}"#)
      // The others arrive during the flush of the first.
      if i == 0 { #expect(holds { disk.count(on: "-tail1") > before }) }
    }
    #expect(try slow.hasInFlight(events: 20))
    // The writer has all of them at the end of the turn.
    _ = try slow.last()
    #expect(disk.count(on: "-tail1") == before + 1)
    disk.release()
    for (i, client) in clients.enumerated() {
      #expect(try client.line()?.contains(#""id":\#(i),"result""#) == true)
    }
    #expect(disk.count(on: "-tail1") == before + 2)
  }

  @Test(.needs("strace"))
  func `20: interrupted calls are repeated, and the daemon waits for a full socket`() throws {
    let wrapper = Disturbance.wrapper(
      "pread64:error=EINTR:when=3+3", "pwrite64:error=EINTR:when=2+2",
      "recvfrom:error=EINTR:when=2+2", "sendto:error=EAGAIN:when=3+3",
      "accept4:error=EINTR:when=1+2", "epoll_pwait:error=EINTR:when=5+5")
    let daemon = try DaemonProcess(wrapper: wrapper)
    let client = try TestSocket(daemon.socket)
    let watcher = try TestSocket(daemon.socket)
    _ = try watcher.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","from":"start"}}"#)
    for i in 1...200 {
      try client.send(
        #"{"id":\#(i),"method":"cells.set","params":["n",\#(i)]}"#,
        #"{"id":"g","method":"get","params":["cells/n"]}"#)
      #expect(
        try client.line()?.contains(#""id":\#(i),"result":{"value":\#(i),"seq":\#(i)"#) == true)
      #expect(try client.line()?.contains(#""value":\#(i)"#) == true)
    }
    var last = 0
    while last < 200, let line = try watcher.line() {
      guard line.contains(#""next""#) else { continue }
      last += 1
      #expect(line.contains(#""seq":\#(last),"#))
    }
    client.close()
    watcher.close()
    #expect(daemon.end() == 0)
    #expect(
      try run([DaemonProcess.executable, "--verify", "--journal", daemon.journal])
        .contains("200 of 200"))
  }
}
