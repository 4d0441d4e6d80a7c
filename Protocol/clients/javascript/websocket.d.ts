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
 * Returns a transport to a WebSocket bridge, such as `binder-web`: it takes one line in each text
 * message, and sends one or several, separated by LF.
 *
 * `WebSocket` may be another implementation than that of the browser. `protocols` are the WebSocket
 * protocols to offer. `maxWaiting` is the most characters that wait for the program, by default
 * 4 MiB; beyond it the connection is closed, and resumes when they are read. If the bridge closes the
 * connection with a reason, it is the message of the error, whose cause is the code.
 */
export function webSocket(
  url: string,
  options?: {
    WebSocket?: new (url: string, protocols?: string[]) => WebSocketLike;
    protocols?: string[];
    maxWaiting?: number;
  },
): Transport;
