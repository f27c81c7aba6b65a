/** `Runtime.open({ runtimes: { NAME: { bridge } } })`: a program without a daemon runs its workers behind a bridge. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Runtime } from "../../src/library/index.ts";
import { Peer } from "../fixtures/bridges/peer.mjs";

const bridged = async () => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bridged-"));
  const socket = join(dir, "bridge.sock");
  const peer = new Peer();
  await peer.listen(socket);
  onTestFinished(async () => {
    await peer.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const open = async (serve = false) => {
    const runtime = await Runtime.open({
      stateDir: join(dir, "state"),
      serve,
      runtimes: { beam: { bridge: { socket, abilities: ["pause"] } } },
    });
    onTestFinished(() => runtime.close());
    return runtime;
  };
  return { peer, open };
};
const worker = (...argv: string[]) =>
  ({ kind: "command", argv, runtime: "beam", restart: "temporary" }) as const;

test("a worker behind a bridge says its words and ends, and is told of no daemon", async () => {
  const { peer, open } = await bridged();
  const runtime = await open();
  const { id, result } = await runtime.run(worker("print", "0", "hello"));
  expect(await result).toMatchObject({ status: "completed", text: "hello\n" });
  expect(await runtime.info(id)).toMatchObject({ backend_kind: "bridge" });
  const start = peer.asked.find(({ method }) => method === "runtime.start_agent")?.params;
  expect(start).not.toHaveProperty("daemon_socket");
  expect(start).not.toHaveProperty("plugin_config");
});

test("a worker behind a bridge may ask a program that serves its socket", async () => {
  const { open } = await bridged();
  const runtime = await open(true);
  const { result } = await runtime.run(worker("call"));
  expect((await result).text).toMatch(/"status":"ok"/);
  const children = await runtime.list({ all: true });
  expect(children.map(({ backend_kind }) => backend_kind).sort()).toEqual(["bridge", "subprocess"]);
});

test("a worker behind a bridge lives on when the program ends, and the next one takes it over", async () => {
  const { open } = await bridged();
  const first = await open();
  const { id } = await first.run(worker("wait"));
  await expect.poll(async () => (await first.output(id)).text).toBe("ready\n");
  await first.close({ agents: "keep" });
  const next = await open();
  expect(await next.info(id)).toMatchObject({ state: "running", incarnation: 1 });
  await next.kill(id);
  expect(await next.wait(id)).toMatchObject({ status: "cancelled" });
});

test("a bridge that is misnamed is refused before anything is opened", async () => {
  const opening = Runtime.open({ runtimes: { beam: { bridge: { socket: "relative.sock" } } } });
  await expect(opening).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});
