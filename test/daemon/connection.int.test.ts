import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CAS_REPLIES_OBJECTS_MAX,
  REQUEST_MAX_BYTES,
  REQUESTS_IN_FLIGHT_MAX,
  WATCHER_BUFFER_MAX_BYTES,
} from "../../src/base/limits.ts";
import { artifactsIn } from "../../src/daemon/artifacts.ts";
import { makeFakeRuntime, spool } from "./support/fake-runtime.ts";
import { type Client, connect, startTestDaemon, type TestDaemon, until } from "./support/wire.ts";

const spec = { kind: "command", cwd: "/", restart: "temporary", argv: ["true"] };

describe("a connection", () => {
  let daemon: TestDaemon;
  let client: Client;
  beforeEach(async () => {
    daemon = await startTestDaemon(makeFakeRuntime(["a", "b"]));
    client = await connect(daemon.socket);
  });
  afterEach(async () => {
    client.socket.destroy();
    await daemon.stop();
  });

  const answersTo = (id: string) =>
    client.received.filter((one) => one.meta.request_id === id && one.status !== "progress");

  test("answers pipelined requests, each under its own id, a fast one before a slow one", async () => {
    client.send("agent/spawn", { spec: { ...spec, name: "slow" } }, "slow");
    for (let i = 0; i < 50; i++) client.send("agent/list", {}, `list-${i}`);
    const slow = await client.answer("slow");
    expect(slow).toMatchObject({
      status: "ok",
      command: "agent/spawn",
      data: { id: "slow", effect: "created" },
    });
    expect(client.received).toHaveLength(51);
    expect(client.received.at(-1)).toBe(slow);
    expect(new Set(client.received.map((one) => one.meta.request_id)).size).toBe(51);
  });

  test("shakes hands: what it speaks, its commands and bounds; and refuses a version or a profile that it has not", async () => {
    client.send("protocol/hello", { versions: [2, 1], profiles: [] }, "hello");
    expect((await client.answer("hello")).data).toMatchObject({
      version: 1,
      profiles: ["core/v1", "agent/v1", "plugin/v1"],
      commands: expect.arrayContaining(["agent/spawn", "agent/watch", "protocol/hello"]),
      limits: { request_bytes: REQUEST_MAX_BYTES, requests_in_flight: REQUESTS_IN_FLIGHT_MAX },
      daemon: { version: expect.any(String), store_id: expect.any(String) },
    });
    client.send("protocol/hello", { versions: [2, 3] }, "newer");
    expect((await client.answer("newer")).error).toMatchObject({
      code: "EARG",
      message: "This daemon speaks version 1 of the protocol, not 2 or 3.",
      details: { code: "UNSUPPORTED_CAPABILITY", versions: [1] },
    });
    client.send("protocol/hello", { profiles: ["agent/v9"] }, "profile");
    expect((await client.answer("profile")).error.message).toContain("no profile agent/v9");
  });

  test("does each of many requests once, and answers each, though a cancel among them ends another at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      const spawned = daemon.runtime.spawns.length;
      client.send("agent/watch", { all: true }, `open-${round}`);
      client.send("agent/list", {}, `begun-${round}`);
      await client.answer(`begun-${round}`);
      const asked = ["spawn", "cancel", ...Array.from({ length: 2_000 }, (_, n) => `list-${n}`)].map(
        (name) => `${name}-${round}`,
      );
      const line = (command: string, data: object, request_id: string) =>
        `${JSON.stringify({ version: 1, command, data, meta: { request_id } })}\n`;
      client.socket.write(
        asked
          .map((id) =>
            id.startsWith("spawn")
              ? line("agent/spawn", { spec }, id)
              : id.startsWith("cancel")
                ? line("request/cancel", { request_id: `open-${round}` }, id)
                : line("agent/list", {}, id),
          )
          .join(""),
      );
      await client.answer(asked.at(-1)!);
      await until("all answers", () => asked.every((id) => answersTo(id).length > 0));
      expect(asked.filter((id) => answersTo(id).length !== 1)).toEqual([]);
      expect(answersTo(`cancel-${round}`)[0]!.data).toMatchObject({ cancelled: true });
      expect(daemon.runtime.spawns).toHaveLength(spawned + 1);
      client.received.length = 0;
    }
  });

  test("goes on with others while a thousand pipelined requests of one connection are answered", async () => {
    const other = await connect(daemon.socket);
    for (let n = 0; n < 1_000; n += 1) client.send("agent/list", {}, `many-${n}`);
    other.send("agent/list", {}, "one");
    expect((await other.answer("one")).status).toBe("ok");
    await client.answer("many-999");
    expect(client.received.map(({ meta }) => meta.request_id)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => `many-${n}`),
    );
  });

  test("repeats the trace id, and names a request that gave no id", async () => {
    client.socket.write(`{"version":1,"command":"agent/tree","meta":{"trace_id":"t"}}\n`);
    await until("the answer", () => client.received.length === 1);
    expect(client.received[0]!.meta).toMatchObject({
      trace_id: "t",
      request_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
    });
  });

  test("refuses bad JSON, an unknown command and bad data, and goes on", async () => {
    client.socket.write("{\n");
    client.send("agent/spwan", {}, "typo");
    client.send("agent/wait", { ids: [] }, "bad");
    client.send("agent/info", { id: "nobody" }, "missing");
    expect((await client.answer("missing")).error).toMatchObject({ code: "ENOTFOUND" });
    const codes = client.received.map((one) => one.error.code);
    expect(codes).toEqual(["EPARSE", "EARG", "EARG", "ENOTFOUND"]);
    expect(JSON.stringify(await client.answer("typo"))).toContain("Did you mean agent/spawn?");
  });

  test("skips a request over the bound, says so once, and reads the next", async () => {
    client.socket.write(`"${"x".repeat(REQUEST_MAX_BYTES)}"\n`);
    client.send("agent/list", {}, "next");
    await client.answer("next");
    expect(client.received.map((one) => one.error.code)).toEqual(["EARG", null]);
  });

  test("bounds the requests in flight", async () => {
    for (let i = 0; i <= REQUESTS_IN_FLIGHT_MAX; i++) client.send("agent/wait", { ids: ["a"] }, `w${i}`);
    expect((await client.answer(`w${REQUESTS_IN_FLIGHT_MAX}`)).error.code).toBe("ERATELIMIT");
    expect(client.received).toHaveLength(1);
  });

  test("over the bound of connections is told so and closed", async () => {
    const small = await startTestDaemon(makeFakeRuntime(), { HOLDFAST_MAX_CONNECTIONS: "3" });
    const taken = await Promise.all(Array.from({ length: 3 }, () => connect(small.socket)));
    const tooMany = await connect(small.socket);
    await until("it is turned away", () => tooMany.closed());
    expect(tooMany.received.map((one) => one.error.code)).toEqual(["ERATELIMIT"]);
    const [first, ...others] = taken as [Client, ...Client[]];
    for (const other of others) other.socket.destroy();
    const connections = async (id: string) => {
      first.send("daemon/status", {}, id);
      return (await first.answer(id)).data.connections;
    };
    let asked = 0;
    await until("the others are gone", async () => (await connections(`status-${asked++}`)) === 1);
    await small.stop();
  });

  test("a connection that is idle gives way once all places are taken, and one at work does not", async () => {
    const small = await startTestDaemon(makeFakeRuntime(["a"]), { HOLDFAST_MAX_CONNECTIONS: "2" });
    const leaked = await connect(small.socket);
    const busy = await connect(small.socket);
    busy.send("agent/wait", { ids: ["a"] }, "w");
    let served: Client | undefined;
    await until("a new client is served", async () => {
      const next = await connect(small.socket);
      next.send("agent/list", {}, "l");
      await until("it is answered", () => next.received.length > 0);
      if (next.received[0]?.status === "ok") served = next;
      else expect(next.received[0]?.error.code).toBe("ERATELIMIT");
      return served !== undefined;
    });
    await until("the idle one is closed", () => leaked.closed());
    expect(leaked.received.map(({ error }) => [error.code, error.message])).toEqual([
      ["ERATELIMIT", expect.stringContaining("was idle")],
    ]);
    expect([busy.closed(), served?.closed()]).toEqual([false, false]);
    await small.stop();
  });

  test("refuses an id that is in flight, in a line that is not taken for the answer to the first", async () => {
    client.send("agent/wait", { ids: ["a"] }, "twice");
    client.send("agent/list", {}, "twice");
    await until("the refusal", () => client.received.length === 1);
    const [refusal] = client.received;
    expect(refusal).toMatchObject({ command: "agent/list", error: { code: "EARG" } });
    expect(refusal!.meta.request_id).toBeUndefined();
    client.send("request/cancel", { request_id: "twice" }, "c");
    expect((await client.answer("twice")).command).toBe("agent/wait");
  });

  test("answers a last request that has no line end", async () => {
    client.socket.end(`{"version":1,"command":"agent/list","meta":{"request_id":"last"}}`);
    expect((await client.answer("last")).status).toBe("ok");
    await until("it is closed", () => client.closed());
  });

  test("passes over empty lines, whatever their line end", async () => {
    client.socket.write("\n\r\n");
    client.send("agent/list", {}, "next");
    await client.answer("next");
    expect(client.received).toHaveLength(1);
  });

  test("cancels a request by its id, and says when there is none", async () => {
    client.send("agent/wait", { ids: ["a"] }, "w");
    client.send("request/cancel", { request_id: "w" }, "c");
    client.send("request/cancel", { request_id: "w-gone" }, "d");
    expect((await client.answer("w")).error.code).toBe("ECANCELED");
    expect((await client.answer("c")).data).toEqual({ request_id: "w", cancelled: true });
    expect((await client.answer("d")).data).toEqual({ request_id: "w-gone", cancelled: false });
    expect(daemon.runtime.waits()).toBe(0);
  });

  test("carries a command through when it is cancelled or its client goes away", async () => {
    client.send("agent/spawn", { spec: { ...spec, name: "slow" } }, "s");
    client.send("request/cancel", { request_id: "s" }, "c");
    expect((await client.answer("s")).error.code).toBe("ECANCELED");
    const other = await connect(daemon.socket);
    other.send("agent/spawn", { spec: { ...spec, name: "slow" } }, "s");
    other.send("agent/list", {}, "seen");
    await other.answer("seen");
    other.socket.destroy();
    await until("both spawns", () => daemon.runtime.spawns.length === 2);
    expect(client.received.filter((one) => one.meta.request_id === "s")).toHaveLength(1);
  });

  test("contains a defect of a handler", async () => {
    client.send("agent/spawn", { spec: { ...spec, name: "defect" } }, "s");
    client.send("agent/list", {}, "l");
    expect((await client.answer("s")).error.code).toBe("ERUNTIME");
    expect((await client.answer("l")).status).toBe("ok");
    expect(daemon.logged).toContainEqual({ level: "error", message: "defect: in agent/spawn" });
    client.send("agent/spawn", { spec: { ...spec, name: "unsayable" } }, "u");
    expect((await client.answer("u")).error.code).toBe("ERUNTIME");
    client.send("daemon/status", {}, "d");
    expect((await client.answer("d")).data.defects).toMatchObject({
      count: 2,
      newest: { where: "the answer to agent/spawn is not JSON", error: "TypeError" },
    });
  });

  test("that closes its sending side still gets the answers to its commands; its waits and watches end", async () => {
    client.send("agent/watch", { all: true }, "watch");
    client.send("agent/spawn", { spec: { ...spec, name: "slow" } }, "slow");
    client.socket.end();
    expect((await client.answer("watch")).error.code).toBe("ECANCELED");
    expect((await client.answer("slow")).status).toBe("ok");
    await until("the daemon closes", () => client.closed());
    expect(daemon.runtime.watchers()).toBe(0);
  });

  test("that drops ends its watches and waits at once", async () => {
    const before = await statusOf();
    const other = await connect(daemon.socket);
    for (let i = 0; i < 20; i++) other.send("agent/watch", { all: true }, `w${i}`);
    other.send("agent/wait", { ids: ["a"] }, "wait");
    await until("the watches", () => daemon.runtime.watchers() === 20 && daemon.runtime.waits() === 1);
    other.socket.destroy();
    await until("nothing is left", () => daemon.runtime.watchers() === 0 && daemon.runtime.waits() === 0);
    expect(await statusOf()).toEqual(before);
  });

  const statusOf = async () => {
    const id = `status-${Math.random()}`;
    client.send("daemon/status", {}, id);
    const { data } = await client.answer(id);
    expect(data.loop_lag_ms).toEqual({
      p50: expect.any(Number),
      p99: expect.any(Number),
      max: expect.any(Number),
    });
    return {
      connections: data.connections,
      requests_in_flight: data.requests_in_flight,
      socket: data.socket,
    };
  };

  describe("kill and restart", () => {
    test("answer per id when some fail", async () => {
      client.send("agent/kill", { ids: ["a", "nobody"] }, "k");
      const { status, error, data } = await client.answer("k");
      expect(status).toBe("error");
      expect(error.message).toBe("1 of 2 workers could not be killed.");
      expect(data.results).toMatchObject([
        { id: "a", ok: true },
        { id: "nobody", ok: false, error: { code: "WORKER_NOT_FOUND" } },
      ]);
    });

    test("fail as the one worker that was named", async () => {
      client.send("agent/restart", { ids: ["nobody"] }, "r");
      expect((await client.answer("r")).error.code).toBe("ENOTFOUND");
    });

    test("need ids or all, and not both", async () => {
      client.send("agent/kill", {}, "none");
      client.send("agent/kill", { ids: ["a"], all: true }, "both");
      expect((await client.answer("none")).error.code).toBe("EARG");
      expect((await client.answer("both")).error.code).toBe("EARG");
      expect(daemon.runtime.killed).toEqual([]);
    });
  });

  describe("watch", () => {
    test("sends each record from the cursor as progress numbered from 0, then where to go on", async () => {
      daemon.runtime.append(1_200);
      client.send("agent/watch", { all: true, from: 200, follow: false }, "w");
      expect(await client.answer("w")).toMatchObject({ status: "ok", data: { next: 1_200, records: 1_000 } });
      const progress = client.received.filter((one) => one.status === "progress");
      expect(progress.map((one) => one.meta.seq)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
      expect(progress.map((one) => one.data.seq)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 201));
    });

    test("starts at the live tail and follows it", async () => {
      daemon.runtime.append(10);
      client.send("agent/watch", {}, "w");
      await until("the watch", () => daemon.runtime.watchers() === 1);
      daemon.runtime.append(1);
      await until("the record", () => client.received.length === 1);
      expect(client.received[0]!.data.seq).toBe(11);
    });

    test("that saw nothing says to go on from the head", async () => {
      daemon.runtime.append(10);
      client.send("agent/watch", { follow: false }, "w");
      expect((await client.answer("w")).data).toEqual({ next: 10, records: 0, cursor: "fake:10" });
    });

    test("of an unknown worker fails before any record", async () => {
      client.send("agent/watch", { ids: ["nobody"] }, "w");
      expect((await client.answer("w")).error.code).toBe("ENOTFOUND");
      expect(client.received).toHaveLength(1);
    });

    test("of a stalled client is not read for, and a sibling and the daemon do not notice", async () => {
      daemon.runtime.append(200_000);
      client.socket.pause();
      for (let i = 0; i < 10; i++) client.send("agent/watch", { from: 0 }, `w${i}`);
      await until("the watches", () => daemon.runtime.watchers() === 10);
      const other = await connect(daemon.socket);
      other.send("agent/watch", { from: 0, follow: false }, "all");
      expect((await other.answer("all")).data).toEqual({
        next: 200_000,
        records: 200_000,
        cursor: "fake:200000",
      });
      // A whole stream of the sibling later, the stalled ones have read no more than the buffers hold.
      const pagesOfOther = 400;
      const pageBytes = 500 * 350;
      expect((daemon.runtime.pagesRead() - pagesOfOther) * pageBytes).toBeLessThan(
        10 * WATCHER_BUFFER_MAX_BYTES,
      );
      other.socket.destroy();
    });

    test("of a slow client arrives whole and in order", async () => {
      daemon.runtime.append(20_000);
      client.socket.pause();
      client.send("agent/watch", { from: 0, follow: false }, "a");
      client.send("agent/watch", { from: 0, follow: false }, "b");
      await until("both watches", () => daemon.runtime.watchers() === 2);
      client.socket.resume();
      for (const id of ["a", "b"]) {
        expect((await client.answer(id)).data).toEqual({
          next: 20_000,
          records: 20_000,
          cursor: "fake:20000",
        });
        const seqs = client.received
          .filter((one) => one.status === "progress" && one.meta.request_id === id)
          .map((one) => one.data.seq);
        expect(seqs.every((seq, i) => seq === i + 1)).toBe(true);
        expect(seqs).toHaveLength(20_000);
      }
    });
  });
});

describe("data that is too large for an envelope", () => {
  let daemon: TestDaemon;
  let client: Client;
  const runtime = makeFakeRuntime(
    Array.from({ length: 2_000 }, (_, at) => `worker-${String(at).padStart(6, "0")}`),
  );
  beforeEach(async () => {
    daemon = await startTestDaemon(runtime);
    client = await connect(daemon.socket);
  });
  afterEach(async () => {
    client.socket.destroy();
    await daemon.stop();
  });
  const artifact = async (digest: unknown) =>
    JSON.parse(Buffer.from(await artifactsIn(daemon.stateDir, {}).get(digest as string)).toString());

  test("is in an artifact, of which the answer has the summary, and others are answered meanwhile", async () => {
    client.send("agent/list", {}, "large");
    client.send("agent/info", { id: "worker-000000" }, "small");
    const { data, meta } = await client.answer("large");
    expect(data).toEqual({
      summary: {
        size_bytes: expect.any(Number),
        kind: "application/json",
        record_count: 2_000,
        pagination: { has_more: false, total_items: 2000 },
        preview: { first_keys: ["id"], sample_record: { id: "worker-000000" } },
      },
      artifact: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(meta).toMatchObject({ cas_digest: data.artifact });
    expect((await artifact(data.artifact)).workers).toHaveLength(2_000);
    expect((await client.answer("small")).meta).not.toHaveProperty("cas_digest");
  });

  test("is inline for a client that takes so much, and more than it takes is not", async () => {
    const ask = (request_id: string, inline_max_bytes: number) =>
      client.socket.write(
        `${JSON.stringify({ version: 1, command: "agent/list", meta: { request_id, inline_max_bytes } })}\n`,
      );
    ask("takes all", 1_000_000);
    ask("takes nothing", 0);
    expect((await client.answer("takes all")).data.workers).toHaveLength(2_000);
    expect((await client.answer("takes nothing")).data).toHaveProperty("artifact");
  });

  test("leaves room for final answers: it is sent whole where replies have taken their part", async () => {
    const full = join(daemon.stateDir, "cas/objects/00/00");
    mkdirSync(full, { recursive: true });
    for (let n = 0; n < CAS_REPLIES_OBJECTS_MAX; n += 1)
      writeFileSync(join(full, n.toString(16).padStart(64, "0")), "");
    client.send("agent/list", {}, "whole");
    expect((await client.answer("whole")).data).toMatchObject({
      workers: expect.any(Array),
      hint: expect.stringContaining("no room"),
    });
    const answers = artifactsIn(daemon.stateDir, {});
    expect(await answers.put(Buffer.from("an answer"))).toMatchObject({ effect: "created" });
  });

  test("is never raw output, which nobody has masked: a slice is cut to what the client takes", async () => {
    const read = async (inline_max_bytes?: number): Promise<Buffer> => {
      const parts: Buffer[] = [];
      for (let offset = 0; offset < spool.length; ) {
        const request_id = `${inline_max_bytes} from ${offset}`;
        const meta = { request_id, inline_max_bytes };
        const data = { id: "worker-000000", offset, max_bytes: 262_144 };
        client.socket.write(`${JSON.stringify({ version: 1, command: "agent/raw", data, meta })}\n`);
        const reply = (await client.answer(request_id)).data as { base64: string; next: number };
        expect(Object.keys(reply)).toEqual(["base64", "next", "ended", "incarnation", "newest"]);
        parts.push(Buffer.from(reply.base64, "base64"));
        offset = reply.next;
      }
      return Buffer.concat(parts);
    };
    for (const room of [undefined, 4_096, 1_000_000]) expect(spool.equals(await read(room))).toBe(true);
    client.socket.write(
      '{"version":1,"command":"agent/raw","data":{"id":"worker-000000"},"meta":{"request_id":"none","inline_max_bytes":0}}\n',
    );
    expect((await client.answer("none")).data.base64).toMatch(/./);
    expect(await artifactsIn(daemon.stateDir, {}).list()).toEqual([]);
  });

  test("of a stream is in an artifact too, at its place between the others", async () => {
    const from = runtime.append(2);
    runtime.append(1, 40_000);
    runtime.append(2);
    client.send("agent/watch", { from, follow: false }, "watch");
    await client.answer("watch");
    const lines = client.received.filter(({ status }) => status === "progress");
    expect(lines.map(({ meta }) => meta.seq)).toEqual([0, 1, 2, 3, 4]);
    expect(lines.map(({ data }) => data.seq)).toEqual([1, 2, 3, 4, 5].map((n) => from + n));
    expect(lines.map(({ data }) => "artifact" in data)).toEqual([false, false, true, false, false]);
    expect((await artifact(lines[2]!.data.artifact)).payload.text).toBe("x".repeat(40_000));
  });
});
