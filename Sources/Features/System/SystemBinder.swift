package import API

/// Offers the measurements of the machine to clients.
package func bindSystem(_ catalog: Catalog, to system: SystemService) {
  catalog.offer("system", "This machine, measured every second while somebody watches.")
  catalog.offerView(
    "system", of: "system", "The state of this machine.",
    reads: ["load", "memory", "cpu", "uptime", "disk"].map { "system/" + $0 }, isOfMachine: true
  ) { view, _ in
    bindSystem(view, to: system)
  }
  catalog.offerSource(
    "system/load", "Averages of the run queue over 1, 5 and 15 minutes.", system.load)
  catalog.offerSource("system/memory", "Memory and swap, in bytes.", system.memory)
  catalog.offerSource(
    "system/cpu", "How busy the processors are, 0 to 1, since the last measurement.",
    system.processor)
  catalog.offerSource("system/uptime", "Seconds since the machine was started.", system.uptime)
  catalog.offerSource(
    "system/disk", "File systems that hold data, in bytes, every ten seconds.", system.disks)
}
