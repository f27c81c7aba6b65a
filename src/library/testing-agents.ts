/** Agents that are functions of a test, on the spawner without processes. */
import type { AgentAdapter, PlanContext } from "../adapters/adapter.ts";
import { type FakeLine, fakeOf } from "../adapters/fake.ts";
import type { MemoryRun, MemorySpawner } from "../adapters/memory-spawner.ts";
import { adapters, makeRegistry, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import type { Json, Usage, WorkerError } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

/** The means of a script. Nothing that it prints after its end is read. */
export interface FakeAgent {
  /** As it was asked for, with its defaults. */
  readonly spec: WorkerSpec;
  /** 1 at its first start, 2 after its first restart. */
  readonly incarnation: number;
  /** Its task: its prompt, or the message that began this turn. */
  readonly text: string;
  /** Aborted when the agent has ended, however. */
  readonly ended: AbortSignal;
  /** The agent says it to its user; a `command` prints it as a line. */
  say(text: string): void;
  /** Bytes as they are, on a stream of a `command`. */
  print(stream: "stdout" | "stderr", text: string): void;
  /** It calls a tool, which answers at once. */
  tool(name: string, how?: { readonly failed?: boolean }): void;
  /** It asks whether it may use a tool, and waits for the answer (`approve`, a rule, or its deadline). */
  ask(
    tool: string,
    input?: Json,
  ): Promise<{ readonly decision: "allow" | "deny"; readonly message?: string }>;
  /** Waits on the clock of the test. */
  sleep(ms: number): Promise<void>;
  /** The usage of this turn, for `usage` and budgets. */
  uses(usage: Partial<Usage>): void;
  /** How the CLI tells why it fails: return a code after it. */
  fails(error: WorkerError): void;
}

/**
 * The work of an agent for its prompt, or in one turn of a conversation. It ends with the exit code or the signal that is returned: nothing is
 * code 0, and in a conversation the wait for the next message. An error ends it with code 1, and is told to `report`.
 */
export type Script = (agent: FakeAgent) => Ending | Promise<Ending>;
// biome-ignore lint/suspicious/noConfusingVoidType: a script that returns nothing is what most are.
type Ending = number | NodeJS.Signals | void;

export interface Scripts {
  /** Scripts of workers, by name, else by kind. */
  readonly agents?: Readonly<Record<string, Script>>;
  /** The script of all others. Default: an agent that says nothing and succeeds. */
  readonly script?: Script;
}

interface Stage {
  readonly scripts: Scripts;
  readonly memory: MemorySpawner;
  readonly sleep: (ms: number) => Promise<void>;
  readonly report: (message: string, cause?: unknown) => void;
}

export const stage = ({ scripts, memory, sleep, report }: Stage) => {
  const specs = new Map<string, WorkerSpec>();
  const remembering = (adapter: AgentAdapter): AgentAdapter => ({
    ...adapter,
    plan: (context: PlanContext) => {
      specs.set(context.worker_id, context.spec);
      return adapter.plan(context);
    },
  });
  const players = new Map<MemoryRun, Player>();
  const gone = new WeakSet<MemoryRun>();
  memory.onInput = (run) => players.get(run)?.onInput();
  memory.onSignal = (run, signal) => {
    gone.add(run);
    players.get(run)?.end();
    run.exit(signal);
  };
  const begin = (run: MemoryRun): void => {
    if (gone.has(run)) return;
    const spec = specs.get(run.request.worker_id);
    if (spec === undefined) return;
    const { agents = {}, script = () => undefined } = scripts;
    const ofIt = (spec.name === undefined ? undefined : agents[spec.name]) ?? agents[spec.kind] ?? script;
    const player = perform({ run, spec, script: ofIt, sleep, report });
    players.set(run, player);
    player.begin();
  };
  const spawner: RuntimeSpawner = {
    ...memory.spawner,
    launch: async (request) => {
      const run = await memory.spawner.launch(request);
      const handle = memory.runs.find((one) => one.request === request)!;
      // Its supervisor reads first that it runs.
      setImmediate(() => begin(handle));
      return run;
    },
  };
  const fakes = adapters.map((adapter) =>
    remembering(adapter.kind === "command" ? adapter : (fakeOf(adapter) as unknown as AgentAdapter)),
  );
  return { spawner, registry: registryOf(fakes) };
};

const registryOf = (fakes: readonly AgentAdapter[]): Registry => {
  const real = makeRegistry();
  const byKind = new Map(fakes.map((fake) => [fake.kind, fake]));
  return {
    ...real,
    all: fakes,
    adapterFor: (name) => byKind.get(real.adapterFor(name)?.kind ?? ""),
  };
};

interface Part {
  readonly run: MemoryRun;
  readonly spec: WorkerSpec;
  readonly script: Script;
  readonly sleep: (ms: number) => Promise<void>;
  readonly report: (message: string, cause?: unknown) => void;
}

interface Player {
  begin(): void;
  /** There is more on its stdin, or the end of it. */
  onInput(): void;
  /** Its run is over: what its script does now is nobody's. */
  end(): void;
}

/** Calls the script: once, or for each message that comes. */
const perform = ({ run, spec, script, sleep, report }: Part): Player => {
  const isCommand = spec.kind === "command";
  const isOpen = run.request.stdin.kind === "open";
  const ended = new AbortController();
  const answers = new Map<string, (answer: Answer) => void>();
  const turns: { readonly id: string; readonly text: string }[] = [];
  let isBusy = false;
  let calls = 0;
  let used: Partial<Usage> | undefined;

  const end = (how: number | NodeJS.Signals): void => {
    ended.abort();
    run.exit(how);
  };
  const put = (line: FakeLine): void => {
    if (!ended.signal.aborted && !isCommand) run.print("stdout", `${JSON.stringify(line)}\n`);
  };
  const agentOf = (text: string): FakeAgent => ({
    spec,
    incarnation: run.request.incarnation,
    text,
    ended: ended.signal,
    say: (words) => (isCommand ? run.print("stdout", `${words}\n`) : put({ say: words })),
    print: (stream, bytes) => {
      if (!ended.signal.aborted) run.print(stream, bytes);
    },
    tool: (tool, { failed = false } = {}) => {
      const id = `call-${++calls}`;
      put({ tool, id });
      put({ result: id, name: tool, failed });
    },
    ask: (tool, input = null) => {
      const id = `ask-${run.request.worker_id}-${run.request.incarnation}-${++calls}`;
      put({ ask: id, tool, input });
      return new Promise((resolve) => answers.set(id, resolve));
    },
    sleep,
    uses: (usage) => {
      used = usage;
    },
    fails: (error) => put({ error }),
  });
  const play = async (text: string): Promise<void> => {
    isBusy = true;
    used = undefined;
    let how: Ending = 1;
    try {
      how = await script(agentOf(text));
    } catch (cause) {
      report(`the script of ${spec.name ?? spec.kind} threw: ${String(cause)}`, cause);
    }
    if (ended.signal.aborted) return;
    if (how === undefined || how === 0) put({ done: true, usage: used });
    isBusy = false;
    if (how !== undefined) end(how);
    else if (!isOpen) end(0);
    else next();
  };
  const next = (): void => {
    if (isBusy || ended.signal.aborted) return;
    const turn = turns.shift();
    if (turn !== undefined) {
      put({ taken: turn.id });
      void play(turn.text);
    } else if (run.stdinEnded) end(0);
  };

  let read = 0;
  const onInput = (): void => {
    const lines = run.stdin.slice(read).split("\n").slice(0, -1);
    read += lines.join("\n").length + (lines.length === 0 ? 0 : 1);
    for (const text of lines) {
      const line: Said = isCommand ? { message: "", text } : (JSON.parse(text) as Said);
      if ("permission" in line) answers.get(line.permission)?.(line);
      else if ("message" in line) turns.push({ id: line.message, text: line.text });
    }
    next();
  };
  return {
    begin: () => {
      if (isOpen) return onInput();
      put({ begin: true });
      void play(spec.prompt ?? "");
    },
    onInput,
    end: () => ended.abort(),
  };
};

type Answer = { readonly decision: "allow" | "deny"; readonly message?: string };
type Said =
  | ({ readonly permission: string } & Answer)
  | { readonly message: string; readonly text: string }
  | { readonly stop: true };
