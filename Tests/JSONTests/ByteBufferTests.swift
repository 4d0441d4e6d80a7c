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

  @Test
  func `integers of all lengths are written as the library writes them`() {
    var numbers: [UInt64] = [0, .max]
    var power: UInt64 = 1
    for _ in 0..<20 {
      numbers += [power &- 1, power, power &+ 1, power &* 9]
      power = power &* 10
    }
    var random: UInt64 = 1
    for _ in 0..<20_000 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      numbers.append((random >> 33) % 100_000_000)
    }
    for number in numbers {
      var buffer = ByteBuffer()
      buffer.append(integer: number)
      #expect(buffer.string == String(number))
    }
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

struct ObjectWritingTests {
  /// Returns the text that `body` appends.
  private func written(_ body: (inout ByteBuffer) -> Void) -> String {
    var buffer = ByteBuffer()
    body(&buffer)
    return buffer.string
  }

  @Test
  func `members keep their order and are separated by commas`() {
    let text = written {
      $0.object {
        $0.member("a", 1)
        $0.member("b", "x\"y")
        $0.member("c", true)
        $0.member("d", JSONText(string: "z"))
        $0.key(quoted: "e\n")
        $0.append("null")
      }
    }
    #expect(text == #"{"a":1,"b":"x\"y","c":true,"d":"z","e\n":null}"#)
  }

  @Test
  func `members without a value are left out with their commas`() {
    let text = written {
      $0.object {
        $0.member("a", nil as Int?)
        $0.member("b", nil as String?)
        $0.member("c", 2)
        $0.member("d", nil as Bool?)
        $0.member("e", nil as JSONText?)
      }
    }
    #expect(text == #"{"c":2}"#)
  }

  @Test
  func `objects and arrays may be empty and nested`() {
    let text = written {
      $0.object {
        $0.object("a") { _ in }
        $0.array("b") { buffer in
          for i in 0..<2 {
            buffer.separate()
            buffer.object { $0.member("i", i) }
          }
        }
        $0.array("c") { _ in }
        $0.object("d") { $0.members(of: JSONText(members: ["x": .null])) }
      }
    }
    #expect(text == #"{"a":{},"b":[{"i":0},{"i":1}],"c":[],"d":{"x":null}}"#)
  }

  @Test
  func `a value that ends with a bracket in a string is followed by a comma`() {
    let text = written {
      $0.object {
        $0.member("a", "{")
        $0.member("b", "[")
        $0.member("c", ",")
      }
    }
    #expect(text == #"{"a":"{","b":"[","c":","}"#)
  }
}
