import Model
import Testing

struct HistogramTests {
  @Test
  func `a duration counts in its bucket and in all longer ones`() {
    var times = Histogram()
    times.add(1_000)
    times.add(1_001)
    times.add(10_000_000_000)
    let buckets = Dictionary(uniqueKeysWithValues: times.buckets.map { ($0.bound, $0.count) })
    #expect(buckets[1_000] == 1)
    #expect(buckets[2_500] == 2)
    #expect(buckets[5_000_000_000] == 2)
    #expect(buckets[10_000_000_000] == 3)
    #expect(times.count == 3)
    #expect(times.nanoseconds == 10_000_002_001)
  }

  @Test
  func `a duration longer than all bounds counts only in the total`() {
    var times = Histogram()
    times.add(10_000_000_001)
    #expect(times.buckets.allSatisfy { $0.count == 0 })
    #expect(times.count == 1)
  }
}
