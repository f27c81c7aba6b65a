/** The house rule: a file imports only from its own row or the rows above, and so inside each room (docs/architecture.md, Layers). */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { KindFacts } from "../../src/adapters/facts.ts";

const src = resolve(import.meta.dirname, "../../src");
const rows = [
  "base",
  "protocol",
  "store",
  "supervisor",
  "control",
  "cluster",
  "adapters",
  "workspace",
  "skills",
  "engine",
  "commands",
  "tree-file",
  "actors",
  "runtime",
  "daemon",
  "library",
  "weblisk",
  "cli",
  "web",
];
/** The folders of a room, from the lowest to the highest. Its files stand between them wherever no circle arises. */
const inside: Readonly<Record<string, readonly string[]>> = {
  base: ["files", "secrets"],
  protocol: ["replies", "run-events", "validate"],
  store: ["cas", "sqlite"],
  supervisor: ["admission", "clocks", "holds", "restart", "child", "boot", "budgets", "messages", "tree"],
  control: [
    "blackboard",
    "board",
    "federation",
    "mailbox",
    "notify",
    "overseer",
    "schedule",
    "telemetry",
    "token",
  ],
  cluster: ["postgres", "node"],
  adapters: ["decoding", "process", "bridge", "kinds"],
  workspace: ["sandbox", "worktree"],
  skills: ["network", "openapi", "builtin"],
  engine: ["providers", "tools"],
  actors: ["machine", "deciding", "clocks", "intake", "talk", "supervisor", "worker"],
  runtime: ["prices", "following", "limits", "authority", "control", "boot", "trees", "reading", "commands"],
  daemon: ["cluster", "handlers", "notify", "telemetry", "http"],
  cli: ["defaults", "render", "top", "commands", "mcp", "acp", "weblisk"],
  library: ["remote"],
  weblisk: ["identity", "wire", "signing", "types", "server", "client", "federation"],
  web: ["model", "state", "parts", "pages"],
};
/** Rooms that decide and never do: what they must know of the world is handed in. */
const pureRooms =
  /^(protocol|commands|tree-file|supervisor|control|weblisk\/(wire|signing|types)|web\/model|adapters\/decoding|adapters\/kinds)\//;
/** The client is thin: of the daemon it knows how to find and start one, and the wire; of the rest only what goes on the wire. */
const clientMayImport = ["base", "protocol", "commands", "cli"];

/** Each folder of `adapters/kinds`, with the facts of its kind: a new kind comes to the rules below by its folder. */
const kinds = await Promise.all(
  readdirSync(join(src, "adapters/kinds")).map(async (folder) => {
    const { facts } = (await import(`../../src/adapters/kinds/${folder}/facts.ts`)) as { facts: KindFacts };
    return { folder, facts };
  }),
);
/**
 * The name of a program means its kind wherever it stands. The name of a protocol, whose agents have names of their own, does
 * as a word alone. Another kind has a word of English, such as `command`, which is the kind only in a place of kinds.
 */
const programs = kinds.filter(({ facts }) => facts.binary !== null);
const protocols = kinds.filter(({ facts }) => facts.named !== undefined);
const words = kinds.filter((kind) => !programs.includes(kind) && !protocols.includes(kind));
const namesOf = ({ facts: { kind, aliases, binary } }: (typeof kinds)[number]): readonly string[] => [
  kind,
  ...aliases,
  ...(binary === null ? [] : [binary.name]),
];
const anyOf = (some: typeof kinds): string => `(?:${some.flatMap(namesOf).join("|")})`;

const files = (readdirSync(src, { recursive: true }) as string[])
  .filter((file) => /\.tsx?$/.test(file))
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

/** Decision 0034 has the figure, and the rooms that came later: a new arrow between rooms is a new thing to know, and wants a reason. */
const ARROWS_MAX = 67;

it(`at most ${ARROWS_MAX} pairs of rooms know each other`, () => {
  const arrows = new Set(
    files.flatMap((file) =>
      ownImportsOf(file)
        .map(({ target }) => roomOf(target))
        .filter((room) => rows.includes(room) && room !== roomOf(file))
        .map((room) => `${roomOf(file)} → ${room}`),
    ),
  );
  expect(arrows.size, [...arrows].sort().join("\n")).toBeLessThanOrEqual(ARROWS_MAX);
});

describe("pure rooms", () => {
  const pure = files.filter(
    (file) =>
      pureRooms.test(file) ||
      /^cluster\/([^/]+|postgres\/(address|schema|statements)\.ts)$/.test(file) ||
      file === "actors/machine/worker-machine.ts" ||
      /^(adapters\/process\/environment|actors\/intake\/(framer|drafter|open-calls|turn-account))\.ts$/.test(
        file,
      ),
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

  it.each(files.filter((file) => /^(supervisor|control)\/|^cluster\/[^/]+$/.test(file)))(
    "%s knows the wire and itself: no effect, no machine, no store",
    (file) => {
      const foreign = importsOf(file)
        .filter(({ from, target }) =>
          from.startsWith(".")
            ? !["base", "protocol", roomOf(file)].includes(roomOf(target))
            : !from.startsWith("node:"),
        )
        .map(({ from }) => from);
      expect(foreign).toEqual([]);
    },
  );
});

describe("SQLite", () => {
  const outside = files.filter((file) => !file.startsWith("store/sqlite/"));
  it("nobody outside store/sqlite uses it, but the lock", () => {
    expect(outside.filter((file) => importsOf(file).some(({ from }) => from === "better-sqlite3"))).toEqual([
      "daemon/lock.ts",
    ]);
  });

  it("nobody knows that it is the store, but the lock and those who open the log: another one can stand beside it", () => {
    expect(
      outside.filter((file) => importsOf(file).some(({ target }) => target.startsWith("store/sqlite/"))),
    ).toEqual(["daemon/lock.ts", "daemon/offline.ts", "daemon/telemetry/thread.ts", "runtime/open.ts"]);
  });
});

it("nobody outside cluster/postgres knows Postgres", () => {
  const knowing = files.filter((file) => importsOf(file).some(({ from }) => from === "pg"));
  expect(knowing.filter((file) => !file.startsWith("cluster/postgres/"))).toEqual([]);
});

it("nobody outside adapters/process signals a process of a run", () => {
  const signalling = files.filter((file) => /process\.kill\(/.test(readFileSync(join(src, file), "utf8")));
  // daemon-file.ts and the client ask with signal 0 whether a daemon lives; that sends nothing.
  const sending = signalling.filter((file) =>
    /process\.kill\((?![^)]*,\s*0\))/.test(readFileSync(join(src, file), "utf8")),
  );
  // Ctrl-Z suspends `agent top` itself. The demo kills the daemon that it started itself, to show what that costs.
  // A program dies where a chaos test armed a crash point in its environment; the engine has its own points.
  expect(sending.filter((file) => !file.startsWith("adapters/process/"))).toEqual([
    "base/crash-point.ts",
    "cli/commands/demo-stage.ts",
    "cli/commands/top.ts",
    "engine/child.ts",
  ]);
});

it("the command line and holdfast.yaml know the facts of kinds, and not how they are run", () => {
  const known = ["adapters/facts.ts", "adapters/kinds.ts"];
  const foreign = files
    .filter((file) => /^(commands|tree-file)\//.test(file))
    .flatMap((file) => ownImportsOf(file).map(({ target }) => ({ file, target })))
    .filter(({ target }) => !["base", "protocol", "commands", "tree-file"].includes(roomOf(target)))
    .filter(({ target }) => !known.includes(target))
    .map(({ file, target }) => `${file} → ${target}`);
  expect(foreign).toEqual([]);
  const heavy = files
    .filter((file) => /^adapters\/(kinds\/[a-z-]+\/)?facts\.ts$/.test(file))
    .flatMap((file) => importsOf(file).map(({ target, typeOnly }) => ({ file, target, typeOnly })))
    .filter(({ target, typeOnly }) => !typeOnly && roomOf(target) === "adapters")
    .filter(({ target }) => !/\/(facts|settings|agent-rules|events)\.ts$/.test(target))
    .map(({ file, target }) => `${file} → ${target}`);
  expect(heavy).toEqual([]);
});

it("the client knows only what goes on the wire", () => {
  const light = [
    // Mistakes that are told before a daemon is started.
    "adapters/process/programs.ts",
    "daemon/paths.ts",
    "daemon/client.ts",
    "daemon/copy-follow.ts",
    "daemon/start.ts",
    "daemon/connect.ts",
    "daemon/daemon-file.ts",
    "daemon/machine-files.ts",
    "daemon/modes.ts",
    "daemon/node-flags.ts",
    "daemon/disk-room.ts",
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

it("the dashboard takes nothing from below but types, and pure functions", () => {
  const foreign = files
    .filter((file) => file.startsWith("web/"))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ typeOnly, from }) => !typeOnly && from.startsWith("."))
        .filter(({ target }) => !/^(base|protocol|cli\/render|web)\//.test(target))
        .map(({ target }) => `${file} → ${target}`),
    );
  expect(foreign).toEqual([]);
});

/** Comments may name a kind, as the source of what they say. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");

it("a kind is named in its folder alone", () => {
  /** Each with its reason, and the lines that it may have. */
  const exceptions: Readonly<Record<string, RegExp>> = {
    // The two lists of kinds: facts, and code.
    "adapters/kinds.ts": /kinds\/[a-z-]+\/facts|const ALL|PROGRAM_KIND/,
    "adapters/registry.ts": /kinds\/[a-z-]+\/index|^ {2}\w+(: \w+)?,$/,
    // Examples of the command line show an agent that many people have.
    ...Object.fromEntries(
      ["start", "board", "this-machine"].map((name) => [
        `commands/${name}.ts`,
        /agent [\w -]+ (claude|codex)/,
      ]),
    ),
    "cli/commands/demo.ts": /spawn claude '/,
    // The doctor asks the providers of Holdfast's own kind for its models.
    "cli/commands/doctor.ts": /kind === "llm"/,
    // Records of early versions name no models; no new kind comes to this list.
    "protocol/usage.ts": /ONCE_CACHED_INSIDE/,
  };
  // The command of the protocol's name, beside the kind.
  const command = /agent[ /]acp\b|words: \["acp"\]|"\.\/acp\/|acpProblems/;
  const names = new RegExp(
    [
      anyOf(programs),
      String.raw`\b${anyOf(protocols)}\b`,
      String.raw`(?:\bkind\b.{0,12}|\?\? )"${anyOf(words)}"`,
    ].join("|"),
    "i",
  );
  const naming = files
    .filter((file) => !file.startsWith("adapters/kinds/"))
    .flatMap((file) =>
      withoutComments(readFileSync(join(src, file), "utf8"))
        .split("\n")
        .filter((line) => names.test(line) && !command.test(line) && exceptions[file]?.test(line) !== true)
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(naming).toEqual([]);
});

it("a kind names no other, but for one that knows agents by their names", () => {
  const foreign = files.flatMap((file) => {
    const own = kinds.find(({ folder }) => file.startsWith(`adapters/kinds/${folder}/`));
    if (own === undefined || protocols.includes(own)) return [];
    // The variables of a provider may be anybody's.
    const text = withoutComments(readFileSync(join(src, file), "utf8")).replace(/\b[A-Z][A-Z0-9_]+\b/g, "");
    return programs
      .filter((kind) => kind !== own && new RegExp(anyOf([kind]), "i").test(text))
      .map(({ folder }) => `${file} names ${folder}`);
  });
  expect(foreign).toEqual([]);
});
