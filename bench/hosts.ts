/** A read of another host, over `exec:` and over ssh, beside the same read here; of three hosts beside one; and in a cluster of three nodes. All on this machine. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { type HostAddress, parseHost } from "../src/base/host-address.ts";
import { type Client, makeClient } from "../src/daemon/client.ts";
import { connectDaemon } from "../src/daemon/connect.ts";
import { connectHost } from "../src/daemon/host-link.ts";
import { readToken } from "../src/daemon/token.ts";
import { TestPostgres } from "../test/support/postgres.ts";
import { makeSshClient, makeSshServer, SSH } from "../test/support/ssh.ts";
import {
  agentBin,
  ascending,
  type BenchDaemon,
  command,
  environment,
  ms,
  percentile,
  type Result,
  startDaemon,
} from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
const CALLS = QUICK ? 20 : 200;
const COMMANDS = QUICK ? 3 : 20;
const MORE_MAX_MS = 20;

const p50 = (values: readonly number[]): number => percentile(ascending(values), 50);

/** `agent` is a word of the path of the host. */
const hostEnv = ({ dir }: BenchDaemon): Record<string, string> => ({
  ...environment(),
  HOLDFAST_HOME: dir,
  PATH: `${join(dir, "bin")}${delimiter}${process.env.PATH}`,
});

const startHost = async (): Promise<BenchDaemon> => {
  const daemon = await startDaemon();
  mkdirSync(join(daemon.dir, "bin"));
  symlinkSync(agentBin, join(daemon.dir, "bin/agent"));
  await daemon.request("agent/spawn", { ...command(["sleep", "1000"]) });
  return daemon;
};

const execHost = (daemon: BenchDaemon): string => {
  const { HOLDFAST_HOME, PATH } = hostEnv(daemon);
  return `exec:env HOLDFAST_HOME=${HOLDFAST_HOME} PATH=${PATH}`;
};

/** Milliseconds of each call, in turns, so that all see the same machine. */
const inTurns = async (rounds: number, calls: readonly (() => unknown)[]): Promise<readonly number[]> => {
  const took = calls.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1)
    for (const [at, call] of calls.entries()) {
      const began = performance.now();
      await call();
      // The first round warms all.
      if (round > 0) took[at]!.push(performance.now() - began);
    }
  return took.map(p50);
};

const overLink = (name: string, floor: string, [base, ours]: readonly number[]): Result => ({
  name,
  floor: `${floor}: p50 ${ms(base!)}`,
  measured: `p50 ${ms(ours!)}`,
  value: `${(ours! - base!).toFixed(2)} ms more`,
  threshold: `≤ ${MORE_MAX_MS} ms more`,
  ok: ours! - base! <= MORE_MAX_MS,
});

const list = (client: Client) => () => client.request("agent/list", {});

const overExec = async (daemon: BenchDaemon): Promise<Result> => {
  const socket = await connectDaemon({ stateDir: daemon.dir, env: environment() });
  const local = makeClient(socket, readToken(daemon.dir));
  const host = parseHost(execHost(daemon)) as HostAddress;
  const { client } = await connectHost({ host, start: false });
  const figures = await inTurns(CALLS, [list(local), list(client)]);
  for (const each of [local, client]) each.close();
  return overLink("`agent/list` over a link of `exec:`", "over the socket", figures);
};

/** The round trip is that of `cat` over the same client and server. */
const overSsh = async (daemon: BenchDaemon): Promise<readonly Result[]> => {
  if (SSH === "") {
    console.error("There is no ssh here: hosts over ssh are not measured.");
    return [];
  }
  const ssh = makeSshClient(daemon.dir.concat("/ssh"));
  const server = makeSshServer({ publicKey: ssh.publicKey, env: hostEnv(daemon) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const address = parseHost(`ssh://me@127.0.0.1:${port}`) as HostAddress;
  const [, ...words] = address.reach;
  const host = { ...address, reach: [join(ssh.bin, "ssh"), ...words] };
  const { client } = await connectHost({ host, start: false });
  const cat = spawn(host.reach[0]!, [...words, "cat"], { stdio: ["pipe", "pipe", "inherit"] });
  const there = async (): Promise<void> => {
    cat.stdin.write("a line\n");
    await once(cat.stdout, "data");
  };
  const figures = await inTurns(CALLS, [there, list(client)]);
  client.close();
  cat.kill();
  server.close();
  return [overLink("`agent/list` over a link of ssh", "a line by `cat` over the same ssh", figures)];
};

const ran = (env: Record<string, string>, ...args: readonly string[]) => {
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(String(stderr));
};

const timesOf = (name: string, floor: string, base: number, ours: number, most: number): Result => ({
  name,
  floor: `${floor}: p50 ${ms(base)}`,
  measured: `p50 ${ms(ours)}`,
  value: `${(ours / base).toFixed(2)} times`,
  threshold: `≤ ${most} times`,
  ok: ours / base <= most,
});

const wholeCommands = async (daemons: readonly BenchDaemon[]): Promise<readonly Result[]> => {
  const [first] = daemons as [BenchDaemon];
  const env = hostEnv(first);
  const asked = (some: readonly BenchDaemon[]) => some.flatMap((daemon) => ["--host", execHost(daemon)]);
  const [local, one, all] = (await inTurns(COMMANDS, [
    () => ran(env, agentBin, "list"),
    () => ran(env, agentBin, ...asked([first]), "list"),
    () => ran(env, agentBin, ...asked(daemons), "list"),
  ])) as [number, number, number];
  return [
    timesOf("`agent --host exec:… list`, whole command", "`agent list`", local, one, 2.5),
    timesOf(`the same over ${daemons.length} hosts at once`, "over one", one, all, 2),
  ];
};

/**
 * Three nodes, each with a placed worker. A plain list asks the database for the workers of the others; `--host all` asks the nodes
 * themselves, by a program for each. A request about a worker of another node goes through the database.
 */
const overCluster = async (daemons: readonly BenchDaemon[]): Promise<readonly Result[]> => {
  const postgres = await TestPostgres.start();
  const url = await postgres.database("bench");
  const [here] = daemons as [BenchDaemon];
  const env = hostEnv(here);
  const alone = await startHost();
  await here.agent("cluster", "init", url);
  for (const [at, daemon] of daemons.entries()) {
    const name = `node${at}`;
    await daemon.agent("cluster", "join", url, "--name", name, "--endpoint", execHost(daemon));
    await here.agent("spawn", "--where", `node=${name}`, "--name", `on-${name}`, "--", "sleep", "1000");
  }
  const [local, plain, all] = (await inTurns(COMMANDS, [
    () => ran(hostEnv(alone), agentBin, "list"),
    () => ran(env, agentBin, "list"),
    () => ran(env, agentBin, "--host", "all", "list"),
  ])) as [number, number, number];
  const [info, far] = (await inTurns(COMMANDS, [
    () => here.request("agent/info", { id: "on-node0" }),
    () => here.request("agent/info", { id: "on-node1" }),
  ])) as [number, number];
  for (const [at, daemon] of daemons.entries()) {
    await daemon.agent("kill", `on-node${at}`);
    await daemon.agent("cluster", "leave");
  }
  await alone.stop();
  await postgres.remove();
  return [
    timesOf("`agent list` at a node of three", "`agent list` of a daemon alone", local, plain, 2),
    timesOf("`agent --host all list` in a cluster of three nodes", "the same", local, all, 2),
    {
      name: "`agent/info` of a worker of another node",
      floor: `of the node's own: p50 ${ms(info)}`,
      measured: `p50 ${ms(far)}`,
      value: `${(far - info).toFixed(0)} ms more`,
      threshold: "–",
      ok: true,
    },
  ];
};

export const hosts = async (): Promise<readonly Result[]> => {
  const daemons = await Promise.all([startHost(), startHost(), startHost()]);
  mkdirSync(join(daemons[0].dir, "ssh"));
  const results = [
    await overExec(daemons[0]),
    ...(await overSsh(daemons[0])),
    ...(await wholeCommands(daemons)),
    ...(await overCluster(daemons)),
  ];
  for (const daemon of daemons) await daemon.stop();
  return results;
};
