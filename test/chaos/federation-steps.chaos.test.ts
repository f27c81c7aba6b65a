/**
 * Every process of two hubs dies by SIGKILL at each of its steps of a handshake and of a task behind it: the command that asks, the
 * gateway that is asked, and both daemons. In each round each of them is killed at its next step, until a round passes all of them.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CRASH_VARIABLE, type CrashPoint } from "../../src/base/crash-point.ts";
import { type Commands, type Ended, makeCommands } from "../cli/support/commands.ts";
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

/** Steps of a process: passages of these points, from the first one to the last that it reaches. */
class Steps {
  /** Names of steps at which it died. */
  readonly died: string[] = [];
  private readonly points: CrashPoint[];
  private passage = 1;

  constructor(...points: CrashPoint[]) {
    this.points = points;
  }

  get next(): string | undefined {
    return this.points[0] && `${this.points[0]}:${this.passage}`;
  }

  get env(): Readonly<Record<string, string>> {
    return this.next === undefined ? {} : { [CRASH_VARIABLE]: this.next };
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

/** Before a record is durable, and after it: between two of these a daemon changes nothing. */
const DAEMON_POINTS = ["append-before-commit", "append-after"] as const;
const steps = {
  command: new Steps("weblisk-step"),
  gateway: new Steps("weblisk-step"),
  daemonA: new Steps(...DAEMON_POINTS),
  daemonB: new Steps(...DAEMON_POINTS),
};
/** As many as each has at least. */
const STEPS_MIN = { command: 7, gateway: 10, daemonA: 6, daemonB: 12 } as const;
/** A command that was cut off is given again, by a person who is patient. */
const TRIES_MAX = 10;

let root: string;
let a: HubUnderTest;
let b: HubUnderTest;
const commands = {} as { a: Commands; b: Commands };
const daemons: Launched[] = [];

const serveB = (port: string, env: Readonly<Record<string, string>> = {}): Promise<HubUnderTest> =>
  serveHub(
    commands.b,
    B,
    port,
    ["clerk=command", "--root", root, "--offer", CAPABILITY, "--", ...PROGRAM],
    env,
  );

/** A daemon that dies at its next step, in the place of the one that runs; undefined if it has none. */
const daemonDying = async (of: Commands, { env, next }: Steps): Promise<Launched | undefined> => {
  if (next === undefined) return undefined;
  await of.killDaemon().catch(() => undefined);
  const daemon = launchDaemon(of.home, { env });
  daemons.push(daemon);
  await daemon.answers();
  return daemon;
};

/** Both hubs begin with a handshake again. */
const forgetToken = (): void => {
  const folder = join(commands.a.home, "weblisk", "federation");
  for (const file of readdirSync(folder)) if (file !== "own.json") rmSync(join(folder, file));
};

interface Dying {
  /** It runs again, if it was killed. */
  settled(): Promise<void>;
  /** Ends the watch over it. Whether it was killed at its step. */
  over(): Promise<boolean>;
}

/** The gateway of B, which is started again as soon as it is killed. */
const gatewayDying = async (): Promise<Dying> => {
  const port = new URL(b.url).port;
  await killRunning(b.server);
  let isWatched = true;
  let died = false;
  const restarted = async (): Promise<void> => {
    if (!isWatched) return;
    died = true;
    b = await serveB(port);
  };
  let again: Promise<void> = Promise.resolve();
  try {
    b = await serveB(port, steps.gateway.env);
    again = b.server.ended.then(restarted);
  } catch {
    // It died before it listened.
    await restarted();
  }
  const settled = async (): Promise<void> => void (died && (await again));
  return {
    settled,
    over: async () => {
      await settled();
      isWatched = false;
      return died;
    },
  };
};

const ask = (id: string): string[] => [
  ...["peer", "task", B, CAPABILITY, "good morning", "--id", id],
  ...["--inputs", '{"deep":[{"E MAIL":"secret-of-a"}]}'],
];

const outputIn = ({ exit, stdout }: Ended): unknown =>
  exit === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)!).data.output : undefined;

/** One handshake, one task, and the same task once more. A gateway that dies ends the command, too: it is killed once the command has no further steps. */
const round = async (): Promise<string> => {
  const id = newId();
  forgetToken();
  const [daemonA, daemonB] = await Promise.all([
    daemonDying(commands.a, steps.daemonA),
    daemonDying(commands.b, steps.daemonB),
  ]);
  const gateway = steps.command.next === undefined ? await gatewayDying() : undefined;
  const first = commands.a.start(["-o", "json", ...ask(id)], steps.command.env);
  const answers = [outputIn(await first.ended)];
  for (let tries = 1; answers.filter((one) => one !== undefined).length < 2; tries += 1) {
    if (tries === TRIES_MAX) throw new Error("There is no answer after many tries.");
    await gateway?.settled();
    answers.push(outputIn(await commands.a.agent(...ask(id))));
  }
  const answer = { title: "bonjour", deep: [{}] };
  expect(answers.filter((one) => one !== undefined)).toEqual([answer, answer]);
  const isKilled = (one: Launched | undefined): boolean => one?.process.signalCode === "SIGKILL";
  steps.command.over(first.child.signalCode === "SIGKILL");
  if (gateway !== undefined) steps.gateway.over(await gateway.over());
  steps.daemonA.over(isKilled(daemonA));
  steps.daemonB.over(isKilled(daemonB));
  return id;
};

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-steps-")));
  Object.assign(commands, { a: makeCommands(), b: makeCommands() });
  await Promise.all([commands.a.agent("daemon", "start"), commands.b.agent("daemon", "start")]);
  [a, b] = await Promise.all([serveHub(commands.a, A, "0"), serveB("0")]);
  await commands.a.agent("peer", "add", B, b.url, "--deny", "email");
  await commands.b.agent("peer", "add", A, a.url, "--share", CAPABILITY, "--deny", "email");
});
afterAll(async () => {
  await Promise.all([killRunning(a.server), killRunning(b.server)]);
  await Promise.all(Object.values(commands).map((one) => one.close()));
  for (const daemon of daemons) daemon.process.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

it("each task has one worker and one answer, both trails are whole and agree, and no denied field crosses", async () => {
  const ids: string[] = [];
  while (Object.values(steps).some(({ next }) => next !== undefined)) {
    const wanted = Object.entries(steps).map(([name, { next }]) => `${name} ${next ?? "lives"}`);
    await round().then(
      (id) => ids.push(id),
      (cause: Error) => {
        throw new Error(`${wanted.join(", ")}: ${cause.message}`, { cause });
      },
    );
  }
  for (const [name, min] of Object.entries(STEPS_MIN))
    expect(steps[name as keyof typeof steps].died.length, name).toBeGreaterThanOrEqual(min);

  const [ours, theirs] = await Promise.all([trailsOf(a), trailsOf(b)]);
  for (const id of ids) {
    expect(ours.get(id)).toMatchObject([{ action: "task.request" }, { action: "task.result", status: "ok" }]);
    expect(theirs.get(id)).toEqual(ours.get(id));
    const workers = await commands.b.agent("list", "--all", "--label", `weblisk_task=${id}`);
    expect(workers.data).toHaveLength(1);
  }
  for (const one of Object.values(commands)) expect((await one.agent("audit", "verify")).exit).toBe(0);
  const runs = existsSync(join(root, "runs"))
    ? readFileSync(join(root, "runs"), "utf8").trim().split("\n")
    : [];
  expect(runs).toHaveLength(ids.length);
  for (const text of filesOf({ commands: commands.b })) expect(text).not.toContain("secret-of-a");
  for (const text of filesOf({ commands: commands.a })) expect(text).not.toContain("secret-of-b");
});
