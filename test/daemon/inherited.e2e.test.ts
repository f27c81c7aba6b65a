/** Only stdio reaches an agent: what the client's shell has left open is closed before the daemon works, and before every agent. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isInherited } from "../../src/daemon/inherited.ts";
import { makeBench, printed } from "../adapters/process/support.ts";
import { AGENT, environment, temporaryDirectory } from "../chaos/support.ts";
import { until } from "../cli/support/commands.ts";

/** Beyond those that Node itself closes: it stops looking at the first gap after 15. */
const HIGH_FD = 40;

const agent = async (
  home: string,
  stdio: readonly (number | "pipe" | "ignore")[],
  ...args: readonly string[]
) => {
  const client = spawn(process.execPath, [AGENT, ...args], {
    env: { ...environment(), HOLDFAST_HOME: home },
    stdio: [...stdio],
  });
  let said = "";
  for (const stream of [client.stdout, client.stderr])
    stream?.on("data", (text: Buffer) => {
      said += text.toString();
    });
  const [code] = await once(client, "close");
  expect(code, said).toBe(0);
  return said;
};

const linksOf = (pid: string | number): readonly string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });

const IS_OPEN = 'for fd in /proc/self/fd/*; do readlink "$fd"; done; :';

test("a directory that the client's shell holds open is open neither in the daemon nor in an agent", async () => {
  const home = join(temporaryDirectory(), "state");
  const door = temporaryDirectory();
  const fd = openSync(door, "r");
  onTestFinished(() => closeSync(fd));
  const stdio = Array.from({ length: HIGH_FD + 1 }, (_, n) =>
    n === 1 ? "pipe" : n > 15 ? fd : "ignore",
  ) as (number | "pipe" | "ignore")[];
  onTestFinished(() =>
    agent(home, ["ignore", "pipe", "pipe"], "daemon", "stop", "--kill-agents").then(() => undefined),
  );
  await agent(home, stdio, "daemon", "start");
  const { pid } = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as { pid: number };
  expect(linksOf(pid)).not.toContain(door);
  await agent(home, stdio, "spawn", "--name", "looks", "--", "/bin/sh", "-c", IS_OPEN);
  await agent(home, stdio, "wait", "looks");
  const said = await agent(home, stdio, "output", "looks");
  expect(said).toContain("stdout");
  expect(said).not.toContain(door);
});

test("a file that the shell holds open is open neither in a daemon in the foreground nor in its agents", async () => {
  const home = join(temporaryDirectory(), "state");
  const secret = join(temporaryDirectory(), "secret");
  writeFileSync(secret, "secret");
  const fd = openSync(secret, "r");
  onTestFinished(() => closeSync(fd));
  // 3 to 15 Node marks close-on-exec itself, and 40 is behind a gap.
  const stdio = Array.from({ length: HIGH_FD + 1 }, (_, n) => (n > 2 ? fd : "ignore"));
  const daemon = spawn(process.execPath, [AGENT, "daemon", "run"], {
    env: { ...environment(), HOLDFAST_HOME: home },
    stdio: [...stdio],
  });
  const ended = once(daemon, "exit");
  onTestFinished(async () => {
    daemon.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
  await until(() => existsSync(join(home, "agent.sock")));
  const { pid } = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as { pid: number };
  expect(pid).toBe(daemon.pid);
  expect(linksOf(pid)).not.toContain(secret);
  await agent(home, ["ignore", "pipe", "pipe"], "spawn", "--name", "looks", "--", "/bin/sh", "-c", IS_OPEN);
  await agent(home, ["ignore", "pipe", "pipe"], "wait", "looks");
  const said = await agent(home, ["ignore", "pipe", "pipe"], "output", "looks");
  expect(said).toContain("stdout");
  expect(said).not.toContain(secret);
});

test("descriptors that a program that embeds the runtime has inherited do not reach an agent either", async () => {
  const { launch } = makeBench();
  const run = await launch(["/bin/sh", "-c", IS_OPEN]);
  await run.exited;
  const open = printed(run).trim().split("\n");
  // stdin, stdout, stderr, and what `readlink` and the shell open to look.
  expect(open.filter((path) => path === "/dev/null" || path.startsWith("/tmp/")).length).toBeGreaterThan(0);
  expect(open.filter((path) => path.startsWith("pipe:") || path.startsWith("socket:"))).toEqual([]);
});

test.each([
  ["pos:\t0\nflags:\t0100000\nmnt_id:\t24\n", true],
  ["pos:\t0\nflags:\t02100000\nmnt_id:\t24\n", false],
  ["", false],
])("fdinfo %j: inherited %s", (fdinfo, expected) => {
  expect(isInherited(fdinfo)).toBe(expected);
});
