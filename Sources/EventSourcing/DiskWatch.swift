package import Signals

/// The room on the file system of the journal, in bytes.
package struct DiskRoom: Equatable, Sendable {
  package let available: UInt64
  package let total: UInt64

  package init(available: UInt64, total: UInt64) {
    (self.available, self.total) = (available, total)
  }
}

/// Watches the free room of the disk, so that the last of it is reserved for administrators.
///
/// It measures every ten seconds, and whenever half the reserve was written.
package final class DiskWatch {
  /// The state of the disk.
  package enum Level: Sendable {
    /// There is room.
    case ample

    /// Less than twice the reserve is free.
    case low

    /// Less than the reserve is free: only administrators may write.
    case reserved
  }

  /// The bytes that are reserved; at most a twentieth of the file system, and nothing of one that
  /// has less than 20 MiB.
  package var reserve: Int

  /// The last measurement; `nil` before the first, and where it is not possible.
  package private(set) var room: DiskRoom?

  /// The level of the last measurement.
  package var level: Level { host.shares.disk }

  /// Called with each change of the level.
  package var onChange: (_ level: Level, _ room: DiskRoom, _ reserve: UInt64) -> Void = { _, _, _ in
  }

  private let host: ServiceHost
  private let scheduler: any Scheduler
  private let measure: () -> Signal<DiskRoom?, Never>
  private var writtenBefore: UInt64 = 0
  private var isMeasuring = false
  private var timer: (any Disposable)?
  private let bag = DisposeBag()

  private static let interval: Double = 10
  private static let least: UInt64 = 1 << 20

  /// - Parameter measure: Measures the file system, off the loop.
  package init(
    _ host: ServiceHost, on scheduler: any Scheduler, reserve: Int,
    _ measure: @escaping () -> Signal<DiskRoom?, Never>
  ) {
    (self.host, self.scheduler, self.reserve) = (host, scheduler, reserve)
    self.measure = measure
  }

  /// Begins to measure.
  package func start() {
    look()
    repeatLook()
    host.progress.observeNext { [unowned self] _ in
      if host.shares.total &- writtenBefore >= step { look() }
    }
    .dispose(in: bag)
  }

  /// Stops; the disk keeps its level.
  package func stop() {
    timer?.dispose()
    timer = nil
    bag.dispose()
  }

  private func repeatLook() {
    timer = scheduler.schedule(after: Self.interval) { [weak self] in
      self?.look()
      self?.repeatLook()
    }
  }

  /// Measures now, unless a measurement is running.
  package func look() {
    guard !isMeasuring else { return }
    isMeasuring = true
    writtenBefore = host.shares.total
    measure().observeNext { [unowned self] room in
      isMeasuring = false
      if let room { apply(room) }
    }
    .dispose(in: bag)
  }

  /// The bytes that may be written between two measurements.
  private var step: UInt64 { max(Self.least, (room.map(reserve(on:)) ?? 0) / 2) }

  /// The bytes of the reserve on a file system.
  package func reserve(on room: DiskRoom) -> UInt64 {
    let part = room.total / 20
    return part < Self.least ? 0 : min(UInt64(reserve), part)
  }

  private func apply(_ room: DiskRoom) {
    self.room = room
    let reserve = reserve(on: room)
    let before = level
    if room.available < reserve {
      host.shares.disk = .reserved
    } else if room.available < 2 * reserve {
      host.shares.disk = .low
    } else {
      host.shares.disk = .ample
    }
    if level != before { onChange(level, room, reserve) }
  }
}
