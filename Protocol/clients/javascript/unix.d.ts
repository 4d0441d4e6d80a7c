import type { Transport } from "./binder.js";

/**
 * Returns a transport to the daemon's Unix socket, for Node. Without a path the environment
 * decides, as for `bindctl`.
 */
export function unixSocket(path?: string): Transport;
