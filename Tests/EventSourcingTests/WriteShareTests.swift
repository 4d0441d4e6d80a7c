import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// The share of the journal that each user may write, in virtual time.
@Suite(.leavesNothing)
struct WriteShareTests {
  private final class House {
    let store = MemoryStore()
    let host: ServiceHost
    let cells: CellsService
    var milliseconds: UInt64 = 0

    init() throws {
      host = ServiceHost(store: store)
      cells = CellsService(in: host)
      try host.start()
      host.owners = [0]
      (host.shares.bytesPerSecond, host.shares.burst) = (1_000, 10_000)
      host.shares.now = { [unowned self] in milliseconds }
    }

    func set(
      _ bytes: Int, by user: UInt32, as origin: Command.Origin = .request
    ) throws(Refusal) {
      var command = Command(method: "m", caller: Peer(uid: user, pid: 1))
      command.origin = origin
      _ = try host.perform(command) {
        _ = try cells.set(
          "c\(user)", to: JSONText(trusted: "\"\(String(repeating: "x", count: bytes))\""))
        return nil
      }
      store.commit()
    }
  }

  @Test
  func `a user writes the burst at once, then waits until the rate has made room`() throws {
    let house = try House()
    let shares = house.host.shares
    var spent: [UInt32] = []
    let observation = shares.spent.observeNext { spent.append($0) }
    defer { observation.dispose() }
    try house.set(4_000, by: 7)
    #expect(!shares.isSpent(7))
    try house.set(7_000, by: 7)
    #expect(shares.isSpent(7))
    #expect(spent == [7])
    #expect(!shares.isSpent(8), "another user has a share of their own")
    let wait = shares.wait(of: 7)
    #expect(1_000...2_000 ~= wait, "\(wait)")
    house.milliseconds += wait - 1
    #expect(shares.isSpent(7))
    house.milliseconds += 2
    #expect(!shares.isSpent(7))
    house.milliseconds += 3_600_000
    try house.set(9_000, by: 7)
    #expect(!shares.isSpent(7), "the room never exceeds the burst, and all of it is there")
    try house.set(1_000, by: 7)
    #expect(shares.isSpent(7))
    #expect(shares.written(by: 7) > 21_000)
    #expect(shares.total == shares.written(by: 7))
  }

  @Test
  func `administrators have no rate, and a command that fails costs nothing`() throws {
    let house = try House()
    try house.set(50_000, by: 0)
    #expect(!house.host.shares.isSpent(0))
    #expect(house.host.shares.written(by: 0) > 50_000)
    house.host.quota = StateQuota(total: 1_000, ofUser: 1_000)
    #expect(throws: Refusal.self) { try house.set(20_000, by: 7) }
    #expect(house.host.shares.written(by: 7) == 0)
    #expect(!house.host.shares.isSpent(7))
  }

  @Test
  func `a binding of a user without room is refused, and what the daemon has promised is not`()
    throws
  {
    let house = try House()
    try house.set(12_000, by: 7)
    do throws(Refusal) {
      try house.set(1, by: 7, as: .binding)
      Issue.record("it was not refused")
    } catch {
      guard case .journal(.readOnly("journal_rate_user", .none)) = error else {
        Issue.record("\(error)")
        return
      }
    }
    try house.set(1, by: 7, as: .promise)
    try house.set(1, by: 8, as: .binding)
    house.milliseconds += 5_000
    try house.set(1, by: 7, as: .binding)
  }

  // MARK: The disk

  /// A disk with as much room as the test says.
  private final class FakeDisk {
    var room: DiskRoom? = FakeDisk.room(10_000)
    var measurements = 0

    /// Returns the room of a disk of 100 000 MiB with some MiB free.
    static func room(_ available: UInt64) -> DiskRoom {
      DiskRoom(available: available << 20, total: 100_000 << 20)
    }

    private(set) var levels: [DiskWatch.Level] = []
    let scheduler = ManualScheduler()
    let watch: DiskWatch

    init(_ host: ServiceHost, reserve: Int) {
      var measure: () -> DiskRoom? = { nil }
      watch = DiskWatch(host, on: scheduler, reserve: reserve) {
        Signal { observer in
          observer.receive(measure())
          observer.complete()
          return NonDisposable.instance
        }
      }
      measure = { [unowned self] in
        measurements += 1
        return room
      }
      watch.onChange = { [unowned self] level, _, _ in levels.append(level) }
      watch.start()
    }
  }

  private func isRefused(_ house: House, by user: UInt32, as origin: Command.Origin = .request)
    -> Bool
  {
    do throws(Refusal) {
      try house.set(1, by: user, as: origin)
      return false
    } catch {
      guard case .journal(.readOnly("disk_reserve", .none)) = error else {
        Issue.record("\(error)")
        return false
      }
      return true
    }
  }

  @Test
  func `the last room of the disk is for administrators, with a warning before`() throws {
    let house = try House()
    let disk = FakeDisk(house.host, reserve: 2_000 << 20)
    defer { disk.watch.stop() }
    #expect(!isRefused(house, by: 7))
    disk.room = FakeDisk.room(3_000)
    disk.scheduler.advance(10)
    #expect(disk.levels == [.low])
    #expect(!isRefused(house, by: 7))
    disk.room = FakeDisk.room(1_999)
    disk.scheduler.advance(10)
    #expect(disk.levels == [.low, .reserved])
    #expect(isRefused(house, by: 7))
    #expect(isRefused(house, by: 7, as: .binding))
    #expect(!isRefused(house, by: 0))
    #expect(!isRefused(house, by: 7, as: .promise), "a will runs")
    // A measurement that fails changes nothing.
    disk.room = nil
    disk.scheduler.advance(10)
    #expect(isRefused(house, by: 7))
    disk.room = FakeDisk.room(50_000)
    disk.scheduler.advance(10)
    #expect(disk.levels == [.low, .reserved, .ample])
    #expect(!isRefused(house, by: 7))
  }

  @Test
  func `on a disk with little room, who has written most is refused first`() throws {
    let house = try House()
    let disk = FakeDisk(house.host, reserve: 2_000 << 20)
    defer { disk.watch.stop() }
    try house.set(30_000, by: 8)
    try house.set(100, by: 7)
    #expect(!isRefused(house, by: 8))
    disk.room = FakeDisk.room(3_000)
    disk.scheduler.advance(10)
    #expect(disk.levels == [.low])
    #expect(isRefused(house, by: 8))
    #expect(!isRefused(house, by: 7) && !isRefused(house, by: 0))
    disk.room = FakeDisk.room(50_000)
    disk.scheduler.advance(10)
    #expect(!isRefused(house, by: 8))
  }

  @Test
  func `a role sets the rate and the burst of its users`() throws {
    let house = try House()
    house.host.roleLimits.ofUser = { user in
      user == 7 ? [.journalRatePerUser: 100, .journalBurstPerUser: 2_000] : [:]
    }
    house.host.shares.refreshLimits()
    for user: UInt32 in [7, 8] { try house.set(3_000, by: user) }
    #expect(house.host.shares.isSpent(7) && !house.host.shares.isSpent(8))
    #expect(10_000...13_000 ~= house.host.shares.wait(of: 7), "1,000 bytes and more, 100 a second")
    // A reload with other limits applies to those who wait.
    house.host.roleLimits.ofUser = nil
    house.host.shares.refreshLimits()
    #expect(!house.host.shares.isSpent(7))
  }

  @Test
  func `the reserve is at most a twentieth of the disk`() throws {
    let house = try House()
    let disk = FakeDisk(house.host, reserve: 1 << 40)
    defer { disk.watch.stop() }
    #expect(disk.levels.isEmpty)
    #expect(disk.watch.reserve(on: FakeDisk.room(0)) == 5_000 << 20)
    #expect(disk.watch.reserve(on: DiskRoom(available: 0, total: 19 << 20)) == 0)
    #expect(!isRefused(house, by: 7))
  }

  @Test
  func `the disk is measured again when half the reserve was written`() throws {
    let house = try House()
    let disk = FakeDisk(house.host, reserve: 4 << 20)
    defer { disk.watch.stop() }
    #expect(disk.measurements == 1)
    for _ in 0..<9 { try house.set(250_000, by: 0) }
    #expect(disk.measurements == 2)
    for _ in 0..<9 { try house.set(250_000, by: 0) }
    #expect(disk.measurements == 3)
  }
}
