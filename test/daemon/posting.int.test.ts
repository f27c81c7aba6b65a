/** Posts over a connection that is kept, to a server that closes it when it likes. */
import { Agent, createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { sendPost } from "../../src/daemon/posting.ts";

let server: Server;
let agent: Agent | undefined;
let connections = 0;
afterEach(() => {
  agent?.destroy();
  server.closeAllConnections();
  server.close();
});

const served = async (listener: RequestListener): Promise<URL> => {
  connections = 0;
  server = createServer(listener).on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
};
const post = (url: URL) =>
  sendPost({ url, headers: {}, body: "x", timeout_ms: 10_000, answer_max_bytes: 1_024, agent });

it("one after the other share a connection, or have their own", async () => {
  const url = await served((request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  agent = undefined;
  await post(url);
  await post(url);
  expect(connections).toBe(2);
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await post(url);
  await post(url);
  expect(connections).toBe(3);
});

it("is sent again over a new connection where the kept one was closed meanwhile", async () => {
  const asked = new Map<unknown, number>();
  const url = await served((request, response) => {
    const times = (asked.get(request.socket) ?? 0) + 1;
    asked.set(request.socket, times);
    if (times > 1) request.socket.destroy();
    else request.resume().on("end", () => response.end("ok"));
  });
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await post(url)).status).toBe(200);
  expect((await post(url)).status).toBe(200);
  expect(connections).toBe(2);
});

it("fails where a new connection breaks", async () => {
  const url = await served((request) => request.socket.destroy());
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await expect(post(url)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(connections).toBe(1);
});
