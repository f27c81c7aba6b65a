/** Serves the wire at an address, with TLS or without, within bounds of bytes, time and connections. */
import { createServer } from "node:http";
import type { Server, Socket } from "node:net";
import { authorityOf, type HttpAddress } from "../../base/http-address.ts";
import { WEBLISK_CONNECTIONS_MAX, WEBLISK_HEAD_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type Answering, answererOf, mistaken, PATIENCE, type Patience } from "./http-parts.ts";
import { secureServer, type TlsTerms } from "./secure.ts";

export interface Listening {
  readonly address: HttpAddress;
  /** Without a slash at its end. */
  readonly url: string;
  /** Takes no new connection, and closes those that are left. */
  close(): void;
}

export interface ListenTerms {
  /** Without it, tokens go over the wire as they are: listen at a loopback address alone. */
  readonly tls?: TlsTerms | undefined;
  readonly patience?: Patience;
}

/** Rejects with UNAVAILABLE if it cannot listen there. */
export const listen = (
  server: Answering,
  { host, port }: HttpAddress,
  { tls, patience = PATIENCE }: ListenTerms = {},
): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const made = tls === undefined ? plainServer(server, patience) : secureServer(server, tls, patience);
    made.maxConnections = WEBLISK_CONNECTIONS_MAX;
    const open = new Set<Socket>();
    made.on("connection", (socket: Socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    });
    made.once("error", (cause) => {
      const place = authorityOf({ host, port });
      const suggestion =
        "End the program that has the port, or choose another one: --listen, --federation or --admin.";
      reject(
        new HoldfastError("UNAVAILABLE", `Weblisk cannot be served at ${place}: ${cause.message}.`, {
          cause,
          suggestion,
        }),
      );
    });
    made.listen({ host, port }, () => {
      const address = addressOf(made, host);
      const close = (): void => {
        made.close();
        for (const socket of open) socket.destroy();
      };
      resolve({ address, url: `${tls === undefined ? "http" : "https"}://${authorityOf(address)}`, close });
    });
  });

const plainServer = (server: Answering, patience: Patience): Server => {
  const { head_ms, request_ms, look_ms, idle_ms } = patience;
  const options = {
    maxHeaderSize: WEBLISK_HEAD_MAX_BYTES,
    headersTimeout: head_ms,
    requestTimeout: request_ms,
    keepAliveTimeout: idle_ms,
    connectionsCheckingInterval: look_ms,
  };
  return createServer(options, answererOf(server, patience)).on("clientError", mistaken);
};

const addressOf = (made: Server, host: string): HttpAddress => {
  const address = made.address();
  return { host, port: typeof address === "object" && address !== null ? address.port : 0 };
};
