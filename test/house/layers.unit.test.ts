/** The house rule: a file imports only from its own row or the rows above (docs/architecture.md, Layers). */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../../src");
const rows = ["protocol", "tree-file", "store", "actors", "adapters", "supervisor", "daemon", "cli"];
/** The client is thin: of the daemon it knows how to find and start one, and the wire; of the rest only what goes on the wire. */
const clientMayImport = ["protocol", "cli"];

const files = (readdirSync(src, { recursive: true }) as string[])
  .filter((file) => file.endsWith(".ts"))
  .sort();
const importsOf = (file: string) =>
  [
    ...readFileSync(join(src, file), "utf8").matchAll(
      /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"/gms,
    ),
  ].map(([, type, from]) => ({
    typeOnly: type !== undefined,
    from: from as string,
    target: (from as string).startsWith(".")
      ? relative(src, resolve(src, dirname(file), from as string))
      : (from as string),
  }));
const rowOf = (file: string) => rows.indexOf(file.split("/")[0] as string);
const isDoor = (file: string) => !file.includes("/");

describe("layers", () => {
  it.each(files.filter((file) => !isDoor(file)))("%s imports downward only", (file) => {
    const upward = importsOf(file)
      .filter(({ from, target }) => from.startsWith(".") && !isDoor(target))
      .filter(({ target }) => rowOf(target) > rowOf(file))
      .map(({ from }) => from);
    expect(upward).toEqual([]);
  });

  it("knows every folder of src", () => {
    expect(
      [...new Set(files.filter((file) => !isDoor(file)).map((file) => file.split("/")[0]))].filter(
        (folder) => !rows.includes(folder as string),
      ),
    ).toEqual([]);
  });
});

describe("pure rooms", () => {
  const shell =
    /^supervisor\/([a-z]+\/)?(runtime|worker|open|watch|services|output|boot|intake|journal|queries|roster|spec-files)\.ts$/;
  const pure = files.filter(
    (file) =>
      /^(protocol|tree-file)\//.test(file) ||
      file === "actors/worker-machine.ts" ||
      (/^supervisor\//.test(file) && !shell.test(file)) ||
      /^adapters\/(command|claude-code|codex)\//.test(file) ||
      /^adapters\/process\/(framer|environment)\.ts$/.test(file),
  );
  it.each(pure)("%s touches no clock, file, socket or process", (file) => {
    const impure = importsOf(file)
      .filter(
        ({ typeOnly, from }) =>
          !typeOnly && /^node:(fs|net|child_process|timers|os|process|worker_threads|http)/.test(from),
      )
      .map(({ from }) => from);
    const calls =
      readFileSync(join(src, file), "utf8").match(
        /\b(Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|performance\.now\(|process\.(env|kill|hrtime))/g,
      ) ?? [];
    expect([...impure, ...calls]).toEqual([]);
  });
});

it("nobody outside store writes SQL, but the lock", () => {
  expect(
    files
      .filter((file) => importsOf(file).some(({ from }) => from === "better-sqlite3"))
      .filter((file) => !file.startsWith("store/")),
  ).toEqual(["daemon/lock.ts"]);
});

it("nobody outside adapters/process signals a process of a run", () => {
  const signalling = files.filter((file) => /process\.kill\(/.test(readFileSync(join(src, file), "utf8")));
  // daemon-file.ts and the client ask with signal 0 whether a daemon lives; that sends nothing.
  const sending = signalling.filter((file) =>
    /process\.kill\((?![^)]*,\s*0\))/.test(readFileSync(join(src, file), "utf8")),
  );
  // The demo kills the daemon that it started itself, to show what that costs.
  // The daemon itself, and an upgrade, die where a chaos test armed a crash point in their environment.
  expect(sending.filter((file) => !file.startsWith("adapters/process/"))).toEqual([
    "cli/commands/demo-stage.ts",
    "cli/commands/upgrade.ts",
    "daemon/entry.ts",
  ]);
});

it("the client knows only what goes on the wire", () => {
  const light = [
    // Mistakes that are told before a daemon is started.
    "adapters/process/programs.ts",
    "adapters/validate.ts",
    "daemon/paths.ts",
    "daemon/start.ts",
    "daemon/connect.ts",
    "daemon/daemon-file.ts",
    "daemon/line-splitter.ts",
    "daemon/machine-files.ts",
    "daemon/modes.ts",
    "daemon/room.ts",
    "daemon/token.ts",
  ];
  const foreign = files
    .filter((file) => file.startsWith("cli/"))
    .flatMap((file) =>
      importsOf(file)
        .filter(
          ({ typeOnly, from, target }) =>
            !typeOnly &&
            from.startsWith(".") &&
            !isDoor(target) &&
            !target.endsWith(".json") &&
            !clientMayImport.includes(target.split("/")[0] as string) &&
            !light.includes(target),
        )
        .map(({ target }) => `${file} → ${target}`),
    );
  expect(foreign).toEqual([]);
});
