/** Schedules of both doors of the library. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { HoldfastRuntime, layer } from "../../src/library/effect.ts";
import { openRuntime, stateDirectory } from "./support.ts";

const yearly = { name: "yearly", cron: "@yearly", zone: "UTC", kind: "command", argv: ["true"] } as const;

test("a program adds, runs, pauses and removes a schedule, which outlives it", async () => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  expect(await runtime.schedules.add({ ...yearly, argv: ["true"] })).toMatchObject({ effect: "created" });
  const { worker_id } = await runtime.schedules.run("yearly");
  expect(await runtime.wait(worker_id)).toMatchObject({ status: "completed" });
  expect(await runtime.schedules.pause("yearly")).toMatchObject({ effect: "updated", next_at: null });
  await runtime.close();

  const next = await openRuntime(stateDir);
  expect(await next.schedules.list()).toMatchObject({
    schedules: [{ name: "yearly", paused: true, last: { cause: "asked", worker_id, status: "completed" } }],
  });
  expect(await next.schedules.resume("yearly")).toMatchObject({
    next_at: expect.stringMatching(/-01-01T00:00:00.000Z$/),
  });
  expect(await next.schedules.show("yearly")).toMatchObject({ kind: "command", spec: { argv: ["true"] } });
  expect((await next.tree()).schedules).toMatchObject([{ name: "yearly", running: 0 }]);
  expect(await next.schedules.remove("yearly")).toMatchObject({ effect: "deleted" });
  await expect(next.schedules.show("yearly")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
});

test("a tree brings its schedules, changes them and takes them away", async () => {
  const runtime = await openRuntime();
  const spec = { kind: "command", argv: ["true"], cwd: "/", restart: "temporary" as const };
  const tree = (schedules: { name: string; cron: string; spec: typeof spec }[]) =>
    runtime.applyTree({
      name: "night",
      file: "/night.yaml",
      root: { type: "supervisor", name: "night", config: { strategy: "dynamic" }, children: [] },
      schedules,
    });
  const actions = ({ changes }: Awaited<ReturnType<typeof tree>>) =>
    changes.flatMap(({ path, action, fields = [] }) =>
      path === "night" ? [] : [`${action} ${path} ${fields.join()}`.trim()],
    );
  const [a, b] = ["a", "b"].map((name) => ({ name, cron: "@yearly", spec })) as [never, never];
  expect(actions(await tree([a, b]))).toEqual(["create schedules/a", "create schedules/b"]);
  expect(actions(await tree([a, b]))).toEqual(["unchanged schedules/a", "unchanged schedules/b"]);
  const changed = { name: "a", cron: "@monthly", spec: { ...spec, argv: ["false"] } };
  expect(actions(await tree([changed]))).toEqual(["update schedules/a cron,argv", "remove schedules/b"]);
  await expect(runtime.schedules.remove("a")).rejects.toMatchObject({ code: "INVALID_STATE" });
  await expect(runtime.schedules.add({ ...yearly, name: "a", argv: ["true"] })).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });
  await runtime.downTree("night");
  expect((await runtime.schedules.list()).schedules).toEqual([]);
});

test("mistakes reject with INVALID_REQUEST, and nothing is done", async () => {
  const { schedules } = await openRuntime();
  const mistakes = [
    schedules.add({ ...yearly, argv: ["true"], cron: "every day" }),
    schedules.add({ ...yearly, argv: ["true"], zone: "Mars" }),
    schedules.add({ ...yearly, argv: ["true"], restart: "permanent" }),
    schedules.add({ ...yearly, argv: ["true"], overlap: "replace", missed: "all" }),
    schedules.next("* * *"),
    schedules.show("no/slash"),
  ];
  for (const mistake of await Promise.allSettled(mistakes))
    expect(mistake).toMatchObject({ status: "rejected", reason: { code: "INVALID_REQUEST" } });
  expect((await schedules.list()).schedules).toEqual([]);
});

test("an Effect program does the same", async () => {
  const { times } = await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const { schedules } = yield* HoldfastRuntime;
        yield* schedules.add({ ...yearly, argv: ["true"] });
        expect(yield* schedules.remove("yearly")).toMatchObject({ effect: "deleted" });
        return yield* schedules.next({
          cron: "@yearly",
          zone: "UTC",
          from: "2026-06-01T00:00:00Z",
          limit: 2,
        });
      }),
      layer({ stateDir: stateDirectory() }),
    ),
  );
  expect(times).toEqual(["2027-01-01T00:00:00.000Z", "2028-01-01T00:00:00.000Z"]);
});
