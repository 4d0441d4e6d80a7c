import Testing

/// The most stored properties of a class.
private let maxProperties = 20

/// The most lines of a function.
private let maxLines = 80

/// A file with fewer lines is short.
private let shortFile = 40

/// The most short files, in percent of all.
private let maxShortFiles = 6.0

/// State and code in pieces that fit into a head.
struct SizeTests {
  private static let files: [(name: String, text: String)] = Targets.names.flatMap { target in
    let files = (try? Targets.files(of: target)) ?? []
    return files.map { ("\(target)/\($0)", Targets.text(of: "\(target)/\($0)")) }
  }

  private static let declarations = files.map { Declarations($0.text) }

  @Test
  func `no class has many stored properties`() {
    let sizes = Self.declarations.flatMap(\.classes).map { ($0.name, $0.properties) }
    compare(sizes, limit: maxProperties)
  }

  @Test
  func `no function is long`() {
    let sizes = Self.declarations.flatMap(\.functions).map { ($0.name, $0.lines) }
    compare(sizes, limit: maxLines)
  }

  private func compare(_ sizes: [(name: String, size: Int)], limit: Int) {
    for (name, size) in sizes where size > limit {
      Issue.record("\(name) has \(size), more than \(limit): divide it")
    }
  }

  @Test
  func `few files are short`() {
    let short = Self.files.filter { $0.text.count { $0 == "\n" } < shortFile }
    let share = Double(100 * short.count) / Double(Self.files.count)
    #expect(share <= maxShortFiles, "\(short.map(\.name).sorted())")
  }

  @Test
  func `stored properties are counted`() {
    let text = #"""
      /// class A { let a: B }
      final class A {
        static let x = 1
        let (a, b): (Int, Int)
        private(set) weak var c: A?
        var d = { "}\("{" + ")")" }()
        var e: Int {
          didSet { print(e) }
        }
        var f: Int { 1 }
        var g: () -> Void = {}
        @usableFromInline lazy var h = [1].map { $0 }
        class var i: Int { 1 }
        var j:
          [String: Int]
        {
          let local = 1
          return [:]
        }
        struct Inner {
          var k = 1
        }
        func l() { let m = 1 }
      }
      """#
    #expect(Declarations(text).classes == [.init(name: "A", properties: 7)])
  }

  @Test
  func `lines of functions are counted`() {
    let text = #"""
      extension A.B {
        func one(_ body: () -> Void = {}) -> Int {
          1  // }
        }
        init() {}
        func two(
          _ a: Int
        ) {
          f({ a in
            func inner() {}
          })
          """
          }
          """
        }
      }
      protocol C {
        func three()
      }
      func four() { }
      """#
    #expect(
      Declarations(text).functions == [
        .init(name: "A.B.one", lines: 3), .init(name: "A.B.init", lines: 1),
        .init(name: "A.B.two.inner", lines: 1), .init(name: "A.B.two", lines: 10),
        .init(name: "four", lines: 1),
      ])
  }
}
