/** `holdfast/effect` with real processes: what its docstrings promise. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Config, ConfigProvider, Effect, Fiber, Layer, Stream } from "effect";
import { expect, onTestFinished, test } from "vitest";
import { HoldfastError, HoldfastRuntime, layer, layerConfig, open } from "../../src/library/effect.ts";
import { isRunning, openRuntime, stateDirectory, until } from "./support.ts";

const sleeper = { kind: "command", argv: ["sleep", "600"], cwd: "/", restart: "temporary" } as const;
const spec = (over: object = {}) => ({ ...sleeper, argv: ["sleep", "600"], ...over });

const use = <A, E>(stateDir: string, program: Effect.Effect<A, E, HoldfastRuntime>): Promise<A> =>
  Effect.runPromise(Effect.provide(program, layer({ stateDir })));

test("a program spawns, watches, waits and reads through the service", async () => {
  const [types, ended, output] = await use(
    stateDirectory(),
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const { id } = yield* runtime.spawn(spec({ argv: ["sh", "-c", "echo from effect"] }));
      const records = yield* Stream.runCollect(runtime.watch({ ids: [id], from: 0, follow: false }));
      const [reply] = yield* runtime.wait([id]);
      return [records.map((record) => record.type), reply, yield* runtime.output(id)] as const;
    }),
  );
  expect(types.at(-1)).toBe("worker_ended");
  expect(ended).toMatchObject({ status: "completed", exit_code: 0 });
  expect(output).toMatchObject({ text: "from effect\n", truncated: false });
});

/** Waits until the worker runs. */
const startedOf = (id: string) =>
  Effect.gen(function* () {
    const runtime = yield* HoldfastRuntime;
    const records = runtime.watch({ ids: [id], from: 0, follow: true });
    const first = yield* Stream.runHead(Stream.filter(records, (record) => record.type === "worker_started"));
    expect(first._tag).toBe("Some");
    return yield* runtime.info(id);
  });

const started = Effect.gen(function* () {
  const runtime = yield* HoldfastRuntime;
  const { id } = yield* runtime.spawn(spec());
  return yield* startedOf(id);
});

test("its agents get the environment that those of the promise door get", async () => {
  const given = { EFFECT_NAMED: "named", EFFECT_REFERRED: "a-secret-of-ours", EFFECT_OTHER: "stays" };
  Object.assign(process.env, given);
  onTestFinished(() => {
    for (const name of Object.keys(given)) delete process.env[name];
  });
  const script =
    'echo "$EFFECT_NAMED ${EFFECT_OTHER-unset} $HOME"; test "$GIVEN" = a-secret-of-ours && echo same';
  const asked = {
    kind: "command",
    argv: ["sh", "-c", script],
    inherit_env: ["EFFECT_NAMED"],
    env: { GIVEN: "@env:EFFECT_REFERRED" },
  } as const;
  const stateDir = stateDirectory();
  const promised = await openRuntime(stateDir);
  const { id } = await promised.spawn(asked);
  await promised.wait(id);
  const expected = (await promised.output(id)).text;
  await promised.close();
  expect(expected).toBe(`named unset ${process.env.HOME}\nsame\n`);
  const [output, info] = await use(
    stateDir,
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const spawned = yield* runtime.spawn(asked);
      yield* runtime.wait([spawned.id]);
      return [yield* runtime.output(spawned.id), yield* runtime.info(spawned.id)] as const;
    }),
  );
  expect(output.text).toBe(expected);
  expect(info.spec).toMatchObject({ cwd: process.cwd(), restart: "temporary" });
});

test("an agent's CLI is found by its variable and gets its key, by spawn and in a tree", async () => {
  const stateDir = stateDirectory();
  const program = join(stateDir, "claude");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const given = { CLAUDE_BINARY: program, ANTHROPIC_API_KEY: "sk-ant-of-a-test" };
  const before = Object.keys(given).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, given);
  onTestFinished(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  const agent = { kind: "claude_code", prompt: "hi", cwd: "/", restart: "temporary" } as const;
  const tree = {
    name: "crew",
    file: join(stateDir, "crew"),
    root: {
      type: "supervisor",
      name: "crew",
      config: {},
      children: [{ type: "worker", name: "one", spec: agent }],
    },
  } as const;
  const { plan, applied } = await use(
    stateDir,
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const dry = yield* runtime.spawn({ ...agent, dry_run: true });
      return { plan: dry.plan, applied: yield* runtime.applyTree(tree, { dry_run: true }) };
    }),
  );
  expect(plan?.argv[0]).toBe(program);
  expect(Object.keys(plan?.env ?? {})).toContain("ANTHROPIC_API_KEY");
  expect(applied.changes).toMatchObject([{ action: "create" }, { action: "create" }]);
});

test("a failure is caught by its tag", async () => {
  const caught = await use(
    stateDirectory(),
    Effect.flatMap(HoldfastRuntime, (runtime) =>
      Effect.catchTag(runtime.info("nobody"), "HoldfastError", ({ code }) => Effect.succeed(code)),
    ),
  );
  expect(caught).toBe("WORKER_NOT_FOUND");
});

test("the end of the layer leaves the agents to the next one that opens it", async () => {
  const stateDir = stateDirectory();
  const { id, pid } = await use(stateDir, started);
  expect(isRunning(pid as number)).toBe(true);
  const adopted = await use(
    stateDir,
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const found = yield* runtime.list();
      yield* runtime.kill({ ids: [id] });
      return found;
    }),
  );
  expect(adopted).toMatchObject([{ id, pid, status: "running", incarnation: 1 }]);
  expect(isRunning(pid as number)).toBe(false);
});

test("an interrupted program gives the lock back and leaves its agents", async () => {
  const stateDir = stateDirectory();
  let pid = 0;
  const endless = Effect.gen(function* () {
    pid = (yield* started).pid as number;
    return yield* Effect.never;
  });
  const fiber = Effect.runFork(Effect.provide(endless, layer({ stateDir })));
  await until(() => pid > 0, "the agent runs");
  await Effect.runPromise(Fiber.interrupt(fiber));
  expect(isRunning(pid)).toBe(true);
  expect(
    await use(
      stateDir,
      Effect.flatMap(HoldfastRuntime, (runtime) => runtime.list()),
    ),
  ).toMatchObject([{ pid }]);
});

test("a directory that is owned fails the layer with LOCK_HELD, in the error channel", async () => {
  const stateDir = join(stateDirectory(), "owned");
  const refused = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* open({ stateDir });
        return yield* Effect.flip(Effect.scoped(open({ stateDir })));
      }),
    ),
  );
  expect(refused).toBeInstanceOf(HoldfastError);
  expect(refused).toMatchObject({ code: "LOCK_HELD", info: { details: { pid: process.pid } } });
});

test("every failure is a HoldfastError in the error channel", async () => {
  const failures = await use(
    stateDirectory(),
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      return yield* Effect.all([
        Effect.flip(runtime.info("nobody")),
        Effect.flip(runtime.spawn(spec({ kind: "nothing" }))),
        Effect.flip(runtime.output("nobody")),
        Effect.flip(Stream.runDrain(runtime.watch({ ids: ["nobody"], follow: false }))),
      ]);
    }),
  );
  for (const failure of failures) expect(failure).toBeInstanceOf(HoldfastError);
});

test("the next step of a failure is a call of the program, beside the command", async () => {
  const failures = await use(
    stateDirectory(),
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const { id } = yield* runtime.spawn(spec());
      const failed = yield* Effect.all([
        Effect.flip(runtime.wait([id], 1)),
        Effect.flip(runtime.jobs.tail("nothing", { from: 0, follow: false }).pipe(Stream.runDrain)),
      ]);
      yield* runtime.kill({ ids: [id] });
      return failed;
    }),
  );
  expect(failures.map(({ code }) => code)).toEqual(["TIMEOUT", "WORKER_NOT_FOUND"]);
  expect(failures[0]).toMatchObject({
    suggestion: expect.stringContaining("`timeout_ms`"),
    suggestion_cli: expect.stringContaining("--timeout"),
  });
});

test("a worker of `run` tells its records and its end, and its scope ends it", async () => {
  const [types, ended, left] = await use(
    stateDirectory(),
    Effect.gen(function* () {
      const runtime = yield* HoldfastRuntime;
      const [types, ended] = yield* Effect.scoped(
        Effect.gen(function* () {
          const { records, result } = yield* runtime.run(spec({ argv: ["true"] }));
          return [(yield* Stream.runCollect(records)).map(({ type }) => type), yield* result] as const;
        }),
      );
      const { pid, status } = yield* Effect.scoped(
        Effect.gen(function* () {
          const { id } = yield* runtime.run(spec());
          return yield* startedOf(id);
        }),
      );
      return [types, ended, { status, runs: isRunning(pid as number) }] as const;
    }),
  );
  expect(types.at(-1)).toBe("worker_ended");
  expect(ended).toMatchObject({ status: "completed" });
  expect(left).toEqual({ status: "running", runs: false });
});

test("an interrupted `run` leaves no agent", async () => {
  const stateDir = stateDirectory();
  let pid = 0;
  const endless = Effect.gen(function* () {
    const runtime = yield* HoldfastRuntime;
    const { id } = yield* runtime.run(spec());
    pid = (yield* startedOf(id)).pid as number;
    return yield* Effect.never;
  });
  const fiber = Effect.runFork(Effect.provide(Effect.scoped(endless), layer({ stateDir })));
  await until(() => pid > 0, "the agent runs");
  await Effect.runPromise(Fiber.interrupt(fiber));
  expect(isRunning(pid)).toBe(false);
});

test("the options of a layer come from a Config", async () => {
  const stateDir = stateDirectory();
  const config = Config.all({ stateDir: Config.String("AGENTS") });
  const status = Effect.flatMap(HoldfastRuntime, (runtime) => runtime.status());
  const over = (env: Readonly<Record<string, string>>) =>
    Effect.provide(
      status,
      layerConfig(config).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))),
    );
  expect(await Effect.runPromise(over({ AGENTS: stateDir }))).toMatchObject({ state_dir: stateDir });
  expect(await Effect.runPromise(Effect.flip(over({})))).toMatchObject({ _tag: "ConfigError" });
});
