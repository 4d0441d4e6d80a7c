import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct PastValuesTests {
  let bench: Bench

  init() throws {
    bench = try Bench()
    for i in 1...9 { try bench.set("n\(i)", "\(i)") }
    try bench.set("n1", "10")
    bench.store.commit()
  }

  private func values(
    at seq: UInt64, in service: String? = nil, behind name: String? = nil, maxBytes: Int = .max,
    where isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
  ) throws -> PastValues {
    var result: Result<PastValues, JournalError>?
    let observation = bench.host.values(
      in: service, at: seq, behind: name, maxBytes: maxBytes, where: isWanted
    ).observe { event in
      switch event {
      case .next(let values): result = .success(values)
      case .failed(let fault): result = .failure(fault)
      case .completed: break
      }
    }
    bench.store.read()
    observation.dispose()
    return try #require(result).get()
  }

  @Test
  func `past values are filtered and sorted by name`() throws {
    let past = try values(at: 3, in: "cells")
    #expect(past.values.map(\.source) == ["cells/n1", "cells/n2", "cells/n3"])
    #expect(past.values.map(\.value.text) == ["1", "2", "3"])
    #expect(!past.isMore)
    #expect(try values(at: 10) { $0 == "cells/n1" }.values.map(\.value.text) == ["10"])
    #expect(try values(at: 0, in: "cells").values.isEmpty)
    #expect(throws: JournalError.outOfRange(first: 1, last: 10)) { try values(at: 11) }
  }

  @Test
  func `a page holds the values that fit, at least one`() throws {
    var names: [String] = []
    var pages = 0
    while true {
      let page = try values(at: 9, in: "cells", behind: names.last, maxBytes: 40)
      names += page.values.map(\.source)
      pages += 1
      guard page.isMore, pages < 20 else { break }
    }
    #expect(names == (1...9).map { "cells/n\($0)" })
    // Name, value, quotes and punctuation take 13 bytes.
    #expect(pages == 3)
    let page = try values(at: 9, in: "cells", maxBytes: 1)
    #expect(page.values.map(\.source) == ["cells/n1"])
    #expect(page.isMore)
  }
}
