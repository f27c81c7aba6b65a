/**
 * Every command against one machine, against a node of a cluster, and from a node against another one: the answers are the same, but
 * for the differences that are named here.
 */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COMMANDS } from "../../../src/commands/commands.ts";
import { type Answer, type Commands, makeCommands, until } from "../../cli/support/commands.ts";
import { FAILING } from "../../cli/support/failing.ts";
import { CALLS, type Data, makeStoryFiles, type StoryCall, wordsOf } from "../../cli/support/story.ts";
import { AGENT } from "../../support/built.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { type Difference, differences, type PlainAnswer, plainAnswer } from "./support/contract.ts";
import { ClusterOfMachines } from "./support/machines.ts";

/** Commands that are not asked here, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  "agent/demo": "has a state directory of its own",
  "agent/top": "needs a terminal",
  "mcp/serve": "speaks another protocol",
  "agent/acp": "speaks another protocol",
  "agent/relay": "speaks another protocol: it carries each call of --host",
  "daemon/run": "becomes the daemon",
  "daemon/install": "writes the files of a service manager",
  "daemon/uninstall": "removes the files of a service manager",
};
/** Calls of FAILING that do not fail, or do something else, where a daemon runs. */
const NOT_FAILING: Readonly<Record<string, string>> = {
  "agent/watch": "follows for ever",
  "bb/watch": "follows for ever",
  "board/watch": "follows for ever",
  "cluster/init": "asks a database that is not there",
  "cluster/leave": "takes the node out of its cluster",
};
const FAILING_CALLS: readonly StoryCall[] = Object.entries(FAILING).flatMap(
  ([command, [, ...words]]): readonly StoryCall[] => (command in NOT_FAILING ? [] : [[command, words]]),
);
const AT_THE_END: readonly StoryCall[] = [
  ["daemon/upgrade", ["daemon", "upgrade", "--force"]],
  ...CALLS.slice(-1),
];
const STORY = CALLS.slice(0, -1);
/** With `--host` they run as programs of that machine, and know no cluster (cli/hosts.e2e.test.ts). */
const OF_THE_MACHINE =
  /^(config|cas|db|identity|event|proto)\/|^agent\/(version|manifest|completion|init|doctor)$/;

let postgres: TestPostgres;
let cluster: ClusterOfMachines;

interface Machine {
  readonly home: string;
  readonly work: string;
  ask(words: readonly string[]): Promise<Answer>;
}
const machines: Commands[] = [];
const works = new Map<Commands, string>();

const endpointOf = ({ home }: Commands): string => {
  mkdirSync(join(home, "bin"));
  symlinkSync(AGENT, join(home, "bin/agent"));
  return `exec:env HOLDFAST_HOME=${home} HOLDFAST_VALIDATE=1 PATH=${join(home, "bin")}:${process.env.PATH}`;
};
const prepare = (commands: Commands): readonly string[] => {
  works.set(commands, makeStoryFiles(commands.home));
  return ["--endpoint", endpointOf(commands)];
};

beforeAll(async () => {
  postgres = await TestPostgres.start();
  const url = await postgres.database("contract");
  const alone = makeCommands();
  machines.push(alone);
  prepare(alone);
  await alone.agent("daemon", "start");
  cluster = await ClusterOfMachines.start(() => url, ["a", "b"], prepare);
  machines.push(...cluster.machines);
});
afterAll(async () => {
  await machines[0]?.close();
  await cluster?.close();
  await postgres?.remove();
  for (const work of works.values()) rmSync(work, { recursive: true, force: true });
});

const machineOf = (at: number, ask?: Machine["ask"]): Machine => {
  const commands = machines[at]!;
  const { home } = commands;
  return { home, work: works.get(commands)!, ask: ask ?? ((words) => commands.agent(...words)) };
};
const alone = () => machineOf(0);
const node = () => machineOf(1);
/** Asked at the node a. */
const host = () => machineOf(2, (words) => machines[1]!.agent("--host", "b", ...words));

type Answers = ReadonlyMap<string, PlainAnswer>;

const told = async (
  machine: Machine,
  calls: readonly StoryCall[],
  isAsked: (command: string) => boolean = () => true,
): Promise<Answers> => {
  const { home, work, ask } = machine;
  const newest = new Map<string, Data>();
  const soFar = { told: (command: string) => newest.get(command) ?? {}, work };
  const answers = new Map<string, PlainAnswer>();
  for (const [at, call] of calls.entries()) {
    if (!isAsked(call[0])) continue;
    const answer = await ask(wordsOf(call, soFar));
    newest.set(call[0], answer.data);
    if (call[0] === "agent/spawn" && answer.exit === 0) await untilItRuns(machine, String(answer.data.id));
    answers.set(
      `${call[0]} ${at}`,
      plainAnswer(answer, [
        [home, "HOME"],
        [work, "WORK"],
        [/ --host b\b/g, ""],
        [/^b: /g, ""],
      ]),
    );
  }
  return answers;
};

/** An answer of `spawn` may be ahead of the process. */
const untilItRuns = ({ ask }: Machine, id: string): Promise<void> =>
  until(async () => (await ask(["info", id])).data.state !== "starting");

/** The calls about a worker that the cluster placed, after its `spawn`. */
const PLACED: readonly StoryCall[] = [
  ["agent/info", ["info", "pip"]],
  ["agent/list", ["list"]],
  ["agent/tree", ["tree"]],
  ["agent/pause", ["pause", "pip"]],
  ["agent/unpause", ["unpause", "pip"]],
  ["agent/restart", ["restart", "pip", "--dry-run"]],
  ["agent/send", ["send", "pip", "hello"]],
  ["agent/send", ["send", "pip"]],
  ["agent/ask", ["ask", "pip", "hello"]],
  ["agent/messages", ["messages", "pip"]],
  ["agent/approvals", ["approvals", "pip"]],
  ["approvals/approve", ["approvals", "approve", "pip"]],
  ["approvals/deny", ["approvals", "deny", "pip"]],
  ["agent/inbox", ["inbox"]],
  ["agent/inbox", ["inbox", "pip"]],
  ["agent/answer", ["answer", "pip", "continue"]],
  ["agent/cancel", ["cancel", "pip"]],
  ["worktree/remove", ["worktree", "remove", "pip"]],
  ["agent/usage", ["usage"]],
  ["agent/usage", ["usage", "pip"]],
  ["agent/wait", ["wait", "pip", "--timeout", "1s"]],
  ["jobs/info", ["jobs", "info", "pip"]],
  ["jobs/wait", ["jobs", "wait", "pip", "--timeout", "1s"]],
  ["agent/archive", ["archive", "pip"]],
  ["agent/kill", ["kill", "pip", "--dry-run"]],
  ["agent/kill", ["kill", "pip", "--reason", "nobody needs it", "--grace", "1s", "--signal", "SIGINT"]],
  ["agent/kill", ["kill", "pip"]],
  ["agent/why", ["why", "pip"]],
  ["agent/logs", ["logs", "pip"]],
  ["agent/watch", ["watch", "pip"]],
  ["agent/wait", ["wait", "pip"]],
  ["agent/output", ["output", "pip"]],
  ["jobs/result", ["jobs", "result", "pip"]],
  ["jobs/wait", ["jobs", "wait", "pip"]],
  ["jobs/cancel", ["jobs", "cancel", "pip"]],
  ["agent/archive", ["archive", "pip"]],
];
/** Commands that name a worker and are not asked here, and why. */
const NOT_PLACED: Readonly<Record<string, string>> = {
  "agent/resume": "refused for a placed worker: the new one would run outside of the cluster",
  "agent/fork": "refused for a placed worker: the new one would run outside of the cluster",
  "agent/attach": "is for the terminal of its node",
  "agent/changes": "has artifacts of the store of its node",
  "jobs/tail": "is a stream of the log of its node",
  "agent/search": "shows the hits of other nodes beside its own (searching.e2e.test.ts)",
  "mailbox/send": "a mailbox belongs to one machine",
  "mailbox/poll": "a mailbox belongs to one machine",
  "mailbox/list": "a mailbox belongs to one machine",
};
const placedAt = (...flags: readonly string[]): readonly StoryCall[] => [
  ["agent/spawn", ["spawn", "--name", "pip", "--interactive", ...flags, "--", "cat"]],
  ["agent/spawn", ["spawn", "--name", "pip", "--interactive", ...flags, "--", "tac"]],
  ...PLACED,
  ["agent/spawn", ["spawn", "--name", "pap", ...flags, "--", "sleep", "1d"]],
  ["agent/rename", ["rename", "pap", "pop"]],
  ["agent/kill", ["kill", ({ told }) => String(told("agent/spawn").id)]],
];
/**
 * The words that a person says at the node a of a worker that is on b: nobody needs to know where it is. A list is that of a machine, and
 * records come from the copy (copied.e2e.test.ts).
 */
const fromA = (): Machine =>
  machineOf(2, (words) => {
    const [verb, name] = words;
    const isOfMachine = ["list", "tree", "logs", "watch"].includes(verb!) || name === undefined;
    return machines[1]!.agent(...(isOfMachine ? ["--host", "b"] : []), ...words);
  });

/** A difference that is there by nature. */
interface Allowed {
  readonly command: RegExp;
  readonly path: RegExp;
  /** In the JSON of what differs. */
  readonly there?: RegExp;
  readonly why: string;
}
const STORY_ALLOWED: readonly Allowed[] = [
  { command: /^cluster\/status$/, path: /^data\./, why: "shows the cluster, and one machine has none" },
];
const FAILING_ALLOWED: readonly Allowed[] = [
  ...STORY_ALLOWED,
  { command: /^agent\/drain$/, path: /./, why: "a node can be drained, and one machine is none" },
  {
    // An identity, a grant or a tree is no worker.
    command: /^(?!identity|weblisk|agent\/down)/,
    path: /^suggestion$/,
    there: /those of other nodes of the cluster: agent --host all list/,
    why: "a worker that is not on this node may be on another one",
  },
];
const PLACED_ALLOWED: readonly Allowed[] = [
  { command: /^agent\/spawn$/, path: /^data\.status$/, why: "a placed worker is told once its node runs it" },
  { command: /^agent\/spawn$/, path: /^data\.node$/, why: "names the node that took it" },
  {
    command: /^agent\/spawn$/,
    path: /^(message|suggestion)$/,
    there: /The cluster has placed|end that one/,
    why: "the name is taken in the cluster, and not only here",
  },
  { command: /^agent\/info$/, path: /^data\.spec\.placed$/, why: "shows that it is placed" },
  { command: /^agent\/why$/, path: /\.spec\.placed$/, why: "its record says that it is placed" },
  {
    command: /^agent\/why$/,
    path: /\.payload\.by$/,
    there: /^"cluster"$/,
    why: "its node acts for the cluster",
  },
  { command: /^agent\/rename$/, path: /./, why: "refused: a placement is known by its name" },
  { command: /^agent\/kill$/, path: /\.name$/, there: /^"pap"$/, why: "it was not renamed" },
];
const explains = ({ command, path, there = /./ }: Allowed, found: Difference): boolean =>
  command.test(found.command) && path.test(found.path) && there.test(JSON.stringify(found.there ?? null));

/** The differences without a reason, and the reasons without a difference. */
const judged = (found: readonly Difference[], allowed: readonly Allowed[]) => ({
  unexplained: found.filter((each) => !allowed.some((one) => explains(one, each))),
  unused: allowed.filter((one) => !found.some((each) => explains(one, each))).map(({ why }) => why),
});
const SAME = { unexplained: [], unused: [] };

it("every command is asked here, or not for a reason", () => {
  const calls = [...CALLS, ...AT_THE_END, ...FAILING_CALLS].map(([command]) => command);
  expect(new Set([...calls, ...Object.keys(NOT_FAILING), ...Object.keys(NOT_HERE)])).toEqual(
    new Set(COMMANDS.map(({ command }) => command)),
  );
});

it("every command that succeeds on one machine does the same on a node, and from one for another", async () => {
  const isOfDaemons = (command: string): boolean => !OF_THE_MACHINE.test(command);
  const [one, ofNode, ofHost] = await Promise.all([
    told(alone(), STORY),
    told(node(), STORY),
    told(host(), STORY, isOfDaemons),
  ]);
  expect(judged(differences(one, ofNode), STORY_ALLOWED)).toEqual(SAME);
  const asked = new Map([...one].filter(([call]) => isOfDaemons(call.replace(/ .*/, ""))));
  expect(judged(differences(asked, ofHost), STORY_ALLOWED)).toEqual(SAME);
});

it("every command that fails on one machine fails on a node with the same code", async () => {
  const [one, ofNode] = await Promise.all([alone(), node()].map((each) => told(each, FAILING_CALLS)));
  expect(judged(differences(one!, ofNode!), FAILING_ALLOWED)).toEqual(SAME);
  const isOfDaemons = (command: string): boolean => !OF_THE_MACHINE.test(command);
  const ofHost = await told(host(), FAILING_CALLS, isOfDaemons);
  const asked = new Map([...one!].filter(([call]) => isOfDaemons(call.replace(/ .*/, ""))));
  expect(judged(differences(asked, ofHost), FAILING_ALLOWED)).toEqual(SAME);
});

it("every command that names a worker is asked about a placed one, or not for a reason", () => {
  const naming = COMMANDS.filter(({ args }) =>
    args.some(({ complete }) => complete === "worker" || complete === "living"),
  );
  const asked = placedAt().map(([command]) => command);
  expect(new Set([...asked, ...Object.keys(NOT_PLACED)])).toEqual(
    new Set([
      ...naming.map(({ command }) => command),
      "agent/spawn",
      "agent/list",
      "agent/tree",
      "agent/search",
    ]),
  );
});

it("a worker that the cluster placed is a worker as any other, on this node and on another one", async () => {
  const one = await told(alone(), placedAt());
  const there = await told(fromA(), placedAt("--where", "node=b"));
  expect(judged(differences(one, there), PLACED_ALLOWED)).toEqual(SAME);
  const here = await told(node(), placedAt("--where", "node=a"));
  expect(judged(differences(one, here), PLACED_ALLOWED)).toEqual(SAME);
});

it("a daemon is upgraded and stopped alike", async () => {
  const [one, ofHost] = await Promise.all([alone(), host()].map((each) => told(each, AT_THE_END)));
  expect(differences(one!, ofHost!)).toEqual([]);
  expect(differences(one!, await told(node(), AT_THE_END))).toEqual([]);
});
