package import EventSourcing
package import Signals

/// The machine's statistics; measured only while observed, never journaled.
package final class SystemService {
  package let load: PolledValue<Load?>
  package let memory: PolledValue<Memory?>
  package let processor: PolledValue<Processor?>
  package let uptime: PolledValue<Double?>
  package let disks: PolledValue<[Disk]>

  /// - Parameter interval: Seconds between measurements. File systems are measured at every tenth
  ///   interval.
  package init(_ probe: any MachineProbe, on scheduler: any Scheduler, every interval: Double = 1) {
    load = PolledValue(every: interval, on: scheduler) { probe.load }
    memory = PolledValue(every: interval, on: scheduler) { probe.memory }
    uptime = PolledValue(every: interval, on: scheduler) { probe.uptime?.rounded() }
    disks = PolledValue(every: 10 * interval, on: scheduler) { probe.disks }
    var before: ProcessorTimes?
    processor = PolledValue(every: interval, on: scheduler) {
      guard let now = probe.processorTimes else { return nil }
      defer { before = now }
      // The first measurement is the average since boot.
      let busy = now.busy - (before?.busy ?? 0)
      let total = max(1, now.total - (before?.total ?? 0))
      return Processor(
        cores: now.cores, busy: (Double(busy) / Double(total) * 1000).rounded() / 1000)
    }
  }
}

/// Measurements of the machine; unavailable ones are `nil`.
package protocol MachineProbe {
  /// The load averages.
  var load: Load? { get }
  var memory: Memory? { get }

  /// The processor time since boot.
  var processorTimes: ProcessorTimes? { get }

  /// Seconds since boot.
  var uptime: Double? { get }

  /// The file systems that hold data, by mount point.
  var disks: [Disk] { get }
}

/// Averages of the run queue over 1, 5 and 15 minutes.
package struct Load: Codable, Equatable {
  package let one: Double
  package let five: Double
  package let fifteen: Double

  package init(one: Double, five: Double, fifteen: Double) {
    self.one = one
    self.five = five
    self.fifteen = fifteen
  }
}

/// Memory in bytes.
package struct Memory: Codable, Equatable {
  package let total: UInt64

  /// The memory that programs can allocate without swapping.
  package let available: UInt64
  package let swapTotal: UInt64
  package let swapFree: UInt64

  package init(total: UInt64, available: UInt64, swapTotal: UInt64, swapFree: UInt64) {
    self.total = total
    self.available = available
    self.swapTotal = swapTotal
    self.swapFree = swapFree
  }

  private enum CodingKeys: String, CodingKey {
    case total, available
    case swapTotal = "swap_total"
    case swapFree = "swap_free"
  }
}

/// The processor time of all cores together, in ticks of any unit.
package struct ProcessorTimes: Equatable {
  package let busy: UInt64
  package let total: UInt64
  package let cores: Int

  package init(busy: UInt64, total: UInt64, cores: Int) {
    self.busy = busy
    self.total = total
    self.cores = cores
  }
}

/// The processor usage.
package struct Processor: Codable, Equatable {
  package let cores: Int

  /// The usage of all cores since the last measurement, from 0 to 1.
  package let busy: Double
}

/// A file system, in bytes.
package struct Disk: Codable, Equatable {
  package let path: String
  package let total: UInt64
  package let available: UInt64

  package init(path: String, total: UInt64, available: UInt64) {
    self.path = path
    self.total = total
    self.available = available
  }
}
