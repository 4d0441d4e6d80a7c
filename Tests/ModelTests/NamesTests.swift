import JSON
import Model
import TestSupport
import Testing

struct NamesTests {
  @Test(arguments: 1...6)
  func `a table finds each name that is held, by the same number`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let names = Names()
    var model: [String: (number: Int, holders: Names.Holder)] = [:]
    let all: [Names.Holder] = [.stream, .source, .watcher]
    for _ in 0..<20_000 {
      let name = "n/\(Int.random(in: 0..<(seed % 2 == 0 ? 50 : 4000), using: &random))"
      let holder = all[Int.random(in: 0..<3, using: &random)]
      if Int.random(in: 0..<3, using: &random) > 0 {
        let number = names.add(name)
        names.hold(number, by: holder)
        #expect(model[name].map { $0.number == number } ?? true)
        model[name, default: (number, [])].holders.insert(holder)
      } else if let number = names.number(of: name) {
        names.drop(number, by: holder)
        model[name]?.holders.remove(holder)
        if model[name]?.holders.isEmpty == true { model[name] = nil }
      }
      #expect(names.number(of: name) == model[name]?.number)
      #expect(names.count == model.count)
    }
    #expect(Set(model.values.map(\.number)).count == model.count)
    for (name, (number, holders)) in model {
      #expect(names.number(of: name) == number)
      #expect(names.list.text(number) == name)
      #expect(names.holders(of: number) == holders)
    }
  }

  @Test
  func `names of any length and bytes are distinct`() {
    let names = Names()
    var numbers: [String: Int] = [:]
    for length in [0, 1, 6, 7, 8, 9, 15, 16, 17, 200, 65_535, 65_536, 70_000] {
      for last in ["", "\0", "\0\0", "ä", "z"] {
        let name = String(repeating: "\0", count: length) + last
        numbers[name] = names.add(name)
      }
    }
    #expect(names.count == numbers.count && Set(numbers.values).count == numbers.count)
    for (name, number) in numbers {
      #expect(names.number(of: name) == number)
      #expect(names.list.text(number) == name)
    }
    #expect(names.number(of: "absent") == nil)
  }

  @Test
  func `a name has the same number, whatever name came before it`() {
    let names = Names()
    var last = -1
    for name in ["a", "b", "cc", "d"] { _ = names.add(name.utf8.span, after: &last) }
    #expect(last == 3)
    names.release(1)
    for (name, number) in [("a", 0), ("cc", 2), ("d", 3), ("cc", 2), ("e", 1), ("a", 0), ("f", 4)] {
      #expect(names.add(name.utf8.span, after: &last) == number)
      #expect(names.number(of: name) == number)
    }
    #expect(names.count == 5)
  }

  @Test
  func `a copy of the list keeps its names while the table changes`() {
    let names = Names()
    let numbers = (0..<5000).map { names.add("n/\($0)") }
    let copy = names.list
    for i in stride(from: 0, to: 5000, by: 2) { names.release(numbers[i]) }
    for i in 0..<9000 { _ = names.add("other/\(i)") }
    for i in 0..<5000 { #expect(copy.text(numbers[i]) == "n/\(i)") }
    #expect(names.number(of: "n/2") == nil && names.number(of: "n/3") == numbers[3])
  }

  @Test
  func `a held name is not released`() {
    let names = Names()
    let number = names.add("a")
    names.hold(number, by: .watcher)
    names.hold(number, by: .stream)
    names.drop(number, by: .stream)
    names.release(number)
    #expect(names.number(of: "a") == number)
    names.drop(number, by: .watcher)
    #expect(names.number(of: "a") == nil && !names.list.contains(number))
    names.release(number)
    #expect(names.count == 0)
  }

  @Test
  func `names that come and go for ever take bounded memory`() {
    let names = Names()
    let kept = names.add("kept")
    names.hold(kept, by: .stream)
    var most = 0
    for i in 0..<100_000 {
      let number = names.add("a name of some length that is not used again \(i)")
      most = max(most, number)
      names.release(number)
    }
    #expect(most <= 1 && names.list.byteCount < 1 << 18)
    #expect(names.number(of: "kept") == kept)
  }
}

struct NumberMapTests {
  @Test(arguments: 1...4)
  func `a map behaves like a dictionary`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var (map, model) = (NumberMap(empty: ""), [Int: String]())
    for step in 0..<5000 {
      let number = Int.random(in: 0..<(seed % 2 == 0 ? 300 : 100_000), using: &random)
      if step % 3 == 0 {
        map[number] += "+"
        model[number, default: ""] += "+"
      } else {
        (map[number], model[number]) = ("\(step)", "\(step)")
      }
      #expect(map[number] == model[number])
    }
    var found: [Int: String] = [:]
    map.forEach { if !$1.isEmpty { found[$0] = $1 } }
    #expect(found == model)
    map.changeEach { if !$1.isEmpty { $1 += "!\($0)" } }
    for (number, value) in model { #expect(map[number] == "\(value)!\(number)") }
    #expect(map[1_000_000].isEmpty)
  }

  @Test
  func `a copy keeps its values while the other changes`() {
    var map = NumberMap(empty: -1)
    for i in 0..<3000 { map[i] = i }
    let copy = map
    for i in 0..<6000 { map[i] = 0 }
    for i in 0..<3000 { #expect(copy[i] == i) }
    #expect(copy[3000] == -1 && map[5999] == 0)
  }
}
