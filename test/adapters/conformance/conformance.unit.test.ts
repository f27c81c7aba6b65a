/** Every kind passes the suite that is exported for adapters, and the suite can fail. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentAdapter, Line, Opening } from "../../../src/adapters/adapter.ts";
import { conformance } from "../../../src/adapters/conformance.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import { adapters } from "../../../src/adapters/registry.ts";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { boundEvent } from "../../../src/protocol/bounds.ts";
import { openingOf, recordedKinds, recordings } from "./support.ts";

/** The folder of the recordings of a kind; undefined if there are none. */
const folderOf = (kind: string): string | undefined =>
  recordedKinds.find((folder) => folder === kind.replaceAll("_", "-"));

/** A kind that is run in another way where it is spoken with passes the suite in that way, too. */
const inConversation = (adapter: AgentAdapter): AgentAdapter => {
  const talking = <T extends Pick<Opening, "spec">>(of: T): T => ({
    ...of,
    spec: { ...of.spec, interactive: true },
  });
  return {
    ...adapter,
    converses: () => true,
    plan: (context) => adapter.plan(talking(context)),
    initial: (opening) => adapter.initial(talking(opening)),
  };
};

const codex = adapters.find(({ kind }) => kind === "codex")!;
const SUITES: readonly (readonly [string, AgentAdapter, string | undefined])[] = [
  ...adapters.map((adapter) => [adapter.kind, adapter, folderOf(adapter.kind)] as const),
  ["codex in a conversation", inConversation(codex), "codex-app-server"],
];

describe.each(SUITES)("kind %s", (_name, adapter, folder) => {
  const runs = folder === undefined ? [["hello", "", "\u2028 wörld"]] : recordings(folder);
  for (const { title, check } of conformance(adapter, runs)) test(title, check);

  const words = [
    "type",
    "subtype",
    "assistant",
    "user",
    "result",
    "system",
    "init",
    "stream_event",
    "event",
    "delta",
    "message",
    "content",
    "text",
    "tool_use",
    "tool_result",
    "id",
    "is_error",
    "session_id",
    "thread_id",
    "item",
    "item.completed",
    "thread.started",
    "turn.failed",
    "error",
    "usage",
    "num_turns",
  ];
  const key = fc.oneof(fc.constantFrom(...words), fc.string());
  const leaf = fc.oneof(
    fc.constantFrom(...words),
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 6 }),
    ),
  }));
  const json = tree.map((value) => JSON.stringify(value));
  const bytes = fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw).toString("utf8"));
  const line: fc.Arbitrary<Line> = fc.oneof(
    fc.oneof(json, bytes).map((text): Line => ({ kind: "text", text, end: "\n" })),
    fc.constant<Line>({ kind: "truncated", limit_bytes: 8 }),
  );

  test("any sequence of arbitrary JSON and arbitrary bytes is decoded without a throw, in bounds", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        let state = adapter.initial(openingOf(adapter.kind));
        for (const one of lines) {
          const decoded = adapter.decode(state, one, "stdout");
          state = decoded.state;
          for (const record of decoded.records) {
            if (record.type === "agent.event")
              for (const event of boundEvent(record.payload)) AgentEvent.parse(event);
          }
        }
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        adapter.finish(state, { status: { code: 0, signal: null }, signals_sent: [], stderr_tail: "" });
      }),
      { numRuns: 300 },
    );
  });
});

describe("the suite finds", () => {
  const failing = (sin: Partial<AgentAdapter>): readonly string[] => {
    const cases = conformance({ ...(command as unknown as AgentAdapter), ...sin }, [["one", "two"]]);
    return cases.flatMap(({ title, check }) => {
      try {
        check();
        return [];
      } catch {
        return [title];
      }
    });
  };
  const event = (payload: object) => ({
    type: "agent.event" as const,
    payload: { agent_kind: "command", ...payload } as AgentEvent,
  });

  test("nothing in an honest adapter", () => {
    expect(failing({})).toEqual([]);
  });
  test("a decoder that throws", () => {
    const decode: AgentAdapter["decode"] = (state, line) => {
      if (line.kind === "text") JSON.parse(line.text);
      return { state, records: [] };
    };
    expect(failing({ decode })).toContain("decode never throws, whatever the line");
  });
  test("a state that only grows", () => {
    // It stops a little over the bound, so that the other cases stay fast.
    const grown = (state: string) => (state.length > 70_000 ? state : `${state}${"x".repeat(1_000)}`);
    const decode: AgentAdapter["decode"] = (state) => ({ state: grown(state as string), records: [] });
    expect(failing({ initial: () => "", decode })).toContain(
      "the state is JSON and within its bound after every line",
    );
  });
  test("a state that JSON cannot hold", () => {
    const decode: AgentAdapter["decode"] = (state, line) => ({
      state: new Set(state as Set<unknown>).add(line.kind),
      records: [],
    });
    expect(failing({ initial: () => new Set(), decode })).toContain(
      "a restart at any line gives the same records and the same outcome",
    );
  });
  test("a decoder that changes the state it was given", () => {
    const decode: AgentAdapter["decode"] = (state) => {
      (state as { n: number }).n++;
      return { state, records: [] };
    };
    expect(failing({ initial: () => ({ n: 0 }), decode })).toContain(
      "decode never changes the state that it was given",
    );
  });
  test("a message over its bound", () => {
    const decode: AgentAdapter["decode"] = (state) => ({
      state,
      records: [event({ kind: "Status", message: "x".repeat(5_000) })],
    });
    expect(failing({ decode })).toContain("every event is of its kind and in bounds once its text is split");
  });
  test("a tool call without its facet", () => {
    const decode: AgentAdapter["decode"] = (state) => ({
      state,
      records: [event({ kind: "ToolCall", data: {} })],
    });
    expect(failing({ decode })).toContain(
      "a tool's call and result carry the tools facet, and no other event does",
    );
  });
  test("a message where a text belongs", () => {
    const decode: AgentAdapter["decode"] = (state) => ({
      state,
      records: [event({ kind: "TextOutput", message: "hello" })],
    });
    expect(failing({ decode })).toContain(
      "text is what a TextOutput has, and a message a Status or an Error, and no other event",
    );
  });
  test("stderr in an outcome", () => {
    const finish: AgentAdapter["finish"] = (_state, exit) => ({
      outcome: {
        status: "failed",
        completion: { status: exit.status },
        error: { code: "AGENT_FAILED", message: `${exit.stderr_tail}.` },
      },
      records: [],
    });
    expect(failing({ finish })).toContain(
      "an exit with a code, by a signal or unknown is no success where no line ever came",
    );
  });
  test("a prompt in argv", () => {
    const plan: AgentAdapter["plan"] = ({ spec }) => ({
      argv: ["x", spec.prompt ?? ""],
      env: {},
      stdin: { kind: "empty" },
    });
    expect(failing({ plan })).toContain("plan puts no prompt into argv and gives stdin an end");
  });
  test("directories that are taken and never given to the agent", () => {
    const capabilities = [...command.capabilities, "agent_api.exec.add_dirs.v1"];
    expect(failing({ capabilities, validate: () => [] })).toContain(
      "directories that its agent may also work in are in its plan, where it says that it takes some",
    );
  });
});
