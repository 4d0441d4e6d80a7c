import Glibc
import Testing

/// Fault 20: slow, short and interrupted system calls.
struct SlowDiskTests {
  @Test(.needs("strace"))
  func `20: a slow disk delays answers to commands, and other requests are served`() throws {
    let manager = try ServiceManagerSocket()
    let wrapper = Disturbance.slowDisk(milliseconds: 2_000)
    let daemon = try DaemonProcess()
    daemon.end()
    let slow = try DaemonProcess(
      wrapper: manager.wrapper + ["WATCHDOG_USEC=200000"] + wrapper, in: daemon.directory)
    let writer = try TestSocket(slow.socket)
    let other = try TestSocket(slow.socket)
    #expect(manager.wait(for: "READY=1"))
    try writer.send(#"{"id":"w","method":"cells.set","params":["a",1]}"#)
    let start = milliseconds()
    var pings = 0
    var answers = 0
    while writer.isSilent(for: 50) {
      let answer = try other.call(#"{"id":1,"method":"get","params":["cells/a"]}"#)
      answers += answer.contains(#""not_found""#) ? 1 : 0
      while manager.told(within: 0)?.contains("WATCHDOG=1") == true { pings += 1 }
    }
    #expect(milliseconds() - start >= 1_900)
    #expect(answers > 5, "what is not durable is not seen")
    #expect(pings > 5)
    #expect(try writer.line()?.contains(#""id":"w","result":{"value":1,"seq":1"#) == true)
    #expect(
      try other.call(#"{"id":1,"method":"get","params":["cells/a"]}"#).contains(#""value":1"#))
  }

  @Test(.needs("strace"))
  func `20: other requests are served while a file of the tail grows`() throws {
    let slow = try DaemonProcess(
      ["--durability", "os"], wrapper: Disturbance.wrapper("fallocate:delay_enter=2000000"))
    let writer = try TestSocket(slow.socket)
    let other = try TestSocket(slow.socket)
    let long = String(repeating: "x", count: 100_000)
    try writer.send(#"{"id":"w","method":"cells.set","params":["a","\#(long)"]}"#)
    try other.send(#"{"id":"o","method":"cells.set","params":["b",1]}"#)
    let third = try TestSocket(slow.socket)
    var answers = 0
    while writer.isSilent(for: 50) {
      let answer = try third.call(#"{"id":1,"method":"ping"}"#)
      answers += answer.contains(#""result""#) ? 1 : 0
    }
    #expect(answers > 5)
    #expect(try writer.line()?.contains(#""id":"w","result""#) == true)
    #expect(try other.line()?.contains(#""id":"o","result""#) == true)
  }

  @Test(.needs("strace"))
  func `20: commands that arrive during a flush share the next one`() throws {
    let wrapper = Disturbance.slowDisk(milliseconds: 1_000)
    let daemon = try DaemonProcess()
    daemon.end()
    let slow = try DaemonProcess(wrapper: wrapper, in: daemon.directory)
    let start = milliseconds()
    var clients: [TestSocket] = []
    for i in 0..<20 {
      clients.append(try TestSocket(slow.socket))
      try clients[i].send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)",1]}"#)
      usleep(20_000)
    }
    for (i, client) in clients.enumerated() {
      #expect(try client.line()?.contains(#""id":\#(i),"result""#) == true)
    }
    #expect(milliseconds() - start < 20 * 1_000)
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
