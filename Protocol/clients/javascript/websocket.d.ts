import type { Transport } from "./binder.js";

/** What the transport needs of a WebSocket; that of a browser has it. */
export interface WebSocketLike {
  readonly bufferedAmount: number;
  onopen: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onmessage: ((event: { data: any }) => void) | null;
  send(line: string): void;
  close(): void;
}

/**
 * Returns a transport to a WebSocket bridge that sends one text frame for each line. `WebSocket` may
 * be another implementation than that of the browser.
 */
export function webSocket(
  url: string,
  options?: { WebSocket?: new (url: string) => WebSocketLike },
): Transport;
