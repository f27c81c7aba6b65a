/** The caller is found out from processes: an agent's word about itself changes nothing (decision 0033). */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LINEAGE_MAX } from "../../src/base/limits.ts";
import type { LogRecord } from "../../src/protocol/records.ts";
import { AGENT, DAEMON } from "../support/built.ts";
import { makeRepository } from "../support/repository.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const child = (name: string) => join(FIXTURES, "children", name);
const CONVERSES = join(FIXTURES, "agents/converses.mjs");

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const envFor = (set: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries({ AGENT: `${process.execPath} ${AGENT}`, HOLDFAST_HOME: commands.home, ...set }).flatMap(
    ([name, value]) => ["--env", `${name}=${value}`],
  );

/** The text that it is given to write, once it is whole: one envelope. */
const written = async (path: string) => {
  const read = () => (existsSync(path) ? readFileSync(path, "utf8").trim() : "");
  await until(() => read().endsWith("}"));
  return JSON.parse(read().split("\n").at(-1) as string);
};

const records = async (id: string, type: string): Promise<readonly LogRecord[]> => {
  const { stdout } = await commands.start(["logs", id, "-o", "ndjson"]).ended;
  return stdout
    .split("\n")
    .filter((line) => line.includes(`"${type}"`))
    .map((line) => JSON.parse(line))
    .map((line) => line.data ?? line);
};

const namesOf = async () => {
  const { data } = await commands.agent("list", "--all");
  return (data as unknown as readonly { name: string; status: string; parent: string | null }[]).map(
    ({ name }) => name,
  );
};

describe("a kill is final", () => {
  it("for an agent whose trap spawns without its marker and starts itself again", async () => {
    const LEDGER = join(commands.home, "ledger");
    const spawned = await commands.agent(
      ...["spawn", "--name", "ember", "--grace", "60s", ...envFor({ LEDGER })],
      ...["--", "sh", child("undoes-its-kill.sh")],
    );
    const id = spawned.data.id as string;
    await until(async () => (await commands.text("logs", "ember")).stdout.includes("up"));
    expect((await commands.agent("kill", "ember")).exit).toBe(0);
    const refused = { ok: false, error: { code: "INVALID_STATE" } };
    expect(await written(`${LEDGER}.spawn`)).toMatchObject(refused);
    const restart = await written(`${LEDGER}.restart`);
    expect(restart).toMatchObject(refused);
    expect(restart.error.message).toContain(`Worker ${id} was killed`);
    expect(await namesOf()).not.toContain("phoenix");
    expect((await commands.agent("info", "ember")).data).toMatchObject({
      status: "cancelled",
      incarnation: 1,
    });
    // A caller outside of it starts it again.
    expect((await commands.agent("restart", "ember")).exit).toBe(0);
    expect((await commands.agent("info", "ember")).data).toMatchObject({ incarnation: 2 });
  });
});

it("a stop of the daemon that kills its agents is final, too: no daemon that one of them starts takes its place", async () => {
  const alone = makeCommands();
  try {
    const LEDGER = join(alone.home, "ledger");
    const set = { LEDGER, HOLDFAST_HOME: alone.home, DAEMON: `${process.execPath} ${DAEMON}` };
    await alone.agent(
      ...["spawn", "--name", "heir", "--grace", "60s", ...envFor(set)],
      ...["--", "sh", child("starts-a-daemon.sh")],
    );
    await until(async () => (await alone.text("logs", "heir")).stdout.includes("up"));
    expect((await alone.agent("daemon", "stop", "--kill-agents")).exit).toBe(0);
    // It is refused once it has the lock; or it was seen below the agent by then, and has ended with it.
    const said = () => readFileSync(LEDGER, "utf8");
    const pid = /"ready to take over","pid":(\d+)/.exec(said())?.[1];
    expect(pid).toBeDefined();
    await until(
      () => said().includes("nothing may be started from inside it") || !existsSync(`/proc/${pid}`),
    );
    expect((await alone.agent("daemon", "status")).error?.code).toBe("SUPERVISOR_DOWN");
    expect((await alone.agent("daemon", "start")).exit).toBe(0);
    expect((await alone.agent("info", "heir")).data).toMatchObject({ status: "cancelled" });
  } finally {
    await alone.close();
  }
});

describe("a spawn of an agent is below it", () => {
  it("without its marker, in another session, and as an orphan with an empty environment", async () => {
    const { data } = await commands.agent(
      ...[
        "spawn",
        "--name",
        "shy",
        ...envFor({}),
        "--",
        "sh",
        child("spawns-without-marker.sh"),
        "sleep 600",
      ],
    );
    const parentOf = async (name: string) => {
      await until(async () => (await namesOf()).includes(name));
      return (await commands.agent("info", name)).data.parent;
    };
    for (const name of ["unmarked", "apart", "orphan"]) expect(await parentOf(name)).toBe(data.id);
    const { data: killed } = await commands.agent("kill", "shy", "--subtree");
    expect(killed.results).toHaveLength(4);
  });

  it("so a bound on depth holds from below more processes than are looked at, too", async () => {
    const { data } = await commands.agent(
      ...["spawn", "--name", "digger", "--max-depth", "0", ...envFor({})],
      ...["--", "sh", child("hides-deep.sh"), String(LINEAGE_MAX)],
    );
    await commands.agent("wait", data.id as string);
    const { stdout } = await commands.text("output", data.id as string);
    expect(stdout).toMatch(/LOCAL_LIMIT_EXCEEDED|POLICY_VIOLATION/);
    expect(await namesOf()).not.toContain("buried");
  });

  it("so a bound on depth holds", async () => {
    const { data } = await commands.agent(
      ...["spawn", "--name", "deep", "--max-depth", "0", ...envFor({})],
      ...["--", "sh", "-c", "env -u HOLDFAST_RUN $AGENT -o json spawn --name deeper -- sleep 600"],
    );
    await commands.agent("wait", data.id as string);
    const { stdout } = await commands.text("output", data.id as string);
    expect(stdout).toContain("LOCAL_LIMIT_EXCEEDED");
    expect(await namesOf()).not.toContain("deeper");
  });
});

describe("an agent that runs with reduced rights", () => {
  it("neither answers its own request, nor spawns what has more, nor kills another; a person does all of it", async () => {
    const said = (name: string) => join(commands.home, `said-${name}`);
    const deeds = {
      approve: "approvals approve asker",
      spawn: "spawn claude again --permission allow",
      command: "spawn -- true",
      restart: "spawn claude again --restart permanent --permission deny",
      kill: "kill bystander",
      upgrade: "daemon upgrade --force",
      stop: "daemon stop --kill-agents",
    };
    const MEANWHILE = Object.entries(deeds)
      .map(([name, argv]) => `env -u HOLDFAST_RUN $AGENT -o json ${argv} >${said(name)}`)
      .join("; ");
    await commands.agent("spawn", "--name", "bystander", "--", "sleep", "600");
    const set = { CLAUDE_BINARY: CONVERSES, LEDGER: join(commands.home, "asker"), MEANWHILE };
    const asker = await commands.agent(
      ...["spawn", "claude", "permit", "--name", "asker", "--permission", "ask", ...envFor(set)],
    );
    const id = asker.data.id as string;
    expect((await written(said("stop"))).error.code).toBe("POLICY_VIOLATION");
    expect((await written(said("upgrade"))).error.code).toBe("POLICY_VIOLATION");
    expect((await written(said("approve"))).error).toMatchObject({
      code: "POLICY_VIOLATION",
      message: `Worker ${id} may not answer a request for permission of itself.`,
    });
    for (const [name, told, bound] of [
      ["spawn", "--permission allow", "--permission ask"],
      ["command", "a command, which no permission bounds", "--permission ask"],
      ["restart", "--restart permanent", "--restart transient"],
    ] as const)
      expect((await written(said(name))).error).toMatchObject({
        code: "POLICY_VIOLATION",
        message: `It asks for ${told}, but worker ${id} above it has ${bound}; rights only narrow on the way down.`,
      });
    expect((await written(said("kill"))).error.message).toContain("runs with reduced rights");
    expect((await commands.agent("info", "bystander")).data).toMatchObject({
      status: "running",
      parent: null,
    });

    expect((await commands.agent("approvals", "deny", "asker")).exit).toBe(0);
    expect((await commands.agent("wait", "asker")).exit).toBe(0);
    const [answered] = await records("asker", "approval_answered");
    expect(answered).toMatchObject({ payload: { decision: "deny", by: "user" } });
    expect((await commands.agent("kill", "bystander")).exit).toBe(0);
  });
});

describe("a program that git runs for the daemon", () => {
  /** How it asks: itself; as an orphan that nothing ties to it, while git waits; and as one that waits until git is gone. */
  const WAYS = {
    "as a child of git": ({ ask, said }) => `[ -e ${said} ] || ${ask}`,
    "as an orphan": ({ ask, said }) =>
      `[ -e ${said} ] || (setsid env -i ${ask} </dev/null >/dev/null 2>&1 &); until [ -e ${said} ]; do sleep 0.02; done`,
    "after git": ({ ask, pid }) =>
      `export GIT=$PPID; [ -e ${pid} ] || (setsid sh -c 'echo $$ >${pid}; while kill -0 $GIT; do sleep 0.02; done; ${ask}' </dev/null >/dev/null 2>&1 &); until [ -e ${pid} ]; do sleep 0.02; done`,
  } as const satisfies Record<string, (files: { ask: string; said: string; pid: string }) => string>;
  const DEEDS = [
    { command: "agent/approve", data: { id: "pleader", decision: "allow" } },
    { command: "agent/kill", data: { ids: ["pleader"] } },
  ];

  it.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
    "neither approves for the worker that has named it, nor kills it: %s",
    async (way) => {
      const repo = makeRepository({ f: "one\n" });
      const inRoot = (name: string) => join(repo.root, name);
      const [said, pid, named, filter] = [inRoot("said"), inRoot("pid"), inRoot("named"), inRoot("filter")];
      try {
        const { data: daemon } = await commands.agent("daemon", "start");
        const lines = DEEDS.map(
          (deed) => `"${JSON.stringify({ version: 1, ...deed }).replaceAll('"', '\\"')}"`,
        );
        const ask = [process.execPath, child("asks.mjs"), daemon.socket, said, ...lines].join(" ");
        writeFileSync(filter, `#!/bin/sh\n${WAYS[way]({ ask, said, pid })}\ncat\n`, { mode: 0o755 });
        // As if it were the user's own, which the daemon lets git run.
        repo.git("config", "--global", "filter.z.clean", filter);
        const MEANWHILE = `echo 'f filter=z' >.gitattributes; echo two >f; : >${named}`;
        const set = { CLAUDE_BINARY: CONVERSES, LEDGER: inRoot("pleader"), MEANWHILE };
        const spawned = await commands.start(
          [
            ...["spawn", "claude", "permit", "--name", "pleader", "--permission", "ask"],
            ...["--cwd", repo.path, "--worktree", ...envFor(set)],
          ],
          { HOME: repo.root },
        ).ended;
        expect(spawned.exit).toBe(0);
        await until(() => existsSync(named));
        expect((await commands.agent("changes", "pleader")).exit).toBe(0);
        const isAfter = way === "after git";
        if (isAfter) expect(existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`)).toBe(false);
        // It is ended before it can ask, or refused.
        if (!isAfter || existsSync(said)) {
          const refused = { status: "error", error: { details: { code: "POLICY_VIOLATION" } } };
          expect(JSON.parse(readFileSync(said, "utf8"))).toMatchObject(DEEDS.map(() => refused));
        }
        expect((await commands.agent("approvals", "deny", "pleader")).exit).toBe(0);
        expect((await commands.agent("kill", "pleader")).exit).toBe(0);
      } finally {
        rmSync(repo.root, { recursive: true, force: true });
      }
    },
  );
});

describe("the log says who asked", () => {
  it("a worker that kills another one, and a person", async () => {
    const sleeps = ["--", "sleep", "600"];
    await commands.agent("spawn", "--name", "first", ...sleeps);
    await commands.agent("spawn", "--name", "second", ...sleeps);
    const { data } = await commands.agent(
      ...[
        "spawn",
        "--name",
        "killer",
        ...envFor({}),
        "--",
        "sh",
        "-c",
        "env -u HOLDFAST_RUN $AGENT kill first",
      ],
    );
    await commands.agent("wait", "first", "killer");
    await commands.agent("kill", "second");
    const byOf = async (name: string) => (await records(name, "worker_cancel_requested"))[0]?.payload;
    expect(await byOf("first")).toMatchObject({ by: `worker:${data.id}` });
    expect(await byOf("second")).toMatchObject({ by: "user" });
  });
});

describe("a connection whose process has ended", () => {
  it("asks for nothing that changes anything, as long as somebody runs with reduced rights", async () => {
    await commands.agent("spawn", "--name", "alone", "--max-depth", "0", "--", "sleep", "600");
    const { data } = await commands.agent("daemon", "status");
    const answer = join(commands.home, "answer");
    const request = { version: 1, command: "agent/kill", data: { ids: ["alone"] } };
    const argv = [child("passes-its-socket.mjs"), data.socket as string, JSON.stringify(request), answer];
    const { spawn } = await import("node:child_process");
    spawn(process.execPath, argv, { stdio: "ignore" });
    expect((await written(answer)).error).toMatchObject({
      message: expect.stringContaining("It is unknown who asks for this"),
    });
    expect((await commands.agent("info", "alone")).data).toMatchObject({ status: "running" });
    expect((await commands.agent("kill", "alone")).exit).toBe(0);
  });
});
