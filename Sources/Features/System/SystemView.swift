package import Connections
internal import EventSourcing
internal import Signals

/// Shows the measurements of the machine.
package func bindSystem(_ view: View, to system: SystemService) {
  system.uptime.computed.bind(to: view["uptime"].hint(.seconds))
  system.processor.map { $0?.cores }.bind(to: view["cores"])
  system.processor.map { $0?.busy }.bind(to: view["busy"].hint(.share))
  system.load.computed.bind(to: view["load"])
  system.memory.computed.bind(to: view["memory"].hint(.bytes))
  system.disks.computed.bind(to: view["disks"].hint(.bytes))
}
