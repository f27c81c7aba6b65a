/** The promise door with real processes. It is imported from the sources; `package.e2e.test.ts` holds the built package. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { VERSION } from "../../src/base/version.ts";
import { connectDaemon } from "../../src/daemon/connect.ts";
import { HoldfastError, Runtime } from "../../src/library/index.ts";
import { collect, first, isRunning, openRuntime, program, stateDirectory, until } from "./support.ts";

/** A file of a run may be there, empty, before it is written. */
const isWritten = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);
const sleeper = { kind: "command", argv: ["sleep", "600"] } as const;

describe("open", () => {
  test("makes the directory 0700, and leaves one that closes and opens again", async () => {
    const stateDir = join(stateDirectory(), "inner");
    const runtime = await openRuntime(stateDir);
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    await runtime.close();
    await (await Runtime.open({ stateDir })).close();
  });

  test("twice on one directory is LOCK_HELD with the pid of who has it, in this process as in another", async () => {
    const stateDir = stateDirectory();
    await openRuntime(stateDir);
    const again = Runtime.open({ stateDir });
    await expect(again).rejects.toBeInstanceOf(HoldfastError);
    await expect(again).rejects.toMatchObject({ code: "LOCK_HELD", info: { details: { pid: process.pid } } });
    // The attempt in this process took nothing away from the lock.
    const other = JSON.parse((await program(fixture("opens.ts"), [stateDir]).ended).stdout);
    expect(other).toEqual({
      code: "LOCK_HELD",
      pid: process.pid,
      suggestion: expect.stringContaining("choose another"),
    });
  });
});

test("a client of a directory that a program holds is told which program, not sent in a circle", async () => {
  const stateDir = stateDirectory();
  await openRuntime(stateDir);
  const words = `A program that embeds Holdfast, pid ${process.pid} (version ${VERSION}),`;
  await expect(Runtime.open({ stateDir })).rejects.toThrow(`${words} owns the state directory ${stateDir}.`);
  const looking = connectDaemon({ stateDir, env: {} });
  await expect(looking).rejects.toMatchObject({
    code: "SUPERVISOR_DOWN",
    message: `${words} holds ${stateDir}, and no daemon runs for it.`,
    suggestion: expect.stringMatching(/^Use that program; or close it/),
    info: { details: { pid: process.pid } },
  });
  const starting = connectDaemon({ stateDir, env: {}, bundle: "/nothing/is/started" });
  await expect(starting).rejects.toMatchObject({
    code: "LOCK_HELD",
    info: { details: { pid: process.pid } },
  });
});

describe("open is refused, and touches nothing,", () => {
  const here = process.cwd();
  /** A directory of somebody's, which others may enter. */
  const theirs = (): string => {
    const dir = join(stateDirectory(), "theirs");
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    return dir;
  };

  test.each([
    ["", /stateDir: it is empty/],
    [5, /stateDir: .*expected string/],
  ])("with the stateDir %j", async (stateDir, message) => {
    const dir = theirs();
    process.chdir(dir);
    onTestFinished(() => process.chdir(here));
    await expect(Runtime.open({ stateDir: stateDir as string })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(message),
    });
    expect(statSync(dir).mode & 0o777).toBe(0o755);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each([
    ["nothing", null, /^options: /],
    ["an option that there is not", { state_dir: "x" }, /Unrecognized key: "state_dir"/],
    ["a bound that there is not", { limits: { runing_max: 1 } }, /^limits: .*"runing_max"/],
    ["a bound that is none", { limits: { running_max: -1 } }, /^limits.running_max: /],
    ["a report that nobody can call", { report: "console" }, /^report: it is not a function/],
  ])("with %s", async (_, options, message) => {
    const stateDir = join(stateDirectory(), "inner");
    const opening = Runtime.open(options === null ? (null as never) : ({ stateDir, ...options } as never));
    await expect(opening).rejects.toBeInstanceOf(HoldfastError);
    await expect(opening).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(message),
    });
    expect(existsSync(stateDir)).toBe(false);
  });

  test("in a directory of somebody else's files that others may enter", async () => {
    const stateDir = theirs();
    writeFileSync(join(stateDir, "index.html"), "");
    await expect(Runtime.open({ stateDir })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      suggestion: expect.stringContaining("chmod 700"),
    });
    expect(statSync(stateDir).mode & 0o777).toBe(0o755);
    expect(readdirSync(stateDir)).toEqual(["index.html"]);
  });

  test("but in an empty one of ours, or one with a log, it closes the directory to others", async () => {
    const stateDir = theirs();
    await (await Runtime.open({ stateDir })).close();
    chmodSync(stateDir, 0o755);
    writeFileSync(join(stateDir, "notes.txt"), "");
    await (await Runtime.open({ stateDir })).close();
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  });
});

describe("spawn", () => {
  test("runs a command to its end, and its records, output and state say so", async () => {
    const runtime = await openRuntime();
    const { id, effect } = await runtime.spawn({
      ...sleeper,
      name: "greeter",
      argv: ["sh", "-c", "echo one; echo two"],
      labels: { team: "a" },
    });
    expect(effect).toBe("created");
    const records = await collect(runtime.watch(id));
    expect(records[0]?.type).toBe("worker_spawn_requested");
    expect(records.at(-1)?.type).toBe("worker_ended");
    expect(records.map((record) => record.version)).toEqual(records.map((_, index) => index + 1));
    expect(await runtime.wait("greeter")).toMatchObject({
      id,
      status: "completed",
      exit_code: 0,
      error: null,
    });
    expect((await runtime.output("greeter")).text).toBe("one\ntwo\n");
    expect(await runtime.list()).toEqual([]);
    expect(await runtime.list({ all: true })).toMatchObject([
      { id, name: "greeter", labels: { team: "a" }, status: "completed" },
    ]);
    expect(await runtime.info(id)).toMatchObject({
      id,
      incarnation: 1,
      spec: { restart: "temporary", cwd: process.cwd() },
    });
  });

  test("of a program that is not there rejects BINARY_NOT_FOUND, with the next step, and starts and records nothing", async () => {
    const runtime = await openRuntime();
    const head = (await first(runtime.watch(undefined, { from: 0 }), "daemon_started")).seq;
    const refused = runtime.spawn({ kind: "command", argv: ["no-such-program-at-all"] });
    await expect(refused).rejects.toBeInstanceOf(HoldfastError);
    await expect(refused).rejects.toMatchObject({
      code: "BINARY_NOT_FOUND",
      suggestion: expect.stringMatching(/^Install the program/),
    });
    expect(await runtime.list({ all: true })).toEqual([]);
    const { id } = await runtime.spawn({ kind: "command", argv: ["true"] });
    expect((await first(runtime.watch(id), "worker_spawn_requested")).seq).toBe(head + 1);
  });

  test.each([
    ["a mistyped kind", { kind: "comand", argv: ["true"] }, "INVALID_AGENT_KIND", /Did you mean "command"\?/],
    ["an unknown field", { ...sleeper, timeout: 5 }, "INVALID_REQUEST", /./],
    ["a duration that is none", { ...sleeper, grace_ms: -1 }, "INVALID_REQUEST", /./],
    [
      "a directory that is not there",
      { ...sleeper, cwd: "/no/such/directory" },
      "CWD_NOT_FOUND",
      /Create the directory/,
    ],
    ["a command without a program", { kind: "command" }, "INVALID_REQUEST", /./],
    ["nothing at all", undefined, "INVALID_REQUEST", /^Correct the options/],
    ["a command line in one string", { kind: "command", argv: "ls -la" }, "INVALID_REQUEST", /./],
    ["an empty directory to run in", { ...sleeper, cwd: "" }, "INVALID_REQUEST", /./],
  ])("of %s is a typed error", async (_name, options, code, suggestion) => {
    const runtime = await openRuntime();
    const refused = runtime.spawn(options as never);
    await expect(refused).rejects.toBeInstanceOf(HoldfastError);
    await expect(refused).rejects.toMatchObject({ code, suggestion: expect.stringMatching(suggestion) });
    expect(await runtime.list({ all: true })).toEqual([]);
  });

  test("with an idempotency key that was used makes nothing, also after the directory was opened anew", async () => {
    const stateDir = stateDirectory();
    const runtime = await openRuntime(stateDir);
    const [one, two] = await Promise.all([
      runtime.spawn({ ...sleeper, idempotency_key: "deploy-7" }),
      runtime.spawn({ ...sleeper, idempotency_key: "deploy-7" }),
    ]);
    expect([one.id, one.effect, two.effect]).toEqual([two.id, "created", "noop"]);
    await runtime.close();
    const next = await openRuntime(stateDir);
    expect(await next.spawn({ ...sleeper, idempotency_key: "deploy-7" })).toMatchObject({
      id: one.id,
      effect: "noop",
      status: "cancelled",
    });
    expect(await next.list({ all: true })).toHaveLength(1);
  });

  test("with dry_run shows what would run, secrets masked, and records nothing", async () => {
    const runtime = await openRuntime();
    const reply = await runtime.spawn({ ...sleeper, env: { API_TOKEN: "abcdef-123456" }, dry_run: true });
    expect(reply).toMatchObject({
      effect: "would_create",
      plan: { argv: ["sleep", "600"], env: { API_TOKEN: "***" } },
    });
    expect(await runtime.list({ all: true })).toEqual([]);
  });

  test("gives the agent the variables that were named, and keeps no others of this process", async () => {
    const stateDir = stateDirectory();
    const runtime = await openRuntime(stateDir);
    Object.assign(process.env, {
      LIBRARY_SECRET_OF_OURS: "never-leaves-us",
      LIBRARY_NAMED: "named",
      LIBRARY_REFERRED: "referred-to",
    });
    const { id } = await runtime.spawn({
      kind: "command",
      argv: ["sh", "-c", 'echo "$LIBRARY_NAMED $GIVEN $(printenv LIBRARY_SECRET_OF_OURS || echo unset)"'],
      inherit_env: ["LIBRARY_NAMED"],
      env: { GIVEN: "@env:LIBRARY_REFERRED" },
    });
    await runtime.wait(id);
    // A value that a reference names is a secret: the log has it masked.
    expect((await runtime.output(id)).text).toBe("named *** unset\n");
    const spec = readFileSync(join(stateDir, "runs", id, "spec.json"), "utf8");
    expect(spec).toContain("referred-to");
    expect(spec).not.toContain("never-leaves-us");
  });

  test("of a name that a living worker has is ALREADY_EXISTS; when that has ended the name is free", async () => {
    const runtime = await openRuntime();
    await runtime.spawn({ ...sleeper, name: "one" });
    await expect(runtime.spawn({ ...sleeper, name: "one" })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
    await runtime.kill("one");
    await runtime.spawn({ ...sleeper, name: "one" });
  });
});

describe("watch", () => {
  test("of all goes on over workers, each record once and in order", async () => {
    const runtime = await openRuntime();
    const seen: number[] = [];
    let ended = 0;
    const watching = (async () => {
      for await (const record of runtime.watch(undefined, { from: 0 })) {
        seen.push(record.seq);
        if (record.type === "worker_ended" && ++ended === 3) break;
      }
    })();
    for (let n = 0; n < 3; n += 1) await runtime.spawn({ kind: "command", argv: ["sh", "-c", "seq 100"] });
    await watching;
    expect(seen).toEqual(seen.map((_, index) => index + 1));
  });

  test("from a cursor gives what follows it", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn({ kind: "command", argv: ["true"] });
    const all = await collect(runtime.watch(id));
    const middle = all[3]?.seq ?? 0;
    expect(await collect(runtime.watch(id, { from: middle }))).toEqual(all.slice(4));
  });

  test("that is left while it waits is over at once", async () => {
    const runtime = await openRuntime();
    const records = runtime.watch()[Symbol.asyncIterator]();
    const next = records.next();
    await records.return?.();
    expect(await next).toMatchObject({ done: true });
  });

  test("of nobody rejects", async () => {
    const runtime = await openRuntime();
    await expect(collect(runtime.watch("nobody"))).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });
});

describe("kill", () => {
  test("resolves when the processes are gone, and is a tombstone", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn({ ...sleeper, restart: "permanent" });
    const { payload } = await first(runtime.watch(id), "worker_spawned");
    expect(isRunning(payload.pid!)).toBe(true);
    expect(await runtime.kill(id, { reason: "enough" })).toMatchObject({
      id,
      ok: true,
      effect: "deleted",
      status: "cancelled",
    });
    expect(isRunning(payload.pid!)).toBe(false);
    expect(await runtime.kill(id)).toMatchObject({ ok: true, effect: "noop", status: "cancelled" });
    expect(await runtime.wait(id)).toMatchObject({
      status: "cancelled",
      signal: "SIGTERM",
      error: { message: expect.stringContaining("enough") },
    });
  });

  test("of one that is not there rejects; of several tells each result", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn(sleeper);
    await expect(runtime.kill("nobody")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    expect(await runtime.kill(["nobody", id])).toMatchObject([
      { id: "nobody", ok: false, error: { code: "WORKER_NOT_FOUND" } },
      { id, ok: true, effect: "deleted" },
    ]);
  });

  test("with a signal that there is not does nothing", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn(sleeper);
    await expect(runtime.kill(id, { signal: "SIGFOO" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect(await runtime.list()).toHaveLength(1);
  });
});

test("nobody is waited for, killed, restarted or paused where nobody is named", async () => {
  const runtime = await openRuntime();
  for (const call of [
    runtime.wait([]),
    runtime.kill([]),
    runtime.restart([]),
    runtime.pause([]),
    runtime.unpause([]),
  ])
    expect(await call).toEqual([]);
  await runtime.close();
  await expect(runtime.wait([])).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("an error that is written as JSON says what went wrong, and what comes next", async () => {
  const runtime = await openRuntime();
  const error = await runtime.info("nobody").catch((thrown: HoldfastError) => thrown);
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({
    error: {
      name: "HoldfastError",
      code: "WORKER_NOT_FOUND",
      message: (error as HoldfastError).message,
      suggestion: "List the workers with `runtime.list({ all: true })`.",
      suggestion_cli: "List the workers with `agent list --all`.",
    },
  });
});

test("a tree with a child that lacks something is refused with what it lacks", async () => {
  const runtime = await openRuntime();
  const child = { type: "worker", name: "one", spec: { kind: "command", argv: ["true"] } };
  const root = { type: "supervisor", name: "crew", config: {}, children: [child] };
  const refused = runtime.applyTree({ name: "crew", file: "/none", root } as never);
  await expect(refused).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    info: {
      problems: [
        expect.stringMatching(/^tree\.root\.children\.0\.spec\.cwd: /),
        expect.stringMatching(/^tree\.root\.children\.0\.spec\.restart: /),
      ],
    },
  });
});

test("a dynamic supervisor of a tree gets a child by its path", async () => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const pool = {
    type: "supervisor",
    name: "pool",
    config: { strategy: "dynamic" },
    children: [],
  } as const;
  await runtime.applyTree({
    name: "crew",
    file: join(stateDir, "crew"),
    root: { type: "supervisor", name: "crew", config: {}, children: [pool] },
  });
  for await (const record of runtime.watch(undefined, { from: 0 }))
    if (record.type === "supervisor_state_changed" && record.payload.to === "running") break;
  const { id } = await runtime.spawn({ ...sleeper, supervisor: "pool", ready: { healthy_for_ms: 1 } });
  expect((await runtime.info(id)).spec).toMatchObject({ supervisor: "pool", ready: { healthy_for_ms: 1 } });
});

test("restart makes the next incarnation, also of what was killed", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn(sleeper);
  const before = await first(runtime.watch(id), "worker_spawned");
  expect(await runtime.restart(id)).toMatchObject({ id, ok: true, effect: "updated" });
  const after = await first(runtime.watch(id, { from: before.seq }), "worker_spawned");
  expect(after.incarnation).toBe(2);
  expect(isRunning(before.payload.pid!)).toBe(false);
  await runtime.kill(id);
  await runtime.restart([id]);
  expect((await first(runtime.watch(id, { from: after.seq }), "worker_spawned")).incarnation).toBe(3);
  await expect(runtime.restart("nobody")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
});

test("wait rejects with TIMEOUT when its time is up, and the worker goes on", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn(sleeper);
  await expect(runtime.wait([id], { timeout_ms: 20 })).rejects.toMatchObject({
    code: "TIMEOUT",
    info: { details: { running: [id] } },
  });
  expect(await runtime.list()).toMatchObject([{ id }]);
});

test("send reaches an open stdin as it is, and nobody else's", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn({
    kind: "command",
    argv: ["sh", "-c", 'read -r line; echo "got $line"'],
    interactive: true,
  });
  await first(runtime.watch(id), "worker_spawned");
  const sent = await runtime.send(id, "salut\n", { idempotency_key: "k" });
  expect(sent).toEqual({
    message_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
    state: "delivered",
    effect: "created",
  });
  // The words about it may come after its program has ended; the worker itself does not change.
  expect(await runtime.send(id, "salut\n", { idempotency_key: "k" })).toEqual({ ...sent, effect: "noop" });
  await expect(runtime.send(id, "other\n", { idempotency_key: "k" })).rejects.toMatchObject({
    code: "VERSION_CONFLICT",
  });
  expect(await runtime.messages(id)).toEqual({
    messages: [expect.objectContaining({ state: "delivered", open: false, bytes: 6 })],
  });
  await expect(runtime.ask(id, "x")).rejects.toMatchObject({ code: "UNSUPPORTED_CAPABILITY" });
  await runtime.wait(id);
  expect((await runtime.output(id)).text).toBe("got salut\n");
  const closed = await runtime.spawn(sleeper);
  await expect(runtime.send(closed.id, "x")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
});

test("tree shows the root and what lives below it", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn({ ...sleeper, max_restarts: 7 });
  expect(await runtime.tree()).toMatchObject({
    type: "supervisor",
    strategy: "one_for_one",
    children: [{ id, type: "worker", kind: "command", window: { used: 0, max: 7 } }],
  });
});

describe("close", () => {
  test("stops every worker, ends watches after their last record, and refuses what comes after", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn({ ...sleeper, restart: "permanent" });
    const { pid } = (await first(runtime.watch(id), "worker_spawned")).payload;
    const waiting = runtime.wait(id);
    const watching = collect(runtime.watch(id));
    await runtime.close();
    await runtime.close({ agents: "keep" });
    expect(isRunning(pid!)).toBe(false);
    expect(await waiting).toMatchObject({ status: "cancelled" });
    await watching;
    for (const call of [
      runtime.spawn(sleeper),
      runtime.list(),
      runtime.info(id),
      runtime.kill(id),
      collect(runtime.watch(id)),
    ]) {
      await expect(call).rejects.toBeInstanceOf(HoldfastError);
      await expect(call).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
  });

  test.each([0, 1, 2, 4, 8])("%i ms after a spawn leaves nobody, wherever the start is", async (delay) => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn(sleeper);
    const watching = collect(runtime.watch(id));
    await new Promise((resolve) => setTimeout(resolve, delay));
    await runtime.close();
    const pids = (await watching).flatMap((record) =>
      record.type === "worker_spawned" ? [record.payload.pid!] : [],
    );
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("that keeps the agents leaves them running; the next open adopts them, and their output has no gap", async () => {
    const stateDir = stateDirectory();
    const runtime = await openRuntime(stateDir);
    const argv = ["sh", "-c", "i=0; until test -e stop; do i=$((i+1)); echo $i; sleep 0.005; done; echo end"];
    const { id } = await runtime.spawn({ kind: "command", argv, cwd: stateDir });
    const { pid } = (await first(runtime.watch(id), "worker_spawned")).payload;
    await first(runtime.watch(id), "agent.event");
    const waiting = runtime.wait(id);
    const refused = expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await runtime.close({ agents: "keep" });
    await refused;
    const spool = join(stateDir, "runs", id, "1", "stdout");
    const size = statSync(spool).size;
    await until(() => statSync(spool).size > size, "the agent prints on without us");

    const next = await openRuntime(stateDir);
    expect(await next.list()).toMatchObject([{ id, pid, status: "running", incarnation: 1 }]);
    expect((await first(next.watch(id), "worker_adopted")).payload.agent?.pid).toBe(pid);
    writeFileSync(join(stateDir, "stop"), "");
    expect(await next.wait(id)).toMatchObject({ status: "completed", exit_code: 0 });
    const lines = (await next.output(id)).text.trimEnd().split("\n");
    expect(lines).toEqual([...lines.slice(0, -1).map((_, index) => String(index + 1)), "end"]);
  });

  test("a worker that ended meanwhile has its end when open resolves", async () => {
    const stateDir = stateDirectory();
    const runtime = await openRuntime(stateDir);
    const script = (code: number) => ["sh", "-c", `until test -e stop; do sleep 0.01; done; exit ${code}`];
    const ids: string[] = [];
    for (const code of [0, 1, 2]) {
      const { id } = await runtime.spawn({ kind: "command", argv: script(code), cwd: stateDir });
      await first(runtime.watch(id), "worker_spawned");
      ids.push(id);
    }
    await runtime.close({ agents: "keep" });
    writeFileSync(join(stateDir, "stop"), "");
    // Until its launcher has told how it ended, a run goes on.
    for (const id of ids)
      await until(() => isWritten(join(stateDir, "runs", id, "1", "exit")), `${id} has ended`);
    const next = await openRuntime(stateDir);
    const ends = (await next.list({ all: true })).map(({ status }) => status);
    expect(ends.sort()).toEqual(["completed", "failed", "failed"]);
    expect(await next.list()).toEqual([]);
  });

  test("says of calls that it cuts off that the runtime is closed, and not that the log has failed", async () => {
    const runtime = await Runtime.open({ stateDir: stateDirectory() });
    const { id } = await runtime.spawn({ kind: "command", argv: ["echo", "hi"] });
    await runtime.wait(id);
    const codes = new Set<string>();
    const tell = (call: Promise<unknown>) =>
      call.then(
        () => codes.add("answered"),
        ({ code }) => codes.add(code),
      );
    const asked: Promise<unknown>[] = [];
    let isOver = false;
    const asking = (async () => {
      for (; !isOver; await new Promise((turn) => setImmediate(turn)))
        for (const call of [runtime.usage(), runtime.list(), runtime.why(id), runtime.output(id)])
          asked.push(tell(call));
    })();
    await runtime.usage();
    await runtime.close();
    isOver = true;
    await asking;
    await Promise.all(asked);
    expect(codes).toEqual(new Set(["answered", "UNAVAILABLE"]));
  });

  test("is what `await using` does at the end of its block", async () => {
    const stateDir = stateDirectory();
    let pid = 0;
    {
      await using runtime = await Runtime.open({ stateDir });
      const { id } = await runtime.spawn(sleeper);
      pid = (await first(runtime.watch(id), "worker_spawned")).payload.pid!;
      expect(isRunning(pid)).toBe(true);
    }
    expect(isRunning(pid)).toBe(false);
  });
});

describe("a program that embeds the runtime", () => {
  const incarnations = (stateDir: string): number => {
    const file = join(stateDir, "incarnations");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  };
  const open = async (stateDir: string) => {
    const runtime = await openRuntime(stateDir);
    return { runtime, worker: await runtime.info("kept") };
  };

  test.each([
    ["kill", "cancelled"],
    ["keep", "pending|starting|running"],
  ] as const)("ends by itself after close with %s: nothing holds it", async (how, status) => {
    const stateDir = stateDirectory();
    const ended = await program(fixture("embeds.ts"), [stateDir, how]).ended;
    expect(ended).toEqual({ code: 0, signal: null, stdout: "the end of the program\n", stderr: "" });
    const { worker } = await open(stateDir);
    expect(worker.status).toMatch(new RegExp(`^(${status})$`));
  });

  test.each(["SIGINT", "SIGKILL"] as const)(
    "that forgot to close supervises on, is ended by %s like any other, and leaves its agents to the next open",
    async (signal) => {
      const stateDir = stateDirectory();
      const embedding = program(fixture("embeds.ts"), [stateDir, "forget"]);
      await until(() => embedding.stdout() !== "", "the program has come to its end");
      const before = incarnations(stateDir);
      await until(() => incarnations(stateDir) >= before + 2, "it restarts what ends");
      writeFileSync(join(stateDir, "last"), "");
      await until(() => existsSync(join(stateDir, "asleep")), "its last incarnation stays");
      embedding.process.kill(signal);
      expect(await embedding.ended).toMatchObject({ code: null, signal });

      const { runtime } = await open(stateDir);
      // The program may have ended before it heard that its last start had succeeded.
      const hasStarted = async () => (await runtime.info("kept")).status !== "starting";
      await until(hasStarted, "the start that was under way is known");
      const worker = await runtime.info("kept");
      expect(worker).toMatchObject({ status: "running", incarnation: incarnations(stateDir) });
      expect(isRunning(worker.pid as number)).toBe(true);
      await runtime.kill("kept");
    },
  );
});
