package import Connections
internal import EventSourcing
internal import Signals

/// Shows the measurements of the machine.
package func bindSystem(_ view: View, to system: SystemService) {
  system.load.computed.bind(to: view["load"])
  system.memory.computed.bind(to: view["memory"])
  system.processor.computed.bind(to: view["cpu"])
  system.uptime.computed.bind(to: view["uptime"])
  system.disks.computed.bind(to: view["disks"])
}
