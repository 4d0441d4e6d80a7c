import Facts
import TestSupport
import Testing

struct NameMapTests {
  private func content(_ map: NameMap<Int>) -> [String: Int] {
    var content: [String: Int] = [:]
    map.forEach { content[$0] = $1 }
    return content
  }

  @Test(arguments: 1...8)
  func `a map behaves like a dictionary`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var (map, model) = (NameMap<Int>(), [String: Int]())
    for step in 0..<6000 {
      let name = "n/\(Int.random(in: 0..<(seed % 2 == 0 ? 40 : 3000), using: &random))"
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: (map[name], model[name]) = (step, step)
      case 2: (map[name], model[name]) = (nil, nil)
      case 3:
        map.change(name, initial: 0) { $0 += step }
        model[name, default: 0] += step
      default:
        let known = map.change(name) { value in
          value = -value
          return value
        }
        if let value = model[name] { model[name] = -value }
        #expect(known == model[name])
      }
      #expect(map[name] == model[name])
      #expect(map[bytes: name.utf8.span] == model[name])
      #expect(map.contains(name) == (model[name] != nil))
      #expect(map.count == model.count && map.isEmpty == model.isEmpty)
    }
    #expect(content(map) == model)
    #expect(Set(map.names) == Set(model.keys))
    #expect(map.names.underestimatedCount == model.count)
    map.changeEach { $1 += $0.utf8.count }
    for (name, value) in model { model[name] = value + name.utf8.count }
    #expect(content(map) == model)
  }

  @Test
  func `names of any length and bytes are distinct`() {
    var map = NameMap<Int>()
    var names: [String] = []
    for length in 0...40 {
      for last in ["", "\0", "\0\0", "ä", "z"] {
        names.append(String(repeating: "\0", count: length) + "a" + last)
      }
    }
    names = Array(Set(names))
    for (i, name) in names.enumerated() { map[name] = i }
    #expect(map.count == names.count)
    for (i, name) in names.enumerated() { #expect(map[name] == i) }
    #expect(map["absent"] == nil)
  }

  @Test
  func `a copy keeps its content while the other grows, changes and shrinks`() {
    var map = NameMap<Int>()
    for i in 0..<5000 { map["n/\(i)"] = i }
    let copy = map
    let before = content(copy)
    for i in 0..<5000 where i % 3 == 0 { map["n/\(i)"] = nil }
    for i in 0..<5000 where i % 3 == 1 { map["n/\(i)"] = -i }
    for i in 5000..<12_000 { map["n/\(i)"] = i }
    #expect(content(copy) == before)
    #expect(copy.count == 5000)
    #expect(map["n/1"] == -1 && map["n/3"] == nil && map["n/11999"] == 11_999)
  }

  @Test
  func `a map that was emptied is usable again`() {
    var map = NameMap<String>()
    for round in 0..<3 {
      for i in 0..<2000 { map["\(i)"] = "\(round)" }
      for i in 0..<2000 { map["\(i)"] = nil }
      #expect(map.isEmpty)
      #expect(Array(map.names).isEmpty)
    }
  }
}
