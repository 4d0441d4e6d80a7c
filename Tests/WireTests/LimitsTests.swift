import JSON
import Testing
import Wire

struct LimitsTests {
  @Test(arguments: LimitName.allCases)
  func `a limit has a default within its range, and is set by its name`(name: LimitName) {
    var limits = Limits()
    #expect(name.row.range.contains(limits[name]))
    limits[name] = name.row.range.lowerBound
    #expect(limits[name] == name.row.range.lowerBound)
    for other in LimitName.allCases where other != name {
      #expect(limits[other] == Limits()[other], "\(other.rawValue)")
    }
  }

  @Test
  func `an error names the limit and its maximum`() {
    var limits = Limits()
    limits[.batch] = 3
    let error = WireError.limit(.batch, limits, .batchTooLarge)
    #expect(error.message == "requests of a batch: 3 at most")
    #expect(error.data == ["limit": .string("batch"), "max": .number(JSONNumber(3))])
    let deep = WireError(JSONFault(offset: 5, reason: .tooDeep))
    #expect(deep.data["limit"] == .string("depth"))
    #expect(deep.data["max"] == .number(JSONNumber(64)))
  }
}
