/** Agents as functions in a test, on the spawner without processes. */

import type { AgentAdapter, PlanContext } from "../adapters/adapter.ts";
import { PROGRAM_KIND } from "../adapters/kinds.ts";
import { adapters, makeRegistry, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import type { JsonValue, Usage, WorkerError } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { type FakeLine, fakeOf } from "./fake.ts";
import type { MemoryRun, MemorySpawner } from "./memory-spawner.ts";

/** The means of a script. Output after its end is not read. */
export interface FakeAgent {
  /** The spec with its defaults. */
  readonly spec: WorkerSpec;
  /** 1 at its first start, 2 after its first restart. */
  readonly incarnation: number;
  /** The agent's task: its prompt, or the message that began this turn. */
  readonly text: string;
  /** Aborted when the agent has ended, in any way. */
  readonly ended: AbortSignal;
  /** Prints an agent's text for its user; a `command` prints it as a line. */
  say(text: string): void;
  /** Writes a text unchanged to a stream of a `command`. */
  print(stream: "stdout" | "stderr", text: string): void;
  /** Calls a tool, which answers at once. */
  tool(name: string, how?: { readonly failed?: boolean }): void;
  /** Asks whether it may use a tool, and waits for the answer (`approve`, a rule, or the deadline). */
  ask(
    tool: string,
    input?: JsonValue,
  ): Promise<{ readonly decision: "allow" | "deny"; readonly message?: string }>;
  /** Waits on the test's clock. */
  sleep(ms: number): Promise<void>;
  /** Reports usage of this turn, for `usage` and budgets. */
  uses(usage: Partial<Usage>): void;
  /** Reports the error with which the CLI explains its failure; return an exit code after it. */
  fails(error: WorkerError): void;
}

/**
 * The work of an agent for its prompt, or in one turn of a dialogue. The returned exit code or signal ends it. A script that
 * returns nothing ends with code 0 or, in a dialogue, waits for the next message. A thrown error ends it with code 1 and is
 * passed to `report`.
 */
export type Script = (agent: FakeAgent) => ScriptEnd | Promise<ScriptEnd>;
// biome-ignore lint/suspicious/noConfusingVoidType: a script that returns nothing is what most are.
type ScriptEnd = number | NodeJS.Signals | void;

export interface Scripts {
  /** Scripts of workers, by name, else by kind. */
  readonly agents?: Readonly<Record<string, Script>>;
  /** The script of all other workers. Default: an agent that says nothing and succeeds. */
  readonly script?: Script;
}

interface ScriptContext {
  readonly scripts: Scripts;
  readonly memory: MemorySpawner;
  readonly sleep: (ms: number) => Promise<void>;
  readonly report: (message: string, cause?: unknown) => void;
}

export const stage = ({ scripts, memory, sleep, report }: ScriptContext) => {
  const specs = new Map<string, WorkerSpec>();
  const remembering = (adapter: AgentAdapter): AgentAdapter => ({
    ...adapter,
    plan: (context: PlanContext) => {
      specs.set(context.worker_id, context.spec);
      return adapter.plan(context);
    },
  });
  const players = new Map<MemoryRun, ScriptRun>();
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
    const player = new ScriptPlayer({ run, spec, script: ofIt, sleep, report });
    players.set(run, player);
    player.begin();
  };
  const spawner: RuntimeSpawner = {
    ...memory.spawner,
    launch: async (request) => {
      const run = await memory.spawner.launch(request);
      const handle = memory.runs.find((one) => one.request === request)!;
      // The supervisor must see first that the run lives.
      setImmediate(() => begin(handle));
      return run;
    },
  };
  const fakes = adapters.map((adapter) =>
    remembering(adapter.kind === PROGRAM_KIND ? adapter : (fakeOf(adapter) as unknown as AgentAdapter)),
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

interface ScriptRun {
  begin(): void;
  /** The stdin has more input, or was closed. */
  onInput(): void;
  /** The run has ended, so its script's further actions are ignored. */
  end(): void;
}

/** Calls the script: once, or for each message. */
class ScriptPlayer implements ScriptRun {
  private readonly part: Part;
  private readonly isCommand: boolean;
  private readonly isOpen: boolean;
  private readonly ended = new AbortController();
  private readonly answers = new Map<string, (answer: PermissionDecision) => void>();
  private readonly turns: { readonly id: string; readonly text: string }[] = [];
  private isBusy = false;
  private calls = 0;
  private used: Partial<Usage> | undefined;
  /** Characters of the stdin that the script has read. */
  private read = 0;

  constructor(part: Part) {
    this.part = part;
    this.isCommand = part.spec.kind === PROGRAM_KIND;
    this.isOpen = part.run.request.stdin.kind === "open";
  }

  begin(): void {
    if (this.isOpen) this.onInput();
    else {
      this.put({ begin: true });
      void this.play(this.part.spec.prompt ?? "");
    }
  }

  onInput(): void {
    const lines = this.part.run.stdin.slice(this.read).split("\n").slice(0, -1);
    this.read += lines.join("\n").length + (lines.length === 0 ? 0 : 1);
    for (const text of lines) {
      const line: StdinItem = this.isCommand ? { message: "", text } : (JSON.parse(text) as StdinItem);
      if ("permission" in line) this.answers.get(line.permission)?.(line);
      else if ("message" in line) this.turns.push({ id: line.message, text: line.text });
    }
    this.next();
  }

  end(): void {
    this.ended.abort();
  }

  private exit(how: number | NodeJS.Signals): void {
    this.end();
    this.part.run.exit(how);
  }

  private put(line: FakeLine): void {
    if (!this.ended.signal.aborted && !this.isCommand)
      this.part.run.print("stdout", `${JSON.stringify(line)}\n`);
  }

  private next(): void {
    if (this.isBusy || this.ended.signal.aborted) return;
    const turn = this.turns.shift();
    if (turn !== undefined) {
      this.put({ taken: turn.id });
      void this.play(turn.text);
    } else if (this.part.run.stdinEnded) this.exit(0);
  }

  private async play(text: string): Promise<void> {
    const { script, spec, report } = this.part;
    this.isBusy = true;
    this.used = undefined;
    let how: ScriptEnd = 1;
    try {
      how = await script(this.agentOf(text));
    } catch (cause) {
      report(`the script of ${spec.name ?? spec.kind} threw: ${String(cause)}`, cause);
    }
    if (this.ended.signal.aborted) return;
    if (how === undefined || how === 0) this.put({ done: true, usage: this.used });
    this.isBusy = false;
    if (how !== undefined) this.exit(how);
    else if (!this.isOpen) this.exit(0);
    else this.next();
  }

  private agentOf(text: string): FakeAgent {
    const { run, spec, sleep } = this.part;
    const { worker_id, incarnation } = run.request;
    const { signal } = this.ended;
    return {
      spec,
      incarnation,
      text,
      ended: signal,
      say: (words) => (this.isCommand ? run.print("stdout", `${words}\n`) : this.put({ say: words })),
      print: (stream, bytes) => {
        if (!signal.aborted) run.print(stream, bytes);
      },
      tool: (tool, { failed = false } = {}) => {
        const id = `call-${++this.calls}`;
        this.put({ tool, id });
        this.put({ result: id, name: tool, failed });
      },
      ask: (tool, input = null) => {
        const id = `ask-${worker_id}-${incarnation}-${++this.calls}`;
        this.put({ ask: id, tool, input });
        return new Promise((resolve) => this.answers.set(id, resolve));
      },
      sleep,
      uses: (usage) => {
        this.used = usage;
      },
      fails: (error) => this.put({ error }),
    };
  }
}

type PermissionDecision = { readonly decision: "allow" | "deny"; readonly message?: string };
type StdinItem =
  | ({ readonly permission: string } & PermissionDecision)
  | { readonly message: string; readonly text: string }
  | { readonly stop: true };
