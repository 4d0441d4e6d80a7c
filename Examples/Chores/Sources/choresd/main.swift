import Binder

Daemon.main("choresd") { host, catalog in bindChores(catalog, to: ChoreService(in: host)) }
