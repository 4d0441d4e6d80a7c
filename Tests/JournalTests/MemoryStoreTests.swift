import Journal
import JournalMemory
import Model
import Signals
import TestSupport
import Testing

struct MemoryStoreTests {
  let store = MemoryStore()

  @Test
  func `rejected events are removed, and their positions are reused`() throws {
    _ = try store.append([draft("a")])
    store.commit()
    _ = try store.append([draft("a"), draft("b")])
    var reasons: [JournalError] = []
    let observer = StoreObserver(of: store)
    observer.onRejected = { reasons.append($0) }

    let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)
    store.reject(full)

    #expect(reasons == [full])
    #expect(store.last == 1)
    #expect(store.head(of: "a") == Head(seq: 1, version: 1, charge: .ofOneLetter))
    #expect(store.head(of: "b") == .none)
    #expect(try store.append([draft("b")]) == 2)
    observer.end()
  }

  @Test
  func `after a failure nothing is appended`() throws {
    let broken = JournalError.readOnly(reason: "EIO", outcome: .unknown)
    var end: JournalError?
    let observer = StoreObserver(of: store)
    observer.onFailed = { end = $0 }
    _ = try store.append([draft("a")])
    store.fail(broken)
    #expect(end == broken)
    #expect(throws: broken) { try store.append([draft("a")]) }
    observer.end()
  }
}
