/** Servers of tests: on 127.0.0.1 alone, on a port that the kernel chooses, and gone when they are closed. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  /** Also cuts the connections that still wait for an answer. */
  close(): Promise<void>;
}

export const listenOnLoopback = async (server: Server): Promise<Listening> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
