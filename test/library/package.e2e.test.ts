/** The built package as somebody else's program finds it: by its name, through its exports. `npm test` builds it first. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program } from "./support.ts";

const root = resolve(import.meta.dirname, "../..");
let project: string;

beforeAll(() => {
  expect(existsSync(join(root, "dist/lib/src/index.d.ts")), "the package is built (npm run build)").toBe(
    true,
  );
  project = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(root, join(project, "node_modules", "holdfast"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "theirs", type: "module" }));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Strict, with nothing of ours: no types of Node, every declaration file checked. */
const compile = (source: string, types: readonly string[] = []) => {
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    listFiles: true,
    types,
  };
  writeFileSync(join(project, "main.ts"), source);
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", project], { encoding: "utf8" });
  const lines = stdout.split("\n");
  return {
    errors: lines.filter((line) => /error TS/.test(line)),
    files: lines.filter((line) => line.startsWith("/")),
  };
};

describe("its types", () => {
  test("of the promise door compile in a strict project, and need none of Effect's", () => {
    const { errors, files } = compile(`
      import { HoldfastError, type LogRecord, Runtime, type SpawnOptions } from "holdfast";
      const options: SpawnOptions = { kind: "command", argv: ["true"] };
      await using runtime = await Runtime.open({ stateDir: "state" });
      const { id } = await runtime.spawn(options);
      for await (const record of runtime.watch(id)) {
        const kept: LogRecord = record;
        if (kept.type === "worker_exited") kept.payload.exit_code satisfies number | null;
      }
      try {
        (await runtime.wait(id, 1_000)).status satisfies string;
      } catch (error) {
        if (error instanceof HoldfastError && error.code === "TIMEOUT") await runtime.kill(id);
      }`);
    expect(errors).toEqual([]);
    expect(files.some((file) => file.endsWith("dist/lib/src/index.d.ts"))).toBe(true);
    expect(files.filter((file) => file.includes("node_modules/effect/"))).toEqual([]);
  });

  test("of the other doors compile too", () => {
    symlinkSync(join(root, "node_modules", "effect"), join(project, "node_modules", "effect"));
    symlinkSync(join(root, "node_modules", "@types"), join(project, "node_modules", "@types"));
    const { errors } = compile(
      `
      import { Effect } from "effect";
      import { HoldfastRuntime, layer } from "holdfast/effect";
      import { conformance, makeMemorySpawner } from "holdfast/testing";
      export const main = Effect.provide(Effect.flatMap(HoldfastRuntime, (runtime) => runtime.tree()), layer());
      export const testing = [conformance, makeMemorySpawner];`,
      ["node"],
    );
    expect(errors).toEqual([]);
  });
});

test("it runs a command, and the program ends by itself", async () => {
  const file = join(project, "main.mjs");
  writeFileSync(
    file,
    `import { HoldfastError, Runtime } from "holdfast";
     import { HoldfastError as OfEffect } from "holdfast/effect";
     import "holdfast/testing";
     const runtime = await Runtime.open({ stateDir: ${JSON.stringify(join(project, "state"))} });
     const { id } = await runtime.spawn({ kind: "command", argv: ["echo", "from the package"] });
     await runtime.wait(id);
     process.stdout.write(await runtime.output(id));
     const error = await runtime.info("nobody").catch((thrown) => thrown);
     process.stdout.write(String(error instanceof HoldfastError && HoldfastError === OfEffect));
     await runtime.close();`,
  );
  expect(await program(file).ended).toEqual({
    code: 0,
    signal: null,
    stdout: "from the package\ntrue",
    stderr: "",
  });
});
