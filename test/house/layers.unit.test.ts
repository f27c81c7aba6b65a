/** The house rule: a file imports only from its own row or the rows above, and so inside each room (docs/architecture.md, Layers). */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../../src");
const rows = [
  "base",
  "protocol",
  "commands",
  "tree-file",
  "store",
  "supervisor",
  "adapters",
  "actors",
  "runtime",
  "daemon",
  "library",
  "cli",
];
/** The folders of a room, from the lowest to the highest. Its files stand between them wherever no circle arises. */
const inside: Readonly<Record<string, readonly string[]>> = {
  base: ["secrets"],
  protocol: ["run-events", "validate"],
  store: ["migrations", "projections", "retention", "cas"],
  supervisor: [
    "admission",
    "clocks",
    "holds",
    "restart",
    "sessions",
    "child",
    "boot",
    "budgets",
    "messages",
    "tree",
  ],
  adapters: ["decoding", "process", "kinds", "prices", "workspace"],
  actors: ["machine", "deciding", "clocks", "intake", "talk", "supervisor", "worker"],
  runtime: ["following", "limits", "authority", "boot", "trees", "reading", "commands"],
  daemon: ["handlers"],
  cli: ["render", "commands"],
};
/** Rooms that decide and never do: what they must know of the world is handed in. */
const pureRooms =
  /^(protocol|commands|tree-file|supervisor|adapters\/decoding|adapters\/kinds\/(command|claude-code|codex))\//;
/** The client is thin: of the daemon it knows how to find and start one, and the wire; of the rest only what goes on the wire. */
const clientMayImport = ["base", "protocol", "commands", "cli"];

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
const ownImportsOf = (file: string) => importsOf(file).filter(({ from }) => from.startsWith("."));
const roomOf = (file: string): string => file.split("/")[0] as string;
const rowOf = (file: string) => rows.indexOf(roomOf(file));
/** The folder or file directly below the room. */
const partOf = (file: string): string => file.split("/").slice(0, 2).join("/");

describe("layers", () => {
  it.each(files)("%s imports downward only", (file) => {
    const upward = ownImportsOf(file)
      .filter(({ target }) => rowOf(target) > rowOf(file))
      .map(({ from }) => from);
    expect(upward).toEqual([]);
  });

  it("knows every folder of src, and inside each room", () => {
    const folders = new Set(files.flatMap((file) => (file.includes("/") ? [roomOf(file)] : [file])));
    expect([...folders].sort()).toEqual([...rows].sort());
    for (const room of rows) {
      const rooms = files
        .filter((file) => roomOf(file) === room && file.split("/").length > 2)
        .map((file) => file.split("/")[1] as string);
      expect([...new Set(rooms)].sort(), room).toEqual([...(inside[room] ?? [])].sort());
    }
  });

  it.each(Object.keys(inside))("%s: its folders import downward only", (room) => {
    const order = inside[room] as readonly string[];
    const placeOf = (file: string) => order.indexOf(file.split("/")[1] as string);
    const upward = files
      .filter((file) => roomOf(file) === room && placeOf(file) >= 0)
      .flatMap((file) => ownImportsOf(file).map(({ target }) => ({ file, target })))
      .filter(({ target }) => roomOf(target) === room && placeOf(target) >= 0)
      .filter(({ file, target }) => placeOf(target) > placeOf(file))
      .map(({ file, target }) => `${file} → ${target}`);
    expect(upward).toEqual([]);
  });

  it.each(rows)("%s: no circle, of values or types, between its folders and files", (room) => {
    const below = new Map<string, Set<string>>();
    for (const file of files.filter((one) => roomOf(one) === room)) {
      const part = partOf(file);
      const known = below.get(part) ?? below.set(part, new Set()).get(part);
      for (const { target } of ownImportsOf(file))
        if (roomOf(target) === room && partOf(target) !== part) known?.add(partOf(target));
    }
    // A part that imports nothing that is left is taken away: the rest is a circle, or hangs on one.
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false;
      for (const [part, targets] of below)
        if ([...targets].every((target) => !below.has(target))) isSmaller = below.delete(part);
    }
    expect([...below.keys()].sort()).toEqual([]);
  });
});

describe("pure rooms", () => {
  const pure = files.filter(
    (file) =>
      pureRooms.test(file) ||
      file === "actors/machine/worker-machine.ts" ||
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

  it.each(files.filter((file) => file.startsWith("supervisor/")))(
    "%s knows the wire and itself: no effect, no machine, no store",
    (file) => {
      const foreign = importsOf(file)
        .filter(({ from, target }) =>
          from.startsWith(".")
            ? !["base", "protocol", "supervisor"].includes(roomOf(target))
            : !from.startsWith("node:"),
        )
        .map(({ from }) => from);
      expect(foreign).toEqual([]);
    },
  );
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
    "store/regular-file.ts",
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
            !target.endsWith(".json") &&
            !clientMayImport.includes(target.split("/")[0] as string) &&
            !light.includes(target),
        )
        .map(({ target }) => `${file} → ${target}`),
    );
  expect(foreign).toEqual([]);
});
