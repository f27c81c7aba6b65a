/** Each call of the library with a wrong thing that JavaScript lets through is refused with INVALID_REQUEST, at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../../src/library/index.ts";

let runtime: Runtime;
let stateDir: string;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-mistakes-"));
  runtime = await Runtime.open({ stateDir });
});
afterAll(async () => {
  await runtime.close();
  rmSync(stateDir, { recursive: true });
});

// As a program without types sees it.
type Untyped = Record<string, (...args: unknown[]) => unknown>;
const untyped = (): Untyped => runtime as unknown as Untyped;

const first = async (items: unknown): Promise<unknown> => {
  for await (const item of items as AsyncIterable<unknown>) return item;
  return undefined;
};

const NOTHING = [undefined, null, 5, {}];

test.each(["archive", "kill", "pause", "restart", "removeWorktrees", "unpause", "wait"])(
  "%s of something that is no id",
  async (name) => {
    for (const ids of NOTHING)
      await expect(untyped()[name]!(ids), String(ids)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  },
);

test.each(["artifact", "mcp"])("%s of something that is no text", async (name) => {
  for (const what of NOTHING)
    await expect(untyped()[name]!(what)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("raw and usage of something that is no id, and a cursor of something that is no number", async () => {
  for (const id of NOTHING)
    await expect(first(untyped().raw!(id))).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  for (const ids of NOTHING)
    await expect(runtime.jobs.wait(ids as never)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(runtime.jobs.wait("nobody" as never)).rejects.toMatchObject({
    message: expect.stringContaining('"nobody"'),
  });
  await expect(untyped().usage!(5)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  for (const seq of [undefined, "1", -1, 1.5])
    expect(() => untyped().cursor!(seq)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
});

test("a signal that is none, before anything is started", async () => {
  const signal = {};
  const program = { kind: "command", argv: ["true"] };
  await expect(untyped().run!({ ...program, signal })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(untyped().spawn!(program, { signal })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(untyped().wait!("nobody", { signal })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  for (const name of ["events", "raw", "watch"])
    await expect(first(untyped()[name]!("nobody", { signal })), name).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  expect(await runtime.list({ all: true })).toEqual([]);
});

test("the whole environment of the process is one of an agent", async () => {
  const worker = await runtime.run({
    kind: "command",
    argv: ["true"],
    env: process.env as Record<string, string>,
  });
  expect(await worker.result).toMatchObject({ status: "completed" });
});
