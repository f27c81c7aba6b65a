/**
 * The duties of every adapter, as cases for any test runner: `for (const c of conformance(adapter, runs))
 * test(c.title, c.check)`. `check` throws if the adapter breaks the duty. `runs` are recorded outputs of the
 * kind, one list of lines for each run; the cases add lines that no program prints. All cases are
 * deterministic: their random numbers have a fixed seed.
 */
import assert from "node:assert/strict";
import { DECODER_STATE_MAX_BYTES } from "../base/limits.ts";
import { AgentEvent } from "../protocol/agent-event.ts";
import { boundEvent } from "../protocol/bounds.ts";
import { AgentCompletion } from "../protocol/completion.ts";
import { ADD_DIRS, MODEL } from "../protocol/extensions.ts";
import { SESSION_HANDLE, STRUCTURED_TOOLS } from "../protocol/facets.ts";
import { problemsOf } from "../protocol/problems.ts";
import { ToolDataSchema } from "../protocol/tool-data.ts";
import { WorkerSpec } from "../protocol/worker.ts";
import {
  type AgentAdapter,
  converses,
  type DecodedItem,
  type ExitFacts,
  type Line,
  type Opening,
  type PlanContext,
} from "./adapter.ts";
import { hostileLines, textLine } from "./conformance-lines.ts";
import { refusal } from "./spec-refusal.ts";

export interface ConformanceCase {
  readonly title: string;
  /** Throws an AssertionError if the adapter breaks the duty. */
  readonly check: () => void;
}

export type RecordedRun = readonly string[];

/** The adapter under test, and the lines that it is tried on. */
interface CheckedAdapter {
  readonly adapter: AgentAdapter;
  readonly hostile: readonly Line[];
  /** The lines of each recorded run, and the hostile ones. */
  readonly folds: readonly (readonly Line[])[];
  /**
   * Decodes each list only once for all cases that only read, because a daemon runs this suite when it
   * starts.
   */
  readonly recordsOf: (lines: readonly Line[]) => readonly DecodedItem[];
}

export const conformance = <S>(
  adapter: AgentAdapter<S>,
  runs: readonly RecordedRun[],
): readonly ConformanceCase[] => {
  const recorded = runs.map((run) => run.map(textLine));
  const hostile = hostileLines(recorded.flat());
  const known = new Map<readonly Line[], readonly DecodedItem[]>();
  const tried: CheckedAdapter = {
    adapter: adapter as unknown as AgentAdapter,
    hostile,
    folds: [...recorded, hostile],
    recordsOf: (lines) => {
      const records = known.get(lines) ?? fold(adapter, lines).records;
      known.set(lines, records);
      return records;
    },
  };
  return CASES.map(({ title, check }) => ({ title, check: () => check(tried) }));
};

const CASES: readonly { readonly title: string; readonly check: (tried: CheckedAdapter) => void }[] = [
  {
    title: "its kind, aliases and capabilities are well-formed names",
    check: ({ adapter }) => {
      for (const name of [adapter.kind, ...adapter.aliases]) assert.match(name, /^[a-z][a-z0-9_]*$/);
      for (const id of ["agent_api.run", "agent_api.events"])
        assert.ok(adapter.capabilities.includes(id), `its capabilities lack ${id}`);
      for (const id of adapter.capabilities) assert.match(id, /^(agent_api|backend)\.[a-z0-9_.-]+$/);
      for (const name of adapter.credentials) assert.match(name, /^[A-Z][A-Z0-9_]*$/);
    },
  },
  {
    title: "decode never throws, whatever the line",
    check: ({ adapter, hostile }) => void fold(adapter, hostile),
  },
  {
    title: "every event is of its kind and in bounds once its text is split",
    check: ({ adapter, folds, recordsOf }) => {
      for (const lines of folds) for (const record of recordsOf(lines)) checkEvent(adapter.kind, record);
    },
  },
  {
    title: "a tool's call and result carry the tools facet, and no other event does",
    check: ({ folds, recordsOf }) => {
      for (const lines of folds) for (const record of recordsOf(lines)) checkFacet(record);
    },
  },
  {
    title: "text is what a TextOutput has, and a message a Status or an Error, and no other event",
    check: ({ folds, recordsOf }) => {
      for (const lines of folds) for (const record of recordsOf(lines)) checkWords(record);
    },
  },
  {
    title: "a line that is not understood is recorded once and never quoted",
    check: ({ adapter }) => {
      if (!adapter.capabilities.includes(STRUCTURED_TOOLS)) return;
      for (const text of ["plain words of a program", '{"type":"a_type_of_tomorrow","secret":"SENTINEL"}']) {
        const { records } = adapter.decode(adapter.initial(opening(adapter)), textLine(text), "stdout");
        const kinds = records.map((record) =>
          record.type === "agent.event" ? record.payload.kind : record.type,
        );
        assert.ok(
          kinds.length === 1 && kinds[0] === "Unknown",
          `the line ${text} must be one Unknown, and is: ${kinds.join(", ") || "nothing"}`,
        );
        assert.ok(
          !/plain words|SENTINEL/.test(JSON.stringify(records)),
          `the line ${text} must not be repeated: ${JSON.stringify(records)}`,
        );
      }
    },
  },
  {
    title: "the state is JSON and within its bound after every line",
    check: ({ adapter, folds }) => {
      for (const lines of folds) {
        let state = adapter.initial(opening(adapter));
        for (const line of lines) {
          state = adapter.decode(state, line, "stdout").state;
          const json = JSON.stringify(state);
          assert.ok(
            Buffer.byteLength(json) <= DECODER_STATE_MAX_BYTES,
            `state of ${Buffer.byteLength(json)} bytes`,
          );
          assert.deepEqual(JSON.parse(json), state);
        }
      }
    },
  },
  {
    title: "a restart at any line gives the same records and the same outcome",
    check: ({ adapter, folds }) => {
      for (const lines of folds) {
        const restarting = {
          ...adapter,
          decode: (state: unknown, line: Line, stream: "stdout" | "stderr") =>
            adapter.decode(JSON.parse(JSON.stringify(state)), line, stream),
        };
        const straight = fold(adapter, lines);
        const restarted = fold(restarting, lines);
        assert.deepEqual(restarted.records, straight.records);
        assert.deepEqual(
          adapter.finish(JSON.parse(JSON.stringify(restarted.state)), exited(0)),
          adapter.finish(straight.state, exited(0)),
        );
      }
    },
  },
  {
    title: "decode never changes the state that it was given",
    check: ({ adapter, folds }) => {
      for (const lines of folds) {
        let state = deepFreeze(adapter.initial(opening(adapter)));
        for (const line of lines) state = deepFreeze(adapter.decode(state, line, "stdout").state);
      }
    },
  },
  {
    title: "turns are numbered from 1 and end after they start",
    check: ({ folds, recordsOf }) => {
      for (const lines of folds) checkTurns(recordsOf(lines));
    },
  },
  {
    title: "a session is recorded when it changes, and at most one event has the facet",
    check: ({ folds, recordsOf }) => {
      for (const lines of folds) checkSessions(recordsOf(lines));
    },
  },
  {
    title: "finish gives a verdict within bounds, even if no line ever came",
    check: ({ adapter, folds }) => {
      for (const lines of [[], ...folds])
        for (const exit of EXITS) checkVerdict(adapter, fold(adapter, lines).state, exit);
    },
  },
  {
    title: "an exit with a code, by a signal or unknown is no success where no line ever came",
    check: ({ adapter }) => {
      for (const exit of EXITS.slice(1)) {
        const { outcome } = adapter.finish(adapter.initial(opening(adapter)), exit);
        const of = `finish with ${JSON.stringify(exit.status)} and no line`;
        assert.equal(outcome.status, "failed", `${of} must have failed`);
        assert.ok(outcome.error?.message.endsWith("."), `${of} must have an error with a sentence`);
        assert.ok(!JSON.stringify(outcome).includes(STDERR_SENTINEL), "stderr reached the outcome");
      }
    },
  },
  {
    title: "plan puts no prompt into argv and gives stdin an end",
    check: ({ adapter }) => {
      const context = planContext(adapter, "--a prompt\nof two lines");
      const plan = adapter.plan(context);
      assert.ok(plan.argv.length > 0, "its plan has no argv");
      assert.ok(!plan.argv.join(" ").includes("a prompt"), "the prompt is in the argv of its plan");
      if (adapter.messages?.acknowledges !== true || !converses(adapter, context.spec))
        assert.deepEqual(plan.stdin, { kind: "text", text: context.spec.prompt });
      else
        assert.ok(
          plan.stdin.kind === "open" && !plan.stdin.text.includes("a prompt"),
          "its stdin must be open, without the prompt, which comes as its first message",
        );
      assert.deepEqual(adapter.validate(context.spec), []);
    },
  },
  {
    title: "directories that its agent may also work in are in its plan, where it says that it takes some",
    check: ({ adapter }) => {
      if (!adapter.capabilities.includes(ADD_DIRS)) return;
      const context = planContext(adapter, "hello");
      const spec = { ...context.spec, cwd: "/work", ext: { [ADD_DIRS]: { dirs: ["/other", "../third"] } } };
      assert.deepEqual(adapter.validate(spec), []);
      const words = adapter.plan({ ...context, spec }).argv.join(" ");
      for (const dir of ["/other", "/third"]) assert.ok(words.includes(dir), `${dir} is not in the plan`);
    },
  },
  {
    title: "an extension key that is not supported is a mistake",
    check: ({ adapter }) => {
      const { spec } = planContext(adapter, "hello");
      const error = refusal(adapter, { ...spec, ext: { "backend.other.thing": true } });
      assert.equal(error?.code, "UNSUPPORTED_CAPABILITY");
      assert.equal(error.info.problems?.length, 1);
      assert.match(error.message, /backend\.other\.thing/);
    },
  },
];

const STDERR_SENTINEL = "STDERR-SENTINEL";

const exited = (
  code: number | null,
  signal: string | null = null,
  signals_sent: readonly string[] = [],
): ExitFacts => ({
  status: { code, signal },
  signals_sent,
  stderr_tail: `${STDERR_SENTINEL} of the program`,
  program: "agent",
});

const EXITS: readonly ExitFacts[] = [
  exited(0),
  exited(1),
  exited(143, "SIGTERM", ["SIGTERM"]),
  exited(0, null, ["SIGINT"]),
  exited(137, "SIGKILL"),
  exited(null),
];

const fold = <S>(
  adapter: AgentAdapter<S>,
  lines: readonly Line[],
): { readonly state: S; readonly records: readonly DecodedItem[] } => {
  const records: DecodedItem[] = [];
  let state = adapter.initial(opening(adapter));
  for (const line of lines) {
    const decoded = adapter.decode(state, line, "stdout");
    state = decoded.state;
    for (const record of decoded.records) LINES.set(record, line);
    records.push(...decoded.records);
  }
  return { state, records };
};

/** The line from which a record was last decoded, for the message of a failed case. */
const LINES = new WeakMap<DecodedItem, Line>();

const SHOWN_MAX_UNITS = 200;

/** `rule` is a sentence without its full stop. */
const must = (holds: boolean, rule: string, record: DecodedItem): void => {
  if (holds) return;
  const line = LINES.get(record);
  const from = line === undefined ? "" : `, of the line ${shown(line.kind === "text" ? line.text : line)}`;
  assert.fail(`${rule}, but not in: ${shown(record)}${from}`);
};

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > SHOWN_MAX_UNITS ? `${text.slice(0, SHOWN_MAX_UNITS)}…` : text;
};

/** Checks a value against the schema of AgentEvent. */
const mustParse = (event: unknown, rule: string, record: DecodedItem): void => {
  const parsed = AgentEvent.safeParse(event);
  must(
    parsed.success,
    `${rule} (${parsed.success ? "" : problemsOf(parsed.error, "event").join("; ")})`,
    record,
  );
};

const checkEvent = (kind: string, record: DecodedItem): void => {
  if (record.type !== "agent.event") return;
  const event = record.payload;
  must(event.agent_kind === kind, `agent_kind is ${kind}`, record);
  // Only text may exceed its bound here, because it is split later.
  mustParse({ ...event, text: undefined }, "an event is in its bounds", record);
  for (const bounded of boundEvent(event)) mustParse(bounded, "an event is in its bounds", record);
};

/** agent-event.txt, Fields: `text` is stable for TextOutput, `message` for Status and Error. */
const checkWords = (record: DecodedItem): void => {
  if (record.type !== "agent.event") return;
  const { kind, text, message } = record.payload;
  must((text !== undefined) === (kind === "TextOutput"), "a TextOutput has text, and no other event", record);
  const hasMessage = kind === "Status" || kind === "Error";
  must(
    hasMessage ? message !== undefined && message !== "" : message === undefined,
    "a Status or an Error has a message, and no other event",
    record,
  );
};

const checkFacet = (record: DecodedItem): void => {
  if (record.type !== "agent.event") return;
  const isTool = record.payload.kind === "ToolCall" || record.payload.kind === "ToolResult";
  const data = record.payload.data as { schema?: string } | undefined;
  must(
    (data?.schema === STRUCTURED_TOOLS) === isTool,
    `a ToolCall or ToolResult has data.schema ${STRUCTURED_TOOLS}`,
    record,
  );
  if (!isTool) return;
  const parsed = ToolDataSchema.safeParse(data);
  const problems = parsed.success ? "" : problemsOf(parsed.error, "data").join("; ");
  must(parsed.success, `the data of a call is the tools facet (${problems})`, record);
};

const checkTurns = (records: readonly DecodedItem[]): void => {
  let started = 0;
  let ended = 0;
  for (const record of records) {
    if (record.type === "turn_started")
      must(record.payload.turn === ++started, `the next turn that starts is ${started}`, record);
    if (record.type === "turn_completed")
      must(record.payload.turn === ++ended, `the next turn that ends is ${ended}`, record);
    must(ended <= started, "a turn starts before it ends", record);
  }
};

const checkSessions = (records: readonly DecodedItem[]): void => {
  let last: string | undefined;
  let facets = 0;
  for (const record of records) {
    if (record.type === "session_started") {
      must(record.payload.session_id !== last, "a session is recorded when it changes", record);
      last = record.payload.session_id;
    }
    if (record.type !== "agent.event") continue;
    const { data } = record.payload;
    if ((data as { schema?: string } | undefined)?.schema === SESSION_HANDLE) facets += 1;
    must(facets <= 1, `one event has data.schema ${SESSION_HANDLE}`, record);
  }
  assert.ok(facets === 0 || last !== undefined, "a session is in an event, but in no session_started");
};

const checkVerdict = <S>(adapter: AgentAdapter<S>, state: S, exit: ExitFacts): void => {
  const { outcome, records } = adapter.finish(state, exit);
  const of = `finish with ${JSON.stringify(exit.status)}`;
  AgentCompletion.parse(outcome.completion);
  assert.deepEqual(
    outcome.completion.status,
    exit.status,
    `${of}: completion.status must be that of the exit`,
  );
  assert.ok(
    (outcome.status === "failed") === (outcome.error !== undefined),
    `${of}: an error must be there where it has failed, and nowhere else: ${shown(outcome)}`,
  );
  const events = records.flatMap((record) => (record.type === "agent.event" ? [record.payload] : []));
  for (const record of records)
    if (record.type === "agent.event") mustParse(record.payload, "an event is in its bounds", record);
  // Notes A.4: at most one terminal Error event, with the same message as the completion's error.
  const errors = events.filter((event) => event.kind === "Error");
  assert.ok(
    errors.length <= 1 && errors.every((event) => event.message === outcome.error?.message),
    `${of}: at most one Error event, with the message of the error: ${shown(errors)}, ${shown(outcome.error)}`,
  );
};

const opening = (adapter: AgentAdapter): Opening => planContext(adapter, "a prompt");

const planContext = (adapter: AgentAdapter, prompt: string): PlanContext => {
  const { kind, binary, capabilities, sample_argv = [] } = adapter;
  const model = capabilities.includes(MODEL) ? { model: "provider/model" } : {};
  const spec = WorkerSpec.parse({
    kind,
    prompt,
    cwd: "/",
    restart: "temporary",
    argv: [...sample_argv],
    ...model,
  });
  const needsProgram = binary === null && adapter.validate(spec).length > 0;
  return {
    spec: needsProgram ? { ...spec, argv: ["cat"] } : spec,
    worker_id: "01JBR0000000000000000000W1",
    incarnation: 1,
    session: undefined,
    binary: kind,
  };
};

const deepFreeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
};
