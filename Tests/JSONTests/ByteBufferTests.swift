import JSON
import Testing

struct ByteBufferTests {
  @Test
  func `bytes are in the order in which they were appended`() {
    var buffer = ByteBuffer()
    for i in 0..<1000 { buffer.append(integer: i) }
    let text = buffer.string
    #expect(text == (0..<1000).map(String.init).joined())
  }

  @Test(arguments: [Int64.min, -10, -1, 0, 9, 10, 99, 100, .max])
  func `an integer is written in decimal`(value: Int64) {
    var buffer = ByteBuffer()
    buffer.append(integer: value)
    let text = buffer.string
    #expect(text == "\(value)")
  }

  @Test
  func `bytes are removed from the front and the end`() {
    var buffer = ByteBuffer()
    buffer.append("abcdef")
    buffer.removeFirst(2)
    var texts = [buffer.string]
    buffer.truncate(to: 3)
    texts.append(buffer.string)
    buffer.removeFirst(3)
    texts.append(buffer.string)
    #expect(texts == ["cdef", "cde", ""])
  }

  @Test
  func `memory above the capacity to keep is released`() {
    var buffer = ByteBuffer()
    for _ in 0..<10_000 { buffer.append("0123456789") }
    buffer.removeAll(keepingCapacity: 1024)
    let capacity = buffer.capacity
    #expect(capacity == 0)
    buffer.append("x")
    let text = buffer.string
    #expect(text == "x")
  }

  @Test
  func `removing more bytes than the buffer has traps`() async {
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer()
      buffer.append("ab")
      buffer.removeFirst(3)
    }
  }
}
