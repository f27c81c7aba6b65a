/** The way from the loopback of a sandbox to the proxy outside: each connection goes to the socket that is mounted there. */
import { connect, createServer } from "node:net";
import { PROXY_AT_ONCE_MAX } from "../../base/limits.ts";
import { PROXY_PORT, PROXY_SOCKET } from "./variables.ts";

/** Resolves once it takes connections. It keeps no process alive. */
export const openTunnel = (): Promise<void> =>
  new Promise((opened, failed) => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const proxy = connect({ path: PROXY_SOCKET, allowHalfOpen: true });
      for (const [one, other] of [
        [client, proxy],
        [proxy, client],
      ] as const) {
        one.on("error", () => other.destroy());
        one.pipe(other);
      }
    });
    server.maxConnections = PROXY_AT_ONCE_MAX;
    server.once("error", failed);
    server.listen(PROXY_PORT, "127.0.0.1", () => opened());
    server.unref();
  });
