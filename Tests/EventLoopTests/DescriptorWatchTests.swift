import EventLoop
import Glibc
import Testing

struct DescriptorWatchTests {
  @Test
  func `a watch reports the requested events that a descriptor is ready for`() throws {
    let loop = try Loop()
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    var told: [DescriptorWatch.Events] = []
    let reading = try DescriptorWatch(ends[0], on: loop) { told.append($0) }
    reading.wait(for: .readable)
    #expect(try loop.countTurns(forMilliseconds: 5) > 0)
    #expect(told == [], "there is nothing")
    _ = write(ends[1], "x", 1)
    try loop.run { !told.isEmpty }
    #expect(told.first == .readable)
    reading.wait(for: [])
    told = []
    _ = try loop.countTurns(forMilliseconds: 5)
    #expect(told == [], "nothing is waited for")
    reading.close()
    reading.close()
    reading.wait(for: .readable)

    let writing = try DescriptorWatch(ends[1], on: loop) { told.append($0) }
    writing.wait(for: [.readable, .writable])
    try loop.run { !told.isEmpty }
    #expect(told.first == .writable)
    writing.close()
    loop.run()
    for end in ends { close(end) }
  }

  @Test
  func `an invalid descriptor is rejected`() throws {
    let loop = try Loop()
    #expect(throws: SystemError.self) { try DescriptorWatch(-1, on: loop) { _ in } }
    loop.run()
  }
}
