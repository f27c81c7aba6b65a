/**
 * Connections to an HTTP server, and event streams on them. As a program it opens many streams, says that they are open, and holds
 * them until it is killed.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const CONNECTING_MAX = 100;

/** An HTTP server on 127.0.0.1, and the secret that it takes. */
export interface Http {
  readonly port: number;
  readonly secret: string;
}

export interface CrowdPart {
  readonly path: string;
  readonly count: number;
  /** They read the head of the answer and nothing more. */
  readonly isDeaf?: boolean;
}

export const headOf = (path: string, { port, secret }: Http): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${secret}\r\n\r\n`;

export const opened = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket.on("error", () => undefined).setNoDelay();
};

export const streams = async (http: Http, { path, count, isDeaf }: CrowdPart): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const socket = await opened(http.port);
      sockets.push(socket);
      socket.write(headOf(path, http));
      await once(socket, "data");
      if (isDeaf) socket.pause();
    }
  };
  await Promise.all(Array.from({ length: CONNECTING_MAX }, one));
  return sockets;
};

if (import.meta.main) {
  const { http, asked } = JSON.parse(process.argv[2]!) as { http: Http; asked: readonly CrowdPart[] };
  for (const part of asked) await streams(http, part);
  process.stdout.write("open");
}
