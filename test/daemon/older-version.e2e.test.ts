/**
 * A state directory of an older version with living agents is taken over by this one, and by nobody's hand: the daemon of
 * that version is real (test/fixtures/versions). It is killed, or upgraded while it runs.
 */
import { execFile, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { endMarked, lives, marked, temporaryDirectory, until } from "../chaos/support.ts";
import { AGENT, CACHE } from "../support/built.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { makeRepository } from "../support/repository.ts";
import { nextVersion, oldVersion } from "../support/versions.ts";

const COUNTS = 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.05; done';
const ECHOES = 'while read -r line; do echo "got $line"; done';

interface Answer<T> {
  readonly ok: boolean;
  readonly data: T;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
}
interface Standing {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly pid: number | null;
  readonly incarnation: number;
  readonly restarts: number;
}
interface Check {
  readonly name: string;
  readonly result: string;
  readonly finding: string;
}

/** Checks of the state directory and its daemon; the others are of the machine, and so is a loop that it held up. */
const OF_THE_STATE = [
  "daemon",
  "event log",
  "projections",
  "private files",
  "state directory",
  "configuration",
];
const OF_A_BUSY_MACHINE = /its loop was blocked/;
const TOLD_OF_A_BUSY_MACHINE = ["the event loop is blocked", "the daemon's loop runs again"];

/** The `agent` command of one version, in a process of its own, against one state directory. */
const commandOf = (program: string, home: string) => {
  const env = { ...CACHE, PATH: process.env.PATH, HOME: home, HOLDFAST_HOME: home };
  const asks = <T>(...argv: readonly string[]): Promise<Answer<T>> =>
    new Promise((done, fail) => {
      execFile(
        process.execPath,
        [program, ...argv, "-o", "json"],
        { env, maxBuffer: 2 ** 26 },
        (_, out, err) => {
          try {
            done(JSON.parse(out.trimEnd().split("\n").at(-1)!) as Answer<T>);
          } catch {
            fail(new Error(`agent ${argv.join(" ")}: ${out}${err}`));
          }
        },
      );
    });
  const agent = async <T = Record<string, unknown>>(...argv: readonly string[]): Promise<T> => {
    const { data, error } = await asks<T>(...argv);
    if (error !== null) throw new Error(`agent ${argv.join(" ")}: ${error.code} ${error.message}`);
    return data;
  };
  const spawned = (name: string, script: string, ...flags: readonly string[]) =>
    agent<{ id: string }>("spawn", "--name", name, ...flags, "--", "sh", "-c", script);
  /** Follows a worker from its first record; the numbers of its lines, as they come. */
  const watch = (name: string) => {
    const child = spawn(process.execPath, [program, "watch", name, "--from", "0", "-o", "ndjson"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    const numbers = () =>
      [...out.matchAll(/"text":"line (\d+)(?:\\n)?"/g)].map(([, number]) => Number(number));
    return { numbers, stop: () => child.kill("SIGKILL") };
  };
  return { asks, agent, spawned, watch, info: (name: string) => agent<Standing>("info", name) };
};
type Command = ReturnType<typeof commandOf>;

const countUp = (numbers: readonly number[]) => expect(numbers).toEqual(numbers.map((_, at) => at + 1));

/** A state directory whose daemon, whatever version it has by then, is ended with all agents after the test. */
const stateDirectory = () => {
  const home = join(temporaryDirectory(), "state");
  let storeId = "";
  onTestFinished(async () => {
    const pid = readDaemonFile(home)?.pid ?? 0;
    if (pid > 0 && lives(pid)) killIfThere(pid);
    if (pid > 0) await until("the daemon is gone", () => !lives(pid));
    if (storeId !== "") endMarked(storeId);
  });
  return {
    home,
    storeId: () => storeId,
    knows: (id: string): void => {
      storeId = id;
    },
  };
};

const CREW = `version: 1
name: crew
tree:
  strategy: rest_for_one
  children:
    - { name: store, argv: [sh, -c, ${JSON.stringify(COUNTS)}], restart: permanent, ready: { log: ^line } }
    - { name: packer, argv: [sh, -c, ${JSON.stringify(COUNTS)}], restart: permanent }
`;

/** A worker of each sort that the old version knows, living or waiting; its restart windows are partly used. */
const populate = async (old: Command, home: string, has: { readonly all: boolean }) => {
  await old.spawned("plain", COUNTS);
  await old.spawned(
    "crasher",
    COUNTS,
    "--restart",
    "permanent",
    "--max-restarts",
    "2/60m",
    "--backoff",
    "1ms..1ms",
  );
  await old.spawned("backing", "exit 3", "--restart", "permanent", "--backoff", "20m..20m");
  await old.spawned("reader", ECHOES, "--interactive");
  await old.spawned("ended", "echo done");
  const trees = join(home, "..", "crew.yaml");
  if (has.all) {
    const repo = makeRepository({ "a.txt": "one\n" });
    onTestFinished(() => rmSync(repo.root, { recursive: true, force: true }));
    await old.spawned("worktree", `echo two >>a.txt; ${COUNTS}`, "--worktree", "--cwd", repo.path);
    await old.spawned("paused", COUNTS);
    writeFileSync(trees, CREW);
    await old.agent("up", "-f", trees);
    await until("it counts", async () => (await old.info("paused")).state === "running");
    await old.agent("pause", "paused");
  }
  await old.agent("wait", "ended");
  await until("one waits out its backoff", async () => (await old.info("backing")).state === "backing_off");
  for (const incarnation of [1, 2]) {
    const isUp = async () => {
      const { state, incarnation: now } = await old.info("crasher");
      return state === "running" && now === incarnation;
    };
    await until(`incarnation ${incarnation} runs`, isUp);
    if (incarnation === 1) process.kill((await old.info("crasher")).pid!, "SIGKILL");
  }
  await old.agent("send", "reader", "one");
  await until("the message was read", async () => {
    const { data } = await old.asks<{ text: string }>("output", "reader");
    return data?.text?.includes("got one") === true;
  });
  return { trees };
};

const standings = async (command: Command): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const workers = await command.agent<readonly Standing[]>("list", "--all");
  return new Map(
    workers
      .map(
        ({ id, name, state, pid, incarnation, restarts }) =>
          [id, [name, state, pid, incarnation, restarts]] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const findsNothing = async (command: Command): Promise<void> => {
  const { checks } = await command.agent<{ checks: readonly Check[] }>("doctor");
  const found = checks.filter(({ name, result }) => result !== "ok" && OF_THE_STATE.includes(name));
  expect(found.filter(({ finding }) => !OF_A_BUSY_MACHINE.test(finding))).toEqual([]);
  expect(await command.agent("db", "check")).toMatchObject({ ok: true, findings: [] });
};

/**
 * `all`: it knows trees, pauses and worktrees; `reads`: its daemon takes today's `agent list`; `warns`: of its files, at the
 * takeover; `follows`: it is upgraded to another version, or to another build that calls itself by the same one.
 */
const VERSIONS = [
  {
    version: "first-landed",
    all: false,
    reads: false,
    warns: ["was open to others, and is closed"],
    follows: nextVersion,
  },
  { version: "before-rooms", all: true, reads: true, warns: [], follows: () => AGENT },
] as const;
const WAYS = ["killed", "upgraded while it runs"] as const;

describe.each(VERSIONS)("agents of the version $version", ({ version, all, reads, warns, follows }) => {
  it.each(WAYS)("are taken over from its daemon, which is %s", async (way) => {
    const { home, knows, storeId } = stateDirectory();
    const old = commandOf(oldVersion(version), home);
    const { trees } = await populate(old, home, { all });
    const { store_id, pid } = await old.agent<{ store_id: string; pid: number }>("daemon", "status");
    knows(store_id);
    const before = await standings(old);
    const watchedByOld = old.watch("plain");
    await until("the old watcher reads", () => watchedByOld.numbers().length > 3);

    // By nobody's hand: the first command of the new version that starts something, or the upgrade.
    const now = commandOf(way === "killed" ? AGENT : follows(), home);
    if (way === "killed") {
      process.kill(pid, "SIGKILL");
      await until("the old daemon is gone", () => !lives(pid));
      expect(await now.agent("db", "check")).toMatchObject({ ok: true, findings: [] });
      await now.spawned("first", "sleep 1000");
    } else {
      const { error, warnings } = await now.asks("list", "--all");
      const hint = expect.stringContaining("bring it to this one with: agent daemon upgrade");
      expect(warnings).toEqual(follows === nextVersion ? [hint] : []);
      expect(error?.code).toBe(reads ? undefined : "INVALID_REQUEST");
      expect(await now.agent("daemon", "upgrade")).toMatchObject({ effect: "updated" });
      expect(await now.agent("daemon", "upgrade")).toMatchObject({ effect: "noop" });
    }
    expect((await now.agent("daemon", "status")).pid).not.toBe(pid);

    // The same processes, incarnations and windows.
    const after = new Map([...(await standings(now))].filter(([id]) => before.has(id)));
    expect(after).toEqual(before);
    for (const [id, [name, state, agent]] of before) {
      expect(await now.agent("info", id)).toMatchObject({ name, state, pid: agent });
      if (agent !== null) expect(readStat(agent as number)?.state).toMatch(name === "paused" ? /T/ : /[SRD]/);
    }
    await findsNothing(now);

    // No line is lost or doubled, for a watcher of either version.
    const seen = watchedByOld.numbers().length;
    const watched = now.watch("plain");
    await until("both watchers read on", () =>
      [watchedByOld, watched].every(({ numbers }) => numbers().length > seen + 5),
    );
    for (const { numbers, stop } of [watchedByOld, watched]) {
      stop();
      countUp(numbers());
    }

    // They are still spoken with, paused, restarted and diffed.
    await now.agent("send", "reader", "two");
    await until("the second message was read", async () =>
      (await now.agent<{ text: string }>("output", "reader")).text.endsWith("got one\ngot two\n"),
    );
    process.kill((await now.info("crasher")).pid!, "SIGKILL");
    await until("the second restart", async () => {
      const { state, incarnation } = await now.info("crasher");
      return state === "running" && incarnation === 3;
    });
    process.kill((await now.info("crasher")).pid!, "SIGKILL");
    await until("the window is used up", async () => (await now.info("crasher")).state === "failed");
    expect(await now.info("backing")).toMatchObject({ state: "backing_off", incarnation: 1 });
    if (all) {
      await now.agent("unpause", "paused");
      const { pid: paused } = await now.info("paused");
      await until("it goes on", () => /[SRD]/.test(readStat(paused!)?.state ?? ""));
      expect(JSON.stringify(await now.agent("changes", "worktree"))).toContain("a.txt");
      expect(await now.agent("diff", "-f", trees)).toMatchObject({ effect: "noop" });
      const { pid: store } = await now.info("store");
      process.kill(store!, "SIGKILL");
      const isBack = async () => {
        const two = await Promise.all(["store", "packer"].map(now.info));
        return two.every(({ state, incarnation }) => state === "running" && incarnation === 2);
      };
      await until("the rest of the tree is started again", isBack);
      await now.agent("down", "-f", trees);
    }

    // A kill leaves nothing behind, and the log folds.
    await now.agent("kill", "--all", "--grace", "1s");
    expect(marked(storeId())).toEqual([]);
    await findsNothing(now);
    await now.agent("daemon", "stop");
    await now.agent("db", "rebuild");
    expect(await now.agent("db", "check")).toMatchObject({ ok: true, findings: [] });
    const said = readFileSync(join(home, "daemon.log"), "utf8").split("\n").slice(0, -1);
    const told = said.map((line) => JSON.parse(line) as { level: string; message: string });
    const warned = told.filter(({ level }) => level !== "info").map(({ message }) => message);
    expect(warned.filter((message) => !TOLD_OF_A_BUSY_MACHINE.includes(message))).toEqual(warns);
  });
});
