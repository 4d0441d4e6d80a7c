import Testing

/// Functions are named by the verb that is meant.
struct VerbTests {
  /// Verbs that say little: a function that takes or notes something may receive, apply, record or count it.
  private static let vague = ["note", "settle", "take"]

  /// The functions that may be called so, each with its reason.
  private static let allowed = [
    "bindctl/Command.swift note": "a noun: a message beside the result",
    "Journal/StoreReports.swift note": "a noun: a text that the journal keeps",
    "EventSourcing/ServiceHost.swift note": "a noun: a text that the journal keeps",
    "JournalPostgres/Store/PostgresStore+Lease.swift takeOver": "the term for a new active daemon",
    "JournalPostgres/Store/PostgresStore+Lease.swift takeOverIfDue": "as `takeOver`",
    "RxDialect/Operators.swift take": "RxSwift's name",
    "SignalsDialects/Unordered/UnorderedChanges.swift take": "removes and returns",
    "SignalsDialects/Unordered/UnorderedChanges.swift takeAll": "removes and returns",
  ]

  @Test
  func `no function has a vague verb`() throws {
    var found: Set<String> = []
    for target in Targets.names {
      for file in try Targets.files(of: target) {
        let name = "\(target)/\(file)"
        found.formUnion(Self.vagueFunctions(in: Targets.text(of: name)).map { "\(name) \($0)" })
      }
    }
    #expect(found == Set(Self.allowed.keys), "use the verb that is meant")
  }

  @Test
  func `vague verbs are found`() {
    let text = """
      func take(_ x: Int) {}
      private mutating func noteLoss() {}
      func settle<T>(_ t: T) {}
      func takeover() {}
      func notes() {}
      // take it
      let f = take(1)
      """
    #expect(Self.vagueFunctions(in: text) == ["take", "noteLoss", "settle"])
  }

  /// The names of the functions in a text that begin with a vague verb.
  private static func vagueFunctions(in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      guard let start = line.firstRange(of: "func ") else { return nil }
      let name = line[start.upperBound...].prefix { $0.isLetter || $0.isNumber }
      guard let verb = vague.first(where: { name.hasPrefix($0) }) else { return nil }
      let rest = name.dropFirst(verb.count)
      return rest.isEmpty || rest.first?.isUppercase == true ? String(name) : nil
    }
  }
}
