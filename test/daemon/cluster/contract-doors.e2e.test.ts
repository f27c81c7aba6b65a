/**
 * The library and HTTP, as the dashboard asks it, against one machine, against a node of a cluster, over hosts, and for a worker that the
 * cluster placed on another node: the answers are the same, but for the differences that are named here.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HoldfastError, Runtime } from "../../../src/library/index.ts";
import { type Commands, makeCommands, type Running, until } from "../../cli/support/commands.ts";
import { collect } from "../../library/support.ts";
import { AGENT } from "../../support/built.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { differences, type PlainAnswer, plainAnswer } from "./support/contract.ts";
import { ClusterOfMachines } from "./support/machines.ts";

let postgres: TestPostgres;
let cluster: ClusterOfMachines;
let alone: Commands;
let overHosts: Running;

const withHttp = ({ home }: Commands): readonly string[] => {
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ http: { listen: "127.0.0.1:0" } }));
  mkdirSync(join(home, "bin"));
  symlinkSync(AGENT, join(home, "bin/agent"));
  const path = `${join(home, "bin")}:${process.env.PATH}`;
  return ["--endpoint", `exec:env HOLDFAST_HOME=${home} HOLDFAST_VALIDATE=1 PATH=${path}`];
};

beforeAll(async () => {
  postgres = await TestPostgres.start();
  const url = await postgres.database("doors");
  alone = makeCommands();
  withHttp(alone);
  await alone.agent("daemon", "start");
  cluster = await ClusterOfMachines.start(() => url, ["a", "b"], withHttp);
  overHosts = node().start(["-o", "text", "--host", "all", "dashboard"]);
  await until(() => overHosts.out().includes("\n"));
});
afterAll(async () => {
  overHosts?.child.kill("SIGINT");
  await alone?.close();
  await cluster?.close();
  await postgres?.remove();
});

const node = (): Commands => cluster.machines[0]!;
const other = (): Commands => cluster.machines[1]!;

/** One way to ask a daemon: a call by its name, with its data. */
type Ask = (name: string, data: object) => Promise<unknown>;
type Told = ReadonlyMap<string, PlainAnswer>;

interface DoorCall {
  readonly name: string;
  readonly data: object;
}

/** A mistake of the test itself is no answer. */
const failureIn = (error: unknown): { readonly code: string; readonly message: string } | null => {
  if (error === null) return null;
  if (error instanceof HoldfastError) return { code: error.code, message: error.message };
  throw error;
};

const isGood = ({ data, error }: { readonly data: unknown; readonly error: unknown }): boolean =>
  error === null && ((data as { readonly status?: unknown }).status ?? 200) === 200;

/** `spawn` is asked first, and the rest once its worker runs. */
const told = async (
  { home, agent }: Commands,
  ask: Ask,
  calls: readonly DoorCall[],
  words: readonly (readonly [string, string])[] = [],
): Promise<Told> => {
  const answers = new Map<string, PlainAnswer>();
  for (const [at, { name, data }] of calls.entries()) {
    const asked = await ask(name, data).then(
      (value) => ({ data: value, error: null }),
      (error: unknown) => ({ data: null, error }),
    );
    const { error } = asked;
    const answer = {
      exit: error === null ? 0 : 1,
      stdout: "",
      stderr: "",
      warnings: [],
      meta: {},
      ...asked,
      error: failureIn(error),
    };
    answers.set(
      `${name} ${at}`,
      plainAnswer(answer as never, [...words, [home, "HOME"], [/ --host b\b/g, ""]]),
    );
    if (name !== "spawn") continue;
    expect(isGood(asked), JSON.stringify(asked)).toBe(true);
    const { spec = data } = data as { readonly spec?: object };
    const worker = (spec as { readonly name: string }).name;
    await until(async () => (await agent("info", worker)).data?.state === "running");
  }
  return answers;
};

const pipOf = (name: string) => ({
  kind: "command",
  argv: ["cat"],
  name,
  interactive: true,
  cwd: "/",
  restart: "temporary",
});
const ON_B = { needs: { node: "b" }, on_partition: "stop" } as const;

/** The plain calls of the library, each by its name. */
const asLibrary =
  (runtime: Runtime): Ask =>
  async (call, data) => {
    const { name } = data as { readonly name: string };
    switch (call) {
      case "spawn": {
        const { effect } = await runtime.spawn(data as never);
        return { effect };
      }
      case "list":
        return runtime.list();
      case "info":
        return runtime.info(name);
      case "inbox":
        return runtime.inbox();
      case "usage":
        return runtime.usage([name]);
      case "pause":
        return runtime.pause([name]);
      case "kill":
        return runtime.kill([name]);
      case "watch": {
        const records = await collect(runtime.watch(name, { follow: false }));
        return [...new Set(records.map(({ type }) => type))].toSorted();
      }
      default:
        throw new Error(`The library has no call ${call} here.`);
    }
  };

const libraryCalls = (name: string, more: object = {}): readonly DoorCall[] => [
  { name: "spawn", data: { ...pipOf(name), ...more } },
  ...["list", "info", "pause", "inbox", "usage", "kill", "kill", "info", "watch", "list"].map((call) => ({
    name: call,
    data: { name },
  })),
];

const connected = async ({ home }: Commands): Promise<Runtime> => Runtime.connect({ stateDir: home });

/** Words of the dashboard: `/api/NAME` with a token. The types of the records for `events`. */
const asPage =
  (root: string, token: string): Ask =>
  async (name, data) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    if (name === "events") {
      const query = new URLSearchParams({ after: "0", follow: "false", ...data });
      const streamed = await (await fetch(`${root}/api/events?${query}`, { headers })).text();
      return [...new Set(streamed.match(/(?<="type":")worker_\w+/g))].toSorted();
    }
    const path = name === "spawn" ? "agent/spawn" : name;
    const response = await fetch(`${root}/api/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(data),
    });
    return { status: response.status, body: await response.json() };
  };

const asHttp = async (commands: Commands): Promise<Ask> => {
  const file = join(commands.home, "secret");
  if (!existsSync(file)) await commands.agent("token", "create", "tester", "--to", file);
  const { http } = (await commands.agent("daemon", "status")).data as { http: { url: string } };
  return asPage(new URL(http.url).origin, readFileSync(file, "utf8").trim());
};

/** The page over all hosts, which a command at the node a serves. */
const asPageOf = (host: "local" | "b"): Ask => {
  const { origin, hash } = new URL(overHosts.out().trim());
  return asPage(`${origin}/hosts/${host}`, hash.replace("#token=", ""));
};

const httpCalls = (name: string, more: object = {}): readonly DoorCall[] => [
  { name: "spawn", data: { spec: { ...pipOf(name), ...more } } },
  { name: "agent/list", data: {} },
  { name: "agent/info", data: { id: name } },
  { name: "agent/pause", data: { ids: [name] } },
  { name: "agent/inbox", data: {} },
  { name: "agent/unpause", data: { ids: [name] } },
  { name: "agent/send", data: { id: name, text: "hello" } },
  { name: "agent/usage", data: { ids: [name] } },
  { name: "agent/tree", data: {} },
  { name: "board/list", data: {} },
  { name: "jobs/list", data: { states: ["running"] } },
  { name: "agent/kill", data: { ids: [name] } },
  { name: "agent/kill", data: { ids: [name] } },
  { name: "agent/why", data: { id: name } },
  { name: "agent/search", data: { text: name } },
  { name: "events", data: { ids: name } },
  { name: "agent/archive", data: { ids: [name] } },
];

it("a program with the library has the same answers of one machine and of a node", async () => {
  const [one, ofNode] = await Promise.all([connected(alone), connected(node())]);
  try {
    const here = await told(alone, asLibrary(one), libraryCalls("pip1"));
    expect(differences(here, await told(node(), asLibrary(ofNode), libraryCalls("pip1")))).toEqual([]);
  } finally {
    await Promise.all([one.close(), ofNode.close()]);
  }
});

it("the calls of the dashboard have the same answers of one machine and of a node", async () => {
  const [one, ofNode] = await Promise.all([asHttp(alone), asHttp(node())]);
  const here = await told(alone, one, httpCalls("pip2"));
  expect(differences(here, await told(node(), ofNode, httpCalls("pip2")))).toEqual([]);
});

/** A worker that is placed on b: a program asks at a, and needs not know where it is. A machine lists its own workers. */
const fromA = (atA: Ask, atB: Ask): Ask => {
  const isOfMachine = /^(agent\/)?(list|inbox|watch|tree|search|events)$|^(board|jobs)\//;
  return (name, data) => (isOfMachine.test(name) ? atB : atA)(name, data);
};

/** A difference that is there by nature. */
interface DoorDifference {
  readonly command: RegExp;
  readonly path: RegExp;
  readonly why: string;
}
const PLACED_DIFFERENCES: readonly DoorDifference[] = [
  {
    command: /^spawn$/,
    path: /\.(node|status)$/,
    why: "a placed worker is told once its node runs it, with the node",
  },
  { command: /info$/, path: /\.spec\.placed$/, why: "it shows that it is placed" },
  {
    command: /search$/,
    path: /hits\[\]\.(text|marks)$/,
    why: "the record of its spawn says where it is placed",
  },
  {
    command: /why$/,
    path: /\.spec\.placed$|\.payload\.by$/,
    why: "its node acts for the cluster, and says so",
  },
];

const unexplained = (here: Told, there: Told) =>
  differences(here, there).filter(
    ({ command, path }) =>
      !PLACED_DIFFERENCES.some((one) => one.command.test(command) && one.path.test(path)),
  );

it("a worker that the cluster placed on another node is as any other for a program with the library", async () => {
  const [one, atA, atB] = await Promise.all([connected(alone), connected(node()), connected(other())]);
  try {
    const here = await told(alone, asLibrary(one), libraryCalls("pip3"));
    const asked = fromA(asLibrary(atA), asLibrary(atB));
    expect(unexplained(here, await told(other(), asked, libraryCalls("pip3", { placement: ON_B })))).toEqual(
      [],
    );
  } finally {
    await Promise.all([one.close(), atA.close(), atB.close()]);
  }
});

it("a worker that the cluster placed on another node is as any other for the dashboard", async () => {
  const [one, atA, atB] = await Promise.all([asHttp(alone), asHttp(node()), asHttp(other())]);
  const here = await told(alone, one, httpCalls("pip4"));
  const there = await told(other(), fromA(atA, atB), httpCalls("pip4", { placement: ON_B }));
  expect(unexplained(here, there)).toEqual([]);
});

/** The page over hosts acts as the user of its command, and that of a daemon by a token. */
const BY_TOKEN = [["user:tester", "user"]] as const;

it("the page over all hosts has the same answers of one machine and of a host", async () => {
  const here = await told(alone, await asHttp(alone), httpCalls("pip5"), BY_TOKEN);
  expect(here.get("events 15")?.data).toContain("worker_ended");
  expect(differences(here, await told(other(), asPageOf("b"), httpCalls("pip5")))).toEqual([]);
  expect(differences(here, await told(node(), asPageOf("local"), httpCalls("pip5")))).toEqual([]);
});

it("a worker that the cluster placed on another node is as any other for the page over all hosts", async () => {
  const here = await told(alone, await asHttp(alone), httpCalls("pip6"), BY_TOKEN);
  const asked = fromA(asPageOf("local"), asPageOf("b"));
  expect(unexplained(here, await told(other(), asked, httpCalls("pip6", { placement: ON_B })))).toEqual([]);
});
