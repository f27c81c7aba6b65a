/** The socket against who means it harm, or is broken: every bound answers with a typed error, and the others are served. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  REQUEST_LINE_MAX_MS,
  REQUEST_MAX_DEPTH,
  REQUEST_MISTAKES_MAX,
  REQUESTS_IN_FLIGHT_MAX,
} from "../../src/base/limits.ts";
import { closeToOthers, exposedIn } from "../../src/daemon/modes.ts";
import { type Client, connect, startTestDaemon, type TestDaemon, until } from "./support/wire.ts";

let daemon: TestDaemon;
let client: Client;
beforeEach(async () => {
  daemon = await startTestDaemon();
  client = await connect(daemon.socket);
});
afterEach(async () => {
  client.socket.destroy();
  await daemon.stop();
});

const isServed = async (): Promise<void> => {
  const other = await connect(daemon.socket);
  other.send("agent/list", {}, "l");
  expect((await other.answer("l")).status).toBe("ok");
  other.socket.destroy();
};

test("thousands of pipelined requests are all answered", async () => {
  for (let n = 0; n < 5_000; n += 1) client.send("agent/list", {}, `r${n}`);
  await until("all are answered", () => client.received.length === 5_000);
  expect(client.received.filter(({ status }) => status !== "ok")).toEqual([]);
});

test("the last of many pipelined requests is answered to a client that closes its sending side", async () => {
  for (let n = 0; n < 1_000; n += 1) client.send("agent/list", {}, `r${n}`);
  client.socket.end();
  await until("all are answered", () => client.received.length === 1_000);
  await until("the daemon closes", () => client.closed());
});

test("a request that nests too deep is refused before it is built", async () => {
  const nested = (depth: number) =>
    `{"version":1,"command":"agent/list","data":{"x":${"[".repeat(depth)}"\\"[["${"]".repeat(depth)}}}\n`;
  client.socket.write(nested(REQUEST_MAX_DEPTH));
  client.socket.write(nested(100_000));
  client.socket.write(nested(REQUEST_MAX_DEPTH - 2));
  await until("three answers", () => client.received.length === 3);
  const told = client.received.map(({ error }) => error.message);
  expect(told[0]).toBe(`A request nests at most ${REQUEST_MAX_DEPTH} levels deep.`);
  expect(told[1]).toBe(told[0]);
  expect(told[2]).toContain("The data of agent/list is not valid");
  await isServed();
});

test("a connection of nothing but mistakes is closed, with the reason", async () => {
  // On a machine that stands still for the whole period one batch is not enough: they are counted by the period.
  let answered = 0;
  await until("it is closed", () => {
    if (client.closed()) return true;
    if (client.received.length >= answered && !client.socket.writableEnded) {
      client.socket.write("nonsense\n".repeat(REQUEST_MISTAKES_MAX + 50));
      answered += REQUEST_MISTAKES_MAX + 50;
    }
    return false;
  });
  expect(client.received.at(-1)!.error).toMatchObject({
    code: "ERATELIMIT",
    message: `More than ${REQUEST_MISTAKES_MAX} requests of this connection were unreadable.`,
  });
  await isServed();
});

test("half a request that never ends is closed in time, with the reason", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    client.send("agent/list", {}, "l");
    client.socket.write('{"version":1,');
    while (client.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(REQUEST_LINE_MAX_MS);
  } finally {
    vi.useRealTimers();
  }
  await until("it is closed", () => client.closed());
  expect(client.received.at(-1)!.error).toMatchObject({ code: "ETIMEOUT" });
  await isServed();
});

test("half a request waits as long as the requests before it take: nobody can end it while it is not read", async () => {
  const other = await connect(daemon.socket);
  const spawn = { spec: { kind: "command", argv: ["x"], cwd: "/", restart: "temporary", name: "slow" } };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    for (let n = 0; n < REQUESTS_IN_FLIGHT_MAX; n += 1) client.send("agent/spawn", spawn, `s${n}`);
    client.send("agent/list", {}, "held");
    client.socket.write('{"version":1,');
    let asked = 0;
    const inFlight = async (): Promise<number> => {
      const id = `status-${asked++}`;
      other.send("daemon/status", {}, id);
      const told = () => other.received.find(({ meta }) => meta.request_id === id);
      while (told() === undefined) await new Promise((resolve) => setImmediate(resolve));
      return told()!.data.requests_in_flight as number;
    };
    while ((await inFlight()) < REQUESTS_IN_FLIGHT_MAX) expect(asked).toBeLessThan(1_000);
    vi.advanceTimersByTime(REQUEST_LINE_MAX_MS);
  } finally {
    vi.useRealTimers();
  }
  client.socket.write('"command":"agent/list","meta":{"request_id":"whole"}}\n');
  expect((await client.answer("whole")).status).toBe("ok");
  expect(client.received.filter(({ status }) => status !== "ok")).toEqual([]);
  other.socket.destroy();
});

describe("the token", () => {
  const token = () => readFileSync(join(daemon.stateDir, "daemon.token"), "utf8").trim();
  const ask = async (given?: string) => {
    const asking = await connect(daemon.socket);
    asking.socket.write(
      `${JSON.stringify({ version: 1, command: "agent/list", meta: { request_id: "t", token: given } })}\n`,
    );
    await until("an answer", () => asking.received.length === 1);
    const [answer] = asking.received;
    if (answer!.status === "error") await until("it is closed", () => asking.closed());
    asking.socket.destroy();
    return answer!;
  };

  test("is 32 random bytes in a file for its owner, and is not asked for where modes keep others out", async () => {
    expect(token()).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(join(daemon.stateDir, "daemon.token")).mode & 0o777).toBe(0o600);
    expect((await ask()).status).toBe("ok");
    expect((await ask(token())).status).toBe("ok");
  });

  test("that is wrong is refused; where others can come to the socket it has to be there, and is not repeated", async () => {
    expect((await ask("0".repeat(64))).error.code).toBe("EAUTH");
    chmodSync(dirname(daemon.socket), 0o755);
    chmodSync(daemon.socket, 0o666);
    expect((await ask()).error.message).toBe("The token of this state directory was not presented.");
    for (const given of ["", "é", "0".repeat(64)])
      expect((await ask(given)).error.message).toContain("The token that was presented is not known here");
    const answer = await ask(token());
    expect(answer.status).toBe("ok");
    expect(JSON.stringify(answer)).not.toContain(token());
  });

  test("that is taken away is made again, the same", async () => {
    const before = token();
    rmSync(join(daemon.stateDir, "daemon.token"));
    await until("it is there again", () => {
      try {
        return token() === before;
      } catch {
        return false;
      }
    });
  });
});

test("files that are open to others in a state directory are closed at the next start, and told", () => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  writeFileSync(join(dir, "holdfast.db"), "", { mode: 0o600 });
  writeFileSync(join(dir, "daemon.log"), "");
  chmodSync(join(dir, "daemon.log"), 0o644);
  chmodSync(dir, 0o755);
  const open = [
    { path: dir, how: "open", mode: 0o755 },
    { path: join(dir, "daemon.log"), how: "open", mode: 0o644 },
  ];
  expect(exposedIn(dir)).toEqual(open);
  expect(closeToOthers(dir)).toEqual(open);
  expect(exposedIn(dir)).toEqual([]);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  rmSync(dir, { recursive: true });
});
