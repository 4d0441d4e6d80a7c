package import EventSourcing
package import Signals

/// The machine's statistics; measured only while observed, never journaled.
package final class SystemService {
  package let load: Sampled<Load?>
  package let memory: Sampled<Memory?>
  package let processor: Sampled<Processor?>
  package let uptime: Sampled<Double?>
  package let disks: Sampled<[Disk]>

  /// - Parameter interval: Seconds between measurements. File systems are measured at every tenth
  ///   interval.
  package init(_ probe: any MachineProbe, on scheduler: any Scheduler, every interval: Double = 1) {
    load = Sampled(every: interval, on: scheduler) { probe.load }
    memory = Sampled(every: interval, on: scheduler) { probe.memory }
    uptime = Sampled(every: interval, on: scheduler) { probe.uptime?.rounded() }
    disks = Sampled(every: 10 * interval, on: scheduler) { probe.disks }
    var before: ProcessorTimes?
    processor = Sampled(every: interval, on: scheduler) {
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
