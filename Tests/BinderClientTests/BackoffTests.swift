import BinderClient
import Testing

struct BackoffTests {
  @Test
  func `pauses double from a tenth of a second to five seconds`() {
    var backoff = Backoff()
    let longest = (0..<8).map { _ in backoff.next(chance: 1) }
    #expect(longest == [100, 200, 400, 800, 1600, 3200, 5000, 5000])
  }

  @Test
  func `random jitter shortens a pause by up to half`() {
    var backoff = Backoff()
    #expect(backoff.next(chance: 0) == 50)
    #expect(backoff.next(chance: 0.5) == 150)
  }

  @Test
  func `a success resets the pauses`() {
    var backoff = Backoff()
    _ = (0..<5).map { _ in backoff.next(chance: 1) }
    backoff.reset()
    #expect(backoff.next(chance: 1) == 100)
  }
}
