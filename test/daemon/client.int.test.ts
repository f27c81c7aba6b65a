/** The client's end of the socket, against the daemon's: a request that is refused, or cannot be answered, ends with its own error. */
import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { REQUEST_MAX_BYTES } from "../../src/base/limits.ts";
import { makeClient } from "../../src/daemon/client.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { makeFakeRuntime } from "./support/fake-runtime.ts";
import { startTestDaemon, type TestDaemon, until } from "./support/wire.ts";

let daemon: TestDaemon | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await daemon?.stop();
});

const connected = async (path: string): Promise<Socket> => {
  const socket = createConnection({ path });
  sockets.push(socket);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
};
const spec: WorkerSpecInput = { kind: "command", cwd: "/", restart: "temporary", argv: ["true"] };

describe("a client", () => {
  it("sends nothing that the daemon would not read, and goes on", async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a"]));
    const client = makeClient(await connected(daemon.socket));
    // Six bytes each as JSON.
    const prompt = "\u0001".repeat(REQUEST_MAX_BYTES / 6);
    await expect(client.ask("agent/spawn", { spec: { ...spec, prompt } })).rejects.toMatchObject({
      code: "REQUEST_TOO_LARGE",
      info: { phase: "validation" },
    });
    expect(await client.request("agent/list", {})).toMatchObject({ workers: expect.any(Array) });
    client.close();
  });

  it("gives a request up, which then ends at the daemon too", async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a"]));
    const client = makeClient(await connected(daemon.socket));
    const giveUp = new AbortController();
    const asked = client.ask("agent/wait", { ids: ["a"] }, giveUp.signal);
    giveUp.abort();
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(client.ask("agent/list", {}, giveUp.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    // One is the request that asks.
    const isAlone = async () => (await client.request("daemon/status", {})).requests_in_flight === 1;
    await until("only the question itself is in flight", isAlone);
    expect(client.inFlight()).toBe(0);
    client.close();
  });

  it("with a wrong token is told so, whatever it was writing", async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a"]));
    const client = makeClient(await connected(daemon.socket), "not-the-token");
    const large = { spec: { ...spec, prompt: "x".repeat(1_000_000) } };
    const asked = [
      client.ask("agent/list", {}),
      ...Array.from({ length: 8 }, () => client.ask("agent/spawn", large)),
    ];
    for (const one of await Promise.allSettled(asked))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "NOT_AUTHORISED" } });
    expect(client.isBroken()).toBe(true);
  });

  it("beyond the connections that are taken is told so, whatever it was writing", async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a"]), { HOLDFAST_MAX_CONNECTIONS: "2" });
    const first = makeClient(await connected(daemon.socket));
    const second = makeClient(await connected(daemon.socket));
    await Promise.all([first, second].map((client) => client.request("agent/list", {})));
    const third = makeClient(await connected(daemon.socket));
    const large = { spec: { ...spec, prompt: "x".repeat(1_000_000) } };
    await expect(third.ask("agent/spawn", large)).rejects.toMatchObject({ code: "QUEUE_FULL" });
    // It is let go of, and its place is nobody's.
    first.close();
    await until("a free place", async () => {
      const next = makeClient(await connected(daemon!.socket));
      return next.request("agent/list", {}).then(
        () => true,
        () => false,
      );
    });
  });

  it("whose line could not be read ends with the daemon's own error", async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a"]));
    const socket = await connected(daemon.socket);
    const client = makeClient(socket);
    socket.write(`${"x".repeat(REQUEST_MAX_BYTES + 1)}\n`);
    await expect(client.ask("agent/wait", { ids: ["a"] })).rejects.toMatchObject({
      code: "REQUEST_TOO_LARGE",
    });
  });
});
