/** `Runtime.connect`: one suite over an open runtime and over a daemon; programs that share a daemon; a daemon that is restarted. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { artifactsIn } from "../../src/daemon/artifacts.ts";
import { type LogRecord, Runtime, supervisor, worker } from "../../src/library/index.ts";
import { AGENT } from "../support/built.ts";
import { agent, collect, first, openRuntime, stateDirectory } from "./support.ts";

/** A daemon that is stopped, and its directory removed, at the end of the test. */
const daemon = async (...flags: string[]): Promise<string> => {
  const stateDir = stateDirectory();
  onTestFinished(async () => {
    await agent(stateDir, "daemon", "stop", "--kill-agents");
  });
  await agent(stateDir, "daemon", "start", ...flags);
  return stateDir;
};

const connect = async (stateDir: string): Promise<Runtime> => {
  const runtime = await Runtime.connect({ stateDir });
  onTestFinished(() => runtime.close());
  return runtime;
};

/** The name of the token with which a program comes over HTTP. */
const TESTER = "tester";

/** A daemon's address over HTTP, and the secret of a token. */
const overHttp = async (): Promise<{
  readonly url: string;
  readonly token: string;
  readonly stateDir: string;
}> => {
  const stateDir = await daemon("--http=0");
  const file = join(stateDir, "secret-of-test");
  await agent(stateDir, "token", "create", TESTER, "--to", file);
  const status = JSON.parse(await agent(stateDir, "daemon", "status", "-o", "json"));
  return { url: status.data.http.url, token: readFileSync(file, "utf8").trim(), stateDir };
};

const connectByUrl = async (): Promise<Runtime> => {
  const { url, token } = await overHttp();
  const runtime = await Runtime.connect({ url, token });
  onTestFinished(() => runtime.close());
  return runtime;
};

/** The daemon of another host: `agent` is a word of the path there. */
const connectByHost = async (): Promise<Runtime> => {
  const stateDir = await daemon();
  mkdirSync(join(stateDir, "bin"));
  symlinkSync(AGENT, join(stateDir, "bin/agent"));
  const runtime = await Runtime.connect({
    host: `exec:env PATH=${join(stateDir, "bin")}:${process.env.PATH}`,
    stateDir,
  });
  onTestFinished(() => runtime.close());
  return runtime;
};

/** The types promise these fields for records of a run. */
const OF_RUN =
  /^(agent\.event|session_started|turn_\w+|worker_(cancelled|completed|exited|failed|heartbeat|log_chunk|spawned|started))$/;
const expectSure = ({ type, stream, worker_id, incarnation }: LogRecord): void => {
  expect({ type, stream, worker_id }).toEqual({
    type,
    stream: `worker:${worker_id}`,
    worker_id: expect.any(String),
  });
  if (OF_RUN.test(type)) expect({ type, incarnation }).toEqual({ type, incarnation: expect.any(Number) });
};

const shell = (script: string) => ({ kind: "command", argv: ["sh", "-c", script] }) as const;

describe.each([
  ["open", () => openRuntime()],
  ["connect", async () => connect(await daemon())],
  ["connect by URL", connectByUrl],
  ["connect to a host", connectByHost],
])("%s", (_, opened) => {
  test("runs a worker, with its events, its records, its output and its end", async () => {
    const runtime = await opened();
    const worker = await runtime.run({
      ...shell("echo one; echo two"),
      name: "two-lines",
      labels: { of: "x" },
    });
    const events = await collect(worker);
    expect(events.map(({ kind }) => kind)).toEqual(["TextOutput", "TextOutput"]);
    expect(await worker.result).toMatchObject({ status: "completed", text: "one\ntwo\n" });
    const ends = await collect(runtime.watch({ ids: [worker.id], types: ["worker_exited"] }));
    expect(ends.map(({ payload }) => payload.exit_code)).toEqual([0]);
    expect(await runtime.list({ all: true, labels: { of: "x" } })).toMatchObject([{ name: "two-lines" }]);
    expect(await runtime.list()).toEqual([]);
    const slices = await collect(runtime.raw("two-lines"));
    expect(Buffer.concat(slices.map(({ bytes }) => bytes)).toString()).toBe("one\ntwo\n");
    expect((await runtime.usage()).total).toMatchObject({ turns: 0 });
    expect(await runtime.why(worker.id)).toMatchObject({ state: "completed" });
    expect(await runtime.status()).toMatchObject({ workers: { live: 0, total: 1 } });
    expect((await runtime.capabilities("command")).map(({ kind }) => kind)).toEqual(["command"]);
    expect(await runtime.check()).toMatchObject({ ok: true });
    expect(await runtime.gc({ dry_run: true })).toMatchObject({ records: 0, archives: [] });
    expect(await runtime.removeWorktrees([worker.id])).toMatchObject([{ ok: false }]);
    const { digest } = await artifactsIn((await runtime.status()).state_dir, {}).put(Buffer.from("kept"));
    expect(Buffer.from(await runtime.artifact(digest)).toString()).toBe("kept");
    await expect(runtime.artifact(`sha256:${"0".repeat(64)}`)).rejects.toMatchObject({
      code: "ARTIFACT_NOT_FOUND",
    });
    for await (const record of runtime.watch({ ids: [worker.id] })) expectSure(record);
  });

  test("talks to a worker, and stops it", async () => {
    const runtime = await opened();
    const cat = await runtime.run({ ...shell("cat"), interactive: true });
    const said = first(runtime.watch(cat.id), "agent.event");
    expect(await cat.send("hello\n", { idempotency_key: "k" })).toMatchObject({ effect: "created" });
    expect(await cat.send("hello\n", { idempotency_key: "k" })).toMatchObject({ effect: "noop" });
    expect(await said).toMatchObject({ payload: { text: "hello\n" } });
    expect((await runtime.messages(cat.id)).messages).toHaveLength(1);
    await expect(runtime.wait(cat.id, { timeout_ms: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
    const giveUp = new AbortController();
    const waiting = runtime.wait(cat.id, { signal: giveUp.signal });
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await runtime.kill([cat.id, "nobody"])).toMatchObject([
      { ok: true },
      { ok: false, error: { code: "WORKER_NOT_FOUND" } },
    ]);
    const left = await runtime.spawn(shell("exec sleep 600"));
    expect(await runtime.kill(left.id, { subtree: true })).toMatchObject([{ id: left.id, ok: true }]);
    expect(await runtime.killAll()).toEqual([]);
    await expect(runtime.kill("nobody")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    await expect(runtime.spawn({ kind: "command" } as never)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  });

  test("applies a tree, and shares work", async () => {
    const runtime = await opened();
    // A worker counts as started once it runs, so only a condition makes a failure certain.
    const crew = (script: string, log = "found") =>
      supervisor("crew", { strategy: "rest_for_one", max_restarts: 0, on_intensity: "park" }, [
        worker("a", {
          ...shell(script),
          inherit_env: ["HOLDFAST_OF_A_TEST"],
          restart: "permanent",
          ready: { log },
        }),
        supervisor("pool", { strategy: "dynamic" }),
      ]);
    process.env.HOLDFAST_OF_A_TEST = "found";
    onTestFinished(() => void delete process.env.HOLDFAST_OF_A_TEST);
    const up = await runtime.applyTree(crew("echo $HOLDFAST_OF_A_TEST; exec sleep 600"), { wait: "ready" });
    expect(up).toMatchObject({ tree: "crew", state: "running" });
    expect((await runtime.info("a")).spec).toMatchObject({ cwd: process.cwd() });
    expect(await first(runtime.watch("a"), "agent.event")).toMatchObject({
      payload: { text: "found\n" },
    });
    await runtime.spawn({ ...shell("exec sleep 600"), supervisor: "pool", name: "extra" });
    const failing = runtime.applyTree(crew("exit 3", "never"), { wait: "ready" });
    await expect(failing).rejects.toMatchObject({ code: "WORKER_FAILED" });
    await expect(runtime.applyTree(crew("true"), { owner: "another", dry_run: true })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
    await runtime.downTree("crew");
    const { item_id } = await runtime.blackboard.post({ title: "x", ns: "n" });
    expect((await runtime.blackboard.list({ ns: "n" })).items).toMatchObject([{ item_id }]);
    const claimed = await runtime.blackboard.claim({ ns: "n" });
    await runtime.blackboard.release({ id: item_id, token: claimed.token, done: true });
    expect(await runtime.board.list()).toMatchObject({ cards: [] });
    const job = await runtime.jobs.submit(shell("echo done"));
    expect((await collect(runtime.jobs.tail(job.job_id))).at(-1)).toMatchObject({ final: true });
    expect(await runtime.jobs.wait([job.job_id])).toMatchObject([{ state: "ok" }]);
    expect(await runtime.mailbox.list()).toMatchObject({ messages: [] });
    expect(await runtime.schedules.list()).toMatchObject({ schedules: [] });
    const { tokens } = await runtime.tokens.list();
    expect(tokens.filter(({ name }) => name !== TESTER)).toEqual([]);
  });

  test("ends its watches when it is closed, and then refuses every call", async () => {
    const runtime = await opened();
    const { id } = await runtime.spawn(shell("echo begun; exec sleep 600"));
    // The watch that is left open has had a record of its own: another one's record says nothing of it.
    const begun = Promise.withResolvers<void>();
    let read = 0;
    const reading = (async () => {
      for await (const _record of runtime.watch(id)) {
        read++;
        begun.resolve();
      }
    })();
    await begun.promise;
    await runtime.close();
    await reading;
    expect(read).toBeGreaterThan(0);
    await expect(runtime.list()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test("two programs and the command share one daemon, and a closed one leaves the agents running", async () => {
  const stateDir = await daemon();
  const [one, two] = await Promise.all([connect(stateDir), connect(stateDir)]);
  const spawned = await one.spawn({ ...shell("echo begun; exec sleep 600"), name: "shared" });
  await first(two.watch("shared"), "agent.event");
  await one.close();
  expect(await two.info("shared")).toMatchObject({ id: spawned.id, status: "running" });
  expect(JSON.parse(await agent(stateDir, "list", "-o", "json")).data).toMatchObject([{ name: "shared" }]);
  await expect(Runtime.open({ stateDir })).rejects.toMatchObject({ code: "LOCK_HELD" });
});

test("a watch, a wait and calls outlast a restart of the daemon", async () => {
  const stateDir = await daemon();
  const runtime = await connect(stateDir);
  const worker = await runtime.run({
    ...shell("until [ -e go ]; do sleep 0.05; done; echo went"),
    cwd: stateDir,
  });
  const seqs: number[] = [];
  const reading = (async () => {
    for await (const { seq } of runtime.watch(worker.id)) seqs.push(seq);
  })();
  const ended = worker.result;
  await first(runtime.watch(worker.id), "worker_started");
  await agent(stateDir, "daemon", "stop", "--keep-agents");
  const listed = runtime.list();
  await agent(stateDir, "daemon", "start");
  expect(await listed).toMatchObject([{ id: worker.id }]);
  await runtime.run(shell(`touch ${join(stateDir, "go")}`));
  expect(await ended).toMatchObject({ status: "completed", text: "went\n" });
  await reading;
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(seqs).toEqual((await collect(runtime.watch(worker.id))).map(({ seq }) => seq));
});

test("without a daemon it says so, and an unknown option is refused", async () => {
  const stateDir = stateDirectory();
  await expect(Runtime.connect({ stateDir })).rejects.toMatchObject({ code: "SUPERVISOR_DOWN" });
  const socketPath = join(stateDir, "none.sock");
  await expect(Runtime.connect({ socketPath })).rejects.toMatchObject({ code: "SUPERVISOR_DOWN" });
  await expect(Runtime.connect({ socket: "x" } as never)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(Runtime.connect({ stateDir, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "CANCELLED",
  });
});

test.each([
  ["no host", { host: "build" }],
  ["an option of ssh", { host: "ssh://-oProxyCommand=x" }],
  ["a host and a URL", { host: "ssh://build", url: "http://127.0.0.1:1" }],
  ["a host and a token", { host: "ssh://build", token: "x" }],
])("%s is refused before anything is tried", async (_, options) => {
  await expect(Runtime.connect(options)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("over HTTP each mistake with the address or the token is told at once", async () => {
  const { url, token, stateDir } = await overHttp();
  const refused = async (options: Parameters<typeof Runtime.connect>[0]) => {
    const error = await Runtime.connect(options).catch((cause) => cause);
    return error.code;
  };
  expect(await refused({ url, token: "hft_wrong" })).toBe("NOT_AUTHORISED");
  expect(await refused({ url: "http://127.0.0.1:1", token })).toBe("SUPERVISOR_DOWN");
  expect(await refused({ url: "ftp://127.0.0.1", token })).toBe("INVALID_REQUEST");
  expect(await refused({ url, token, stateDir })).toBe("INVALID_REQUEST");
});

test("a watch over HTTP goes on with the next daemon, each record once", async () => {
  const { url, token, stateDir } = await overHttp();
  const runtime = await Runtime.connect({ url, token });
  onTestFinished(() => runtime.close());
  const cat = await runtime.run({ ...shell("cat"), interactive: true });
  const events = cat[Symbol.asyncIterator]();
  const said = async (text: string) => {
    await cat.send(`${text}\n`);
    expect(await events.next()).toMatchObject({ value: { text: `${text}\n` } });
  };
  await said("before");
  process.kill((await runtime.status()).pid, "SIGKILL");
  await agent(stateDir, "daemon", "start", `--http=${new URL(url).port}`);
  await said("after");
});
