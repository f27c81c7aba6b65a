/** The packed package as somebody else's program finds it: by its name, through its exports, with its own dependencies alone. `npm test` builds it first. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../support/figures.ts";
import { program } from "./support.ts";

const root = resolve(import.meta.dirname, "../..");
const modules = join(root, "node_modules");
interface Manifest {
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: { readonly ".": { readonly types: string } };
}
const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** Declarations of the promise door, as the exports name them. */
const DECLARATIONS = manifestOf(root).exports["."].types;

/** Made by beforeAll: a run that selects no test here leaves nothing. */
const place = join(tmpdir(), `holdfast-package-${randomUUID()}`);
const project = join(place, "project");
const installed = join(project, "node_modules", "holdfast");

let tarball: string;
/** The daemon, the engine, the library and parts of the client share their files; the client and the dashboard are alone. */
const PACKED_MAX_BYTES = 2_000_000;
/** Most of it is the catalogue of errors. */
const BUNDLED_MAX_BYTES = 16 * 1024;

/** As `npm pack` does it, in a copy: other tests read the files meanwhile. */
const pack = (clone: string): string => {
  const files = manifestOf(root).files.filter((file) => !file.startsWith("!"));
  for (const name of [...files, "package.json", "README.md", "LICENSE", "scripts"])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  const run = (command: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: clone, encoding: "utf8" });
    expect({ command, args, status, stderr: status === 0 ? "" : stderr }).toMatchObject({ status: 0 });
    return stdout;
  };
  run(process.execPath, "scripts/packed.ts", "trim");
  const [{ filename }] = JSON.parse(run("npm", "pack", "--ignore-scripts", "--json")) as [
    { filename: string },
  ];
  run(process.execPath, "scripts/packed.ts", "restore");
  return join(clone, filename);
};

beforeAll(() => {
  expect(existsSync(join(root, DECLARATIONS)), `${DECLARATIONS} is built (npm run build)`).toBe(true);
  mkdirSync(installed, { recursive: true });
  mkdirSync(join(project, "node_modules", "@types"));
  tarball = pack(join(place, "clone"));
  expect(spawnSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]).status).toBe(0);
  for (const name of Object.keys(manifestOf(installed).dependencies)) {
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, name), link);
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "theirs", type: "module" }));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** How a program's compiler finds the package: as Node does, or as bundlers do. */
const RESOLUTIONS = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
} as const;
type Resolution = keyof typeof RESOLUTIONS;

const COMPILER = join(modules, ".bin/tsc");
/** Many programs do not have the newest TypeScript yet. */
const OLDER_COMPILER = join(root, "typescript-5/node_modules/typescript/bin/tsc");

/** Strict, with every declaration file checked. */
const compile = (
  source: string,
  types: readonly string[] = [],
  resolution: Resolution = "nodenext",
  compiler = COMPILER,
) => {
  const compilerOptions = {
    target: "es2022",
    ...RESOLUTIONS[resolution],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
    listFiles: true,
    types,
  };
  writeFileSync(join(project, "main.ts"), source);
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  const { stdout, error } = spawnSync(compiler, ["-p", project], { encoding: "utf8" });
  expect(error, `${compiler} runs (npm ci installs it)`).toBeUndefined();
  const lines = stdout.split("\n");
  return {
    errors: lines.filter((line) => /error TS/.test(line)),
    files: lines.filter((line) => line.startsWith("/")),
  };
};

/** A program of the promise door. */
const PROMISE_DOOR = `
      import { HoldfastError, type LogRecord, Runtime, type SpawnOptions, type WorkerHandle } from "holdfast";
      const options: SpawnOptions = { kind: "command", argv: ["true"] };
      await using runtime = await Runtime.open({ stateDir: "state" });
      const { id } = await runtime.spawn(options);
      const handle: WorkerHandle = await runtime.worker(id);
      for await (const event of handle.events({ kinds: ["TextOutput"] })) event.text satisfies string;
      for await (const record of runtime.watch({ ids: [id], types: ["worker_exited"] }))
        record.payload.exit_code satisfies number | null;
      for await (const record of runtime.watch(id)) {
        const kept: LogRecord = record;
        if (kept.type === "worker_exited") kept.payload.exit_code satisfies number | null;
      }
      try {
        (await runtime.wait(id, { timeout_ms: 1_000 })).status satisfies string;
      } catch (error) {
        if (error instanceof HoldfastError && error.code === "TIMEOUT") await runtime.kill(id);
      }`;

describe("its types", () => {
  test.each(["nodenext", "bundler"] as const)(
    "of the promise door compile in a strict project (%s), and need none of Node's, Effect's or SQLite's",
    (resolution) => {
      const { errors, files } = compile(PROMISE_DOOR, [], resolution);
      expect(errors).toEqual([]);
      expect(files).toContain(join(installed, DECLARATIONS));
      expect(
        files.filter((file) => /node_modules\/(effect|xstate|better-sqlite3|@types)\//.test(file)),
      ).toEqual([]);
    },
  );

  const OTHER_DOORS = `
      import { Effect } from "effect";
      import { HoldfastRuntime, layer } from "holdfast/effect";
      import { conformance, makeMemorySpawner, openForTest } from "holdfast/testing";
      import { Runtime } from "holdfast";
      // @ts-expect-error it is not for programs
      Runtime.over;
      export const opened: Promise<Runtime> = openForTest().then(({ runtime }) => runtime);
      export const main = Effect.provide(Effect.flatMap(HoldfastRuntime, (runtime) => runtime.tree()), layer());
      export const testing = [conformance, makeMemorySpawner];`;

  test("of the other doors need Effect's and Node's, and no more", () => {
    symlinkSync(join(modules, "@types", "node"), join(project, "node_modules", "@types", "node"));
    expect(compile(OTHER_DOORS, ["node"]).errors).toEqual([]);
  });

  // Effect's declarations take it long, so those doors are checked where full figures are asked for.
  test(`of ${full ? "all doors" : "the promise door"} compile with TypeScript 5.9, too`, () => {
    const version = spawnSync(OLDER_COMPILER, ["--version"], { encoding: "utf8" }).stdout;
    expect(version).toMatch(/^Version 5\.9\./);
    const { errors, files } = compile(
      full ? OTHER_DOORS : PROMISE_DOOR,
      full ? ["node"] : [],
      "nodenext",
      OLDER_COMPILER,
    );
    expect(errors).toEqual([]);
    expect(files).toContain(join(installed, DECLARATIONS));
  });
});

test(`a bundler takes of it what a program uses: a pure function in ${BUNDLED_MAX_BYTES / 1024} KiB, and the check of Node's version`, async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export { projectRun } from "holdfast";', resolveDir: project },
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    write: false,
  });
  const text = outputFiles[0]?.text ?? "";
  expect(text.length).toBeLessThanOrEqual(BUNDLED_MAX_BYTES);
  expect(text).toContain("which is too old");
});

describe("its tarball", () => {
  test("asks for no script, names nothing that only a clone has, and is one program by two names", () => {
    const manifest = manifestOf(installed);
    for (const field of ["scripts", "devDependencies", "allowScripts", "overrides"])
      expect(manifest).not.toHaveProperty(field);
    expect(manifest.bin).toEqual({ agent: "bin/agent", holdfast: "bin/agent" });
    // The clone has all of it again.
    expect(manifestOf(join(place, "clone"))).toEqual(manifestOf(root));
  });

  test("has the examples, and no map of a bundle", () => {
    const files = readdirSync(installed, { recursive: true }) as string[];
    expect(files).toEqual(
      expect.arrayContaining(["examples/fan-out.ts", "examples/adapters/lines.mjs", "dist/cli.cjs"]),
    );
    expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
    // Compiled for one version of Node alone.
    expect(files).not.toContain("dist/cli.code");
  });

  test(`has at most ${PACKED_MAX_BYTES / 1e6} MB`, () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(PACKED_MAX_BYTES);
  });

  test("has a man page and completions for both names of the command", () => {
    expect(readFileSync(join(installed, "man/agent.1"), "utf8")).toMatch(/^\.TH AGENT 1/m);
    const script = spawnSync(process.execPath, [join(installed, "bin/agent"), "completion", "bash"], {
      encoding: "utf8",
    });
    expect(script.stdout).toContain("-F _agent agent holdfast");
  });

  test("has what its pages link to", () => {
    const pages = (readdirSync(installed, { recursive: true }) as string[]).filter((file) =>
      file.endsWith(".md"),
    );
    expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/reference/library.md"]));
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(installed, page), "utf8").replaceAll(/^```.*?^```/gms, "");
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = ""]) => target.replace(/#.*/, ""))
        .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
        .filter((target) => !existsSync(join(installed, dirname(page), target)))
        .map((target) => `${page}: ${target}`);
    });
    expect(dead).toEqual([]);
  });

  test.each(["agent", "holdfast"])("%s is the command", (name) => {
    const file = join(installed, manifestOf(installed).bin[name] as string);
    const { stdout } = spawnSync(process.execPath, [file, "--version"], { encoding: "utf8" });
    expect(stdout).toContain(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
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
     process.stdout.write((await runtime.output(id)).text);
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

test.each(["holdfast", "holdfast/effect", "holdfast/adapters", "holdfast/testing"])(
  "under a Node that is too old, %s says so and what to do",
  async (door) => {
    const file = join(project, "old.mjs");
    writeFileSync(
      file,
      `Object.defineProperty(process.versions, "node", { value: "20.20.2" });
       const { code, message, suggestion } = await import("${door}").catch((thrown) => thrown);
       process.stdout.write([code, message, suggestion].join("\\n"));`,
    );
    expect((await program(file).ended).stdout).toBe(
      "RUNTIME_TOO_OLD\nThis is Node 20.20.2, which is too old.\nInstall Node 22.19 or newer.",
    );
  },
);
