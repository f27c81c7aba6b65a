/**
 * Every process of two hubs dies by SIGKILL at each of its steps of a handshake and of a task behind it: the command that asks, the
 * gateway that is asked, its server, and both daemons. In each round some of them are killed at their next steps, until a round
 * passes all of them.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { CRASH_VARIABLE, type CrashPoint, GATEWAY_CRASH_VARIABLE } from "../../src/base/crash-point.ts";
import { type Commands, type Ended, makeCommands, until } from "../cli/support/commands.ts";
import { filesOf, type HubUnderTest, killRunning, serveHub, trailsOf } from "../cli/support/hubs.ts";
import { newId } from "../weblisk/support/agent.ts";
import { type Launched, launchDaemon } from "./client.ts";

const [A, B] = ["a.example", "b.example"];
const CAPABILITY = "content:translate";
const PROGRAM = [
  "sh",
  "-c",
  `read -r line; echo run >>runs; echo '{"title":"bonjour","deep":[{"E-Mail":"secret-of-b"}]}'`,
];
const ANSWER = { title: "bonjour", deep: [{}] };
/** A command that was cut off is given again, by a person who is patient. */
const TRIES_MAX = 12;

/** Steps of a process: passages of these points, from the first one to the last that it reaches. */
class Steps {
  /** Names of steps at which it died. */
  readonly died: string[] = [];
  private readonly points: CrashPoint[];
  private passage = 1;

  constructor(...points: CrashPoint[]) {
    this.points = points;
  }

  /** POINT:N; undefined if it has none. */
  get next(): string | undefined {
    return this.points[0] && `${this.points[0]}:${this.passage}`;
  }

  /** `hasDied`: it was killed at its next step; if not, it has no such step. */
  over(hasDied: boolean): void {
    if (hasDied) {
      this.died.push(this.next!);
      this.passage += 1;
    } else {
      this.points.shift();
      this.passage = 1;
    }
  }
}

type Victim = "command" | "server" | "gateway" | "daemonA" | "daemonB";

/** Before a record is durable, and after it: between two of these a daemon changes nothing. */
const DAEMON_POINTS = ["append-before-commit", "append-after"] as const;
/**
 * A server that dies ends its gateway, and both end a command: so each of the three is killed where the others live. Each list is
 * killed at the same time as the other ones of its pair of hubs.
 */
const PAIRS: readonly (readonly (readonly Victim[])[])[] = [
  [["command"], ["daemonA"], ["daemonB"]],
  [["server", "gateway"]],
];
/** As many as each has at least. */
const STEPS_MIN: Readonly<Record<Victim, number>> = {
  ...{ command: 7, server: 6, gateway: 4, daemonA: 6, daemonB: 12 },
};

const outputIn = ({ exit, stdout }: Ended): unknown =>
  exit === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)!).data.output : undefined;

const ask = (id: string): string[] => [
  ...["peer", "task", B, CAPABILITY, "good morning", "--id", id],
  ...["--inputs", '{"deep":[{"E MAIL":"secret-of-a"}]}'],
];

interface Dying {
  /** It runs again, if it was killed. */
  settled(): Promise<void>;
  /** Ends the watch over it. Whether it was killed at its step. */
  over(): Promise<boolean>;
}

/** Two hubs of this machine. */
class HubPair {
  readonly ids: string[] = [];
  readonly commands = { a: makeCommands(), b: makeCommands() };
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-steps-")));
  private readonly daemons: Launched[] = [];
  private a: HubUnderTest | undefined;
  private b: HubUnderTest | undefined;

  async begin(): Promise<void> {
    const { a, b } = this.commands;
    await Promise.all([a.agent("daemon", "start"), b.agent("daemon", "start")]);
    [this.a, this.b] = await Promise.all([serveHub(a, A, "0"), this.serveB("0")]);
    await a.agent("peer", "add", B, this.b.url, "--deny", "email");
    await b.agent("peer", "add", A, this.a.url, "--share", CAPABILITY, "--deny", "email");
  }

  async close(): Promise<void> {
    await Promise.all([this.a, this.b].map((hub) => hub && killRunning(hub.server)));
    await Promise.all(Object.values(this.commands).map((one) => one.close()));
    for (const daemon of this.daemons) daemon.process.kill("SIGKILL");
    rmSync(this.root, { recursive: true, force: true });
  }

  /** One handshake, one task, and the same task once more, in which those die that have a next step. */
  async round(steps: Partial<Record<Victim, Steps>>): Promise<void> {
    const id = newId();
    this.forgetToken();
    const { a, b } = this.commands;
    const [daemonA, daemonB] = await Promise.all([
      this.daemonDying(a, steps.daemonA),
      this.daemonDying(b, steps.daemonB),
    ]);
    const dying = await this.serverDying(steps);
    const env: Record<string, string> = steps.command?.next ? { [CRASH_VARIABLE]: steps.command.next } : {};
    const first = a.start(["-o", "json", ...ask(id)], env);
    const answers = [outputIn(await first.ended)];
    for (let tries = 1; answers.filter((one) => one !== undefined).length < 2; tries += 1) {
      if (tries === TRIES_MAX) throw new Error("There is no answer after many tries.");
      await dying?.settled();
      answers.push(outputIn(await a.agent(...ask(id))));
    }
    expect(answers.filter((one) => one !== undefined)).toEqual([ANSWER, ANSWER]);
    this.ids.push(id);
    const isKilled = (one: Launched | undefined): boolean => one?.process.signalCode === "SIGKILL";
    steps.command?.over(first.child.signalCode === "SIGKILL");
    if (dying !== undefined) (steps.server ?? steps.gateway)?.over(await dying.over());
    steps.daemonA?.over(isKilled(daemonA));
    steps.daemonB?.over(isKilled(daemonB));
  }

  /** One result of each task, in two trails that are whole and agree, and nothing of a denied field. */
  async check(): Promise<void> {
    const { a, b } = this.commands;
    const [ours, theirs] = await Promise.all([trailsOf({ commands: a }), trailsOf({ commands: b })]);
    for (const id of this.ids) {
      expect(ours.get(id)).toMatchObject([
        { action: "task.request" },
        { action: "task.result", status: "ok" },
      ]);
      expect(theirs.get(id)).toEqual(ours.get(id));
      expect((await b.agent("list", "--all", "--label", `weblisk_task=${id}`)).data).toHaveLength(1);
    }
    for (const one of [a, b]) expect((await one.agent("audit", "verify")).exit).toBe(0);
    const runs = readFileSync(join(this.root, "runs"), "utf8").trim().split("\n");
    expect(runs).toHaveLength(this.ids.length);
    for (const text of filesOf({ commands: b })) expect(text).not.toContain("secret-of-a");
    for (const text of filesOf({ commands: a })) expect(text).not.toContain("secret-of-b");
  }

  private serveB(port: string, env: Readonly<Record<string, string>> = {}): Promise<HubUnderTest> {
    const agents = ["clerk=command", "--root", this.root, "--offer", CAPABILITY, "--", ...PROGRAM];
    return serveHub(this.commands.b, B, port, agents, env);
  }

  /** The next task begins with a handshake. */
  private forgetToken(): void {
    const folder = join(this.commands.a.home, "weblisk", "federation");
    for (const file of readdirSync(folder)) if (file !== "own.json") rmSync(join(folder, file));
  }

  /** A daemon that dies at its next step, in the place of the one that runs; undefined if it has none. */
  private async daemonDying(of: Commands, steps: Steps | undefined): Promise<Launched | undefined> {
    if (steps?.next === undefined) return undefined;
    await of.killDaemon().catch(() => undefined);
    const daemon = launchDaemon(of.home, { env: { [CRASH_VARIABLE]: steps.next } });
    this.daemons.push(daemon);
    await daemon.answers();
    return daemon;
  }

  /** The server of B, which is started again as soon as it is dead, or its gateway, which the server itself starts again. */
  private async serverDying({ server, gateway }: Partial<Record<Victim, Steps>>): Promise<Dying | undefined> {
    const env: Record<string, string> | undefined = server?.next
      ? { [CRASH_VARIABLE]: server.next }
      : gateway?.next
        ? { [GATEWAY_CRASH_VARIABLE]: gateway.next }
        : undefined;
    if (env === undefined) return undefined;
    const port = new URL(this.b!.url).port;
    await killRunning(this.b!.server);
    let isWatched = true;
    let isServerDead = false;
    const restarted = async (): Promise<void> => {
      if (!isWatched) return;
      isServerDead = true;
      this.b = await this.serveB(port);
    };
    let again: Promise<void> = Promise.resolve();
    try {
      this.b = await this.serveB(port, env);
      again = this.b.server.ended.then(restarted);
    } catch {
      // It died before it listened.
      await restarted();
    }
    const { server: first, url } = this.b!;
    const isGatewayDead = (): boolean => first.err().includes("SIGKILL");
    const settled = async (): Promise<void> => {
      if (isServerDead) await again;
      const isThere = (): Promise<boolean> =>
        fetch(`${url}/v1/health`).then(
          ({ ok }) => ok,
          () => false,
        );
      if (isGatewayDead()) await until(isThere);
    };
    return {
      settled,
      over: async () => {
        await settled();
        isWatched = false;
        return isServerDead || isGatewayDead();
      },
    };
  }
}

const pairs = PAIRS.map(() => new HubPair());
afterAll(() => Promise.all(pairs.map((pair) => pair.close())));

/** Kills those of each list one after the other, and the lists at the same time. */
const killedAll = async (pair: HubPair, lists: readonly (readonly Victim[])[]) => {
  const all = Object.fromEntries(
    lists
      .flat()
      .map((name) => [
        name,
        new Steps(...(name.startsWith("daemon") ? DAEMON_POINTS : ["weblisk-step" as const])),
      ]),
  ) as Partial<Record<Victim, Steps>>;
  await pair.begin();
  for (;;) {
    const names = lists.flatMap((list) => list.find((name) => all[name]!.next !== undefined) ?? []);
    if (names.length === 0) return all;
    const wanted = names.map((name) => `${name} ${all[name]!.next}`).join(", ");
    await pair.round(Object.fromEntries(names.map((name) => [name, all[name]]))).catch((cause: Error) => {
      throw new Error(`${wanted}: ${cause.message}`, { cause });
    });
  }
};

it("each task has one worker and one answer, both trails are whole and agree, and no denied field crosses", async () => {
  const killed = await Promise.all(pairs.map((pair, at) => killedAll(pair, PAIRS[at]!)));
  for (const [name, steps] of killed.flatMap((all) => Object.entries(all)))
    expect(steps.died.length, name).toBeGreaterThanOrEqual(STEPS_MIN[name as Victim]);
  for (const pair of pairs) await pair.check();
});
