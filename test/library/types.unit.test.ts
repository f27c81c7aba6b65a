/**
 * Promises of the types of the package. The compiler checks this file against the built declarations (`npm test`, types);
 * running it checks nothing.
 */
import type {
  AgentAdapter,
  AgentEvent,
  ChangesReply,
  HoldfastError,
  LogRecord,
  PerWorker,
  Runtime,
  SpawnOptions,
  TreeNode,
  TreeRecord,
  TreeSupervisor,
  TreeWorker,
  WaitReply,
  WorkerRecord,
  WorkerSpec,
  worker,
} from "holdfast";
import type { RuntimeApi } from "holdfast/effect";
import { expectTypeOf, test } from "vitest";

test("a record narrows by its type", () => {
  const read = (record: LogRecord) => {
    if (record.type === "agent.event") expectTypeOf(record.payload).toEqualTypeOf<AgentEvent>();
    if (record.type === "worker_exited") {
      expectTypeOf(record.payload.exit_code).toEqualTypeOf<number | null>();
      // @ts-expect-error an exit has no text
      record.payload.text;
    }
    // @ts-expect-error there is no such type
    if (record.type === "worker_vanished") return;
  };
  expectTypeOf(read).returns.toEqualTypeOf<void>();
});

test("spawn takes the fields that there are, and no others", () => {
  const spawn = (runtime: Runtime) => [
    runtime.spawn({ kind: "command", argv: ["true"], timeout_ms: 5 }),
    // @ts-expect-error the unit is part of the name
    runtime.spawn({ kind: "command", timeout: 5 }),
    // @ts-expect-error a kind is needed
    runtime.spawn({ argv: ["true"] }),
    // @ts-expect-error a duration is a number
    runtime.spawn({ kind: "command", grace_ms: "5s" }),
    // @ts-expect-error OTP has three restart types
    runtime.spawn({ kind: "command", argv: ["true"], restart: "always" }),
    // @ts-expect-error a command needs its program
    runtime.spawn({ kind: "command" }),
    // @ts-expect-error no such kind
    runtime.spawn({ kind: "claud_code", prompt: "hi" }),
    // @ts-expect-error a job has no restarts
    runtime.jobs.submit({ kind: "codex", prompt: "hi", restart: "never" }),
  ];
  expectTypeOf(spawn).parameter(0).toEqualTypeOf<Runtime>();
});

test("kinds of own adapters are those that open or connect names", () => {
  const mine = async (
    runtime: typeof Runtime,
    adapter: AgentAdapter & { readonly kind: "lines" },
    make: typeof worker,
  ) => {
    const opened = await runtime.open({ adapters: [adapter] });
    const connected = await runtime.connect<"lines">();
    return [
      opened.spawn({ kind: "lines", prompt: "hi" }),
      connected.run({ kind: "lines", prompt: "hi" }),
      connected.schedules.add({ name: "a", cron: "@daily", kind: "lines" }),
      make<"lines">("a", { kind: "lines" }),
      // @ts-expect-error not one of them
      opened.spawn({ kind: "linse", prompt: "hi" }),
      // @ts-expect-error nor here
      make("a", { kind: "lines" }),
    ];
  };
  expectTypeOf(mine).toBeFunction();
  // Any adapter at all: any kind.
  expectTypeOf((adapter: AgentAdapter, { open }: typeof Runtime) =>
    open({ adapters: [adapter] }),
  ).returns.resolves.toEqualTypeOf<Runtime<string>>();
});

test("a record says of which worker and run it is, if its type always has one", () => {
  const read = (record: LogRecord) => {
    if (record.type === "worker_exited") {
      expectTypeOf(record.worker_id).toEqualTypeOf<string>();
      expectTypeOf(record.incarnation).toEqualTypeOf<number>();
    }
    if (record.type === "worker_question") expectTypeOf(record.worker_id).toEqualTypeOf<string | undefined>();
    if (record.type === "tree_applied") expectTypeOf(record).toExtend<TreeRecord>();
  };
  expectTypeOf(read).returns.toEqualTypeOf<void>();
  const watched = (runtime: Runtime) => runtime.watch({ types: ["worker_exited", "worker_ended"] });
  type Item<I> = I extends AsyncIterable<infer R> ? R : never;
  expectTypeOf<Item<ReturnType<typeof watched>>["type"]>().toEqualTypeOf<"worker_exited" | "worker_ended">();
  expectTypeOf<Item<ReturnType<typeof watched>>>().toExtend<WorkerRecord>();
});

test("a node of a tree is a supervisor or a worker, and the top is a supervisor", () => {
  const read = (node: TreeNode): string => {
    // @ts-expect-error only a worker has a state
    node.state;
    if (node.type === "worker") {
      expectTypeOf(node.children).toEqualTypeOf<readonly TreeWorker[]>();
      return node.state;
    }
    return `${node.strategy} ${node.phase ?? ""}`;
  };
  expectTypeOf(read).parameter(0).toEqualTypeOf<TreeSupervisor | TreeWorker>();
  expectTypeOf((runtime: Runtime) => runtime.tree()).returns.resolves.toEqualTypeOf<TreeSupervisor>();
});

test("every field of a spec can be asked for, but for those that are ours", () => {
  type Ours = "client_env" | "parent" | "placed" | "trace";
  type Theirs = "idempotency_key" | "dry_run";
  expectTypeOf<Exclude<keyof WorkerSpec, keyof SpawnOptions>>().toEqualTypeOf<Ours>();
  expectTypeOf<Exclude<keyof SpawnOptions, keyof WorkerSpec>>().toEqualTypeOf<Theirs>();
});

test("a question is answered by what its record offers", () => {
  const reply = (runtime: Runtime, record: Extract<LogRecord, { type: "worker_question" }>) =>
    runtime.answer(record.worker_id ?? "", record.payload.answers[0]!);
  expectTypeOf(reply).toBeFunction();
});

test("one worker has one result, several have several", () => {
  type Given = { runtime: Runtime };
  expectTypeOf(({ runtime }: Given) => runtime.kill("a")).returns.resolves.toEqualTypeOf<PerWorker>();
  expectTypeOf(({ runtime }: Given) => runtime.kill(["a"])).returns.resolves.toEqualTypeOf<
    readonly PerWorker[]
  >();
  expectTypeOf(({ runtime }: Given) => runtime.wait("a")).returns.resolves.toEqualTypeOf<WaitReply>();
  expectTypeOf(({ runtime }: Given) => runtime.wait(["a"], { timeout_ms: 5 })).returns.resolves.toEqualTypeOf<
    readonly WaitReply[]
  >();
});

test("open takes adapters, whatever state theirs have", () => {
  const open = (runtime: typeof Runtime, adapter: AgentAdapter<{ readonly lines: number }>) => [
    runtime.open({ adapters: [adapter] }),
    // @ts-expect-error no adapter
    runtime.open({ adapters: ["lines"] }),
  ];
  expectTypeOf(open).toBeFunction();
  expectTypeOf((runtime: Runtime) => runtime.changes("a")).returns.resolves.toEqualTypeOf<ChangesReply>();
});

test("a runtime is made by open, and disposed of", () => {
  // @ts-expect-error the constructor is private
  const make = (runtime: typeof Runtime) => new runtime();
  expectTypeOf(make).toBeFunction();
  expectTypeOf<Runtime>().toExtend<AsyncDisposable>();
});

test("an error is told apart by its code", () => {
  const read = (error: HoldfastError) => {
    // @ts-expect-error no row of the catalogue
    if (error.code === "NO_SUCH_CODE") return "";
    return error.code === "LOCK_HELD" ? error.suggestion : "";
  };
  expectTypeOf(read).returns.toEqualTypeOf<string>();
  expectTypeOf<RuntimeApi["tree"]>().toBeFunction();
});
