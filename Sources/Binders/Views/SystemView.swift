package import Connections
package import Services
internal import Signals

/// Shows how this machine is.
package func bindSystem(_ view: View, to system: SystemService) {
  system.load.bind(to: view["load"])
  system.memory.bind(to: view["memory"])
  system.processor.bind(to: view["cpu"])
  system.uptime.bind(to: view["uptime"])
  system.disks.bind(to: view["disks"])
}
