/** Exactly once (architecture §5): cut the input anywhere, go on from the checkpoint, and the records are the same. */
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { Ingest, type IngestOptions, type PullResult } from "../../../src/actors/intake/ingest.ts";
import type { AgentAdapter, SpoolName } from "../../../src/adapters/adapter.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { codex } from "../../../src/adapters/kinds/codex/index.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import {
  DECODER_STATE_MAX_BYTES,
  HELD_DRAIN_MAX_BYTES,
  LINE_MAX_BYTES,
  OUTPUT_DRAIN_MAX_BYTES,
  SPOOL_READ_BYTES,
  TEXT_MAX_BYTES,
} from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { makeRedactor } from "../../../src/protocol/redact.ts";
import type { Checkpoint } from "../../../src/store/event-log.ts";
import { openingOf } from "../../adapters/conformance/support.ts";
import { fileSource } from "../../support/file-source.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-ingest-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SECRET = "s3cr3t-value-of-the-test";
const ENDED = { status: { code: 0, signal: null }, signals_sent: [], stderr_tail: "", program: "agent" };

/** One incarnation's spools and what a log would have of it. */
const makeRun = (
  adapter: AgentAdapter,
  {
    account = { model: null, estimate: (one) => one },
    limit_bytes = LINE_MAX_BYTES,
  }: Partial<Pick<IngestOptions, "account" | "limit_bytes">> = {},
) => {
  const home = mkdtempSync(join(dir, "run-"));
  const checkpoints = new Map<SpoolName, Checkpoint>();
  const drafts: RecordDraft[] = [];
  const spool = (stream: SpoolName) => join(home, stream);
  for (const stream of ["stdout", "stderr"] as const) writeFileSync(spool(stream), "");
  const reopen = (): Ingest =>
    new Ingest({
      adapter,
      worker_id: "W",
      opening: openingOf(adapter.kind),
      source: (stream) => fileSource(spool(stream)),
      checkpoints: [...checkpoints.values()],
      redact: makeRedactor([SECRET]),
      account,
      limit_bytes,
    });
  let ingest = reopen();
  /** At most `pulls` batches, each committed with its checkpoint. Returns how many there were. */
  const pull = (pulls = Number.POSITIVE_INFINITY): number => {
    let count = 0;
    for (; count < pulls; count += 1) if (!kept(ingest.pull())) break;
    return count;
  };
  const kept = (batch: PullResult | undefined): boolean => {
    if (batch === undefined) return false;
    drafts.push(...batch.drafts);
    checkpoints.set(batch.checkpoint.stream, batch.checkpoint);
    return true;
  };
  return {
    drafts,
    spool,
    checkpoints,
    write: (bytes: Uint8Array | string, stream: SpoolName = "stdout") => appendFileSync(spool(stream), bytes),
    pull,
    cut: (most?: number): boolean => kept(ingest.cut(most)),
    pullLast: () => kept(ingest.pullLast()),
    restart: () => {
      ingest = reopen();
    },
    finish: () => {
      pull();
      const last = ingest.finish(ENDED);
      return { drafts: [...drafts, ...last.drafts], outcome: last.outcome };
    },
  };
};

const whole = (adapter: AgentAdapter, bytes: Uint8Array, limit_bytes?: number) => {
  const run = makeRun(adapter, limit_bytes === undefined ? {} : { limit_bytes });
  run.write(bytes);
  return run.finish();
};

const recordingsOf = (folder: string): Buffer[] => {
  const path = join(import.meta.dirname, "../../recordings", folder);
  return readdirSync(path).map((file) => readFileSync(join(path, file)));
};

const AWKWARD = Buffer.concat([
  Buffer.from(`plain\r\nümläut und 🦑\n\n\nkey=${SECRET} in a line\n\u0000\u001b[31mred\u001b[0m\r`),
  Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x0a, 0xf0, 0x9f, 0x0a]),
  Buffer.from("no end of line"),
]);

const smallest = (buffers: Buffer[]): Buffer => buffers.sort((a, b) => a.length - b.length)[0] as Buffer;

const KINDS = [
  { kind: "command", adapter: command as AgentAdapter, inputs: [AWKWARD] },
  { kind: "claude_code", adapter: claudeCode as AgentAdapter, inputs: recordingsOf("claude-code") },
  { kind: "codex", adapter: codex as AgentAdapter, inputs: recordingsOf("codex") },
] as const;

describe.each(KINDS)("a run of $kind", ({ adapter, inputs }) => {
  it("that is cut at any byte of its shortest transcript gives the same records", () => {
    const bytes = smallest([...inputs]);
    const expected = whole(adapter, bytes);
    expect(expected.drafts.length).toBeGreaterThan(0);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const run = makeRun(adapter);
      run.write(bytes.subarray(0, cut));
      run.pull();
      run.restart();
      run.write(bytes.subarray(cut));
      const found = run.finish();
      if (JSON.stringify(found) !== JSON.stringify(expected))
        expect(found, `cut at ${cut}`).toEqual(expected);
    }
  });

  it("that is cut any number of times, and read at any of them or not, gives the same records", () => {
    const transcripts = inputs.map((bytes) => ({ bytes, expected: whole(adapter, bytes) }));
    const steps = fc.array(
      fc.record({
        part: fc.double({ min: 0, max: 1, noNaN: true }),
        pulls: fc.constantFrom(0, 1, 99),
        restart: fc.boolean(),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.nat(transcripts.length - 1), steps, (which, cuts) => {
        const { bytes, expected } = transcripts[which] as (typeof transcripts)[number];
        const run = makeRun(adapter);
        let at = 0;
        for (const { part, pulls, restart } of cuts) {
          const next = at + Math.round((bytes.length - at) * part);
          run.write(bytes.subarray(at, next));
          at = next;
          run.pull(pulls);
          if (restart) run.restart();
        }
        run.write(bytes.subarray(at));
        expect(run.finish()).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a long run", () => {
  const limit_bytes = 1024 * 1024;
  const long = Buffer.from(
    `${"0123456789".repeat(10)}\n`.repeat(12_000) +
      `${"y".repeat(limit_bytes)}\n${"x".repeat(limit_bytes + 5)}\nafter\n` +
      "tail\n".repeat(50_000),
  );

  it("gives the same records after a restart at any pull, also inside a line over the limit", {
    timeout: 600_000,
  }, () => {
    const expected = whole(command as AgentAdapter, long, limit_bytes);
    const pulls = Math.ceil(long.length / SPOOL_READ_BYTES);
    expect(pulls).toBeGreaterThan(8);
    for (let before = 1; before <= pulls; before += 1) {
      const run = makeRun(command as AgentAdapter, { limit_bytes });
      run.write(long);
      expect(run.pull(before)).toBe(before);
      run.restart();
      const found = run.finish();
      expect(found.drafts.length).toBe(expected.drafts.length);
      if (JSON.stringify(found) !== JSON.stringify(expected)) expect(found).toEqual(expected);
    }
    expect(
      expected.drafts.filter((draft) => draft.type === "worker_log_chunk").map(({ payload }) => payload),
    ).toEqual([
      {
        stream: "stdout",
        truncated: true,
        reason: "line_too_long",
        bytes: limit_bytes + 5,
        limit_bytes,
      },
    ]);
  });
});

describe("a tool result in a line over the limit", () => {
  const LONG = "A".repeat(9_000);
  const json = (line: object): string => `${JSON.stringify(line)}\n`;
  const call = (type: string, state: object) =>
    json({ type, item: { id: "item_1", type: "command_execution", command: "cat", ...state } });
  const text =
    json({ type: "thread.started", thread_id: "t" }) +
    json({ type: "turn.started" }) +
    call("item.started", { aggregated_output: "" }) +
    call("item.completed", { aggregated_output: LONG, exit_code: 0, status: "completed" }) +
    json({ type: "item.completed", item: { id: "item_2", type: "agent_message", text: "Seen." } }) +
    json({ type: "turn.completed", usage: {} });

  it("ends its call, wherever the input is cut; the log tells how long it was", () => {
    const limit_bytes = 5_000;
    const expected = whole(codex as AgentAdapter, Buffer.from(text), limit_bytes);
    const toolsIn = ({ drafts }: ReturnType<typeof whole>) =>
      drafts.flatMap((draft) =>
        draft.type === "agent.event" && draft.payload.channel === "tool" ? [draft.payload] : [],
      );
    expect(toolsIn(expected)).toMatchObject([
      { kind: "ToolCall", data: { tool: { backend_item_id: "item_1" } } },
      { kind: "ToolResult", data: { tool: { backend_item_id: "item_1" }, truncated: true } },
    ]);
    expect(expected.outcome).toMatchObject({ status: "completed", completion: { final_text: "Seen." } });
    const chunks = expected.drafts.filter(({ type }) => type === "worker_log_chunk");
    expect(chunks).toMatchObject([{ payload: { reason: "line_too_long", limit_bytes } }]);
    for (let cut = 0; cut <= text.length; cut += 7) {
      const run = makeRun(codex as AgentAdapter, { limit_bytes });
      run.write(text.slice(0, cut));
      run.pull();
      run.restart();
      run.write(text.slice(cut));
      const found = run.finish();
      if (JSON.stringify(found) !== JSON.stringify(expected))
        expect(found, `cut at ${cut}`).toEqual(expected);
    }
  });

  it("ends it before the line has ended", () => {
    const run = makeRun(codex as AgentAdapter, { limit_bytes: 5_000 });
    run.write(text.slice(0, text.indexOf(LONG) + 6_000));
    run.pull();
    expect(run.drafts.filter((draft) => draft.type === "agent.event").at(-1)).toMatchObject({
      payload: { kind: "ToolResult" },
    });
  });
});

describe("a line of 3 MB", () => {
  const MB = 3_000_000;
  const json = (line: object): string => `${JSON.stringify(line)}\n`;
  const begun = json({ type: "thread.started", thread_id: "t" }) + json({ type: "turn.started" });
  const ended = json({ type: "turn.completed", usage: {} });

  it("that is an answer is told whole, and the checkpoint meanwhile is small", () => {
    const text = "0123456789".repeat(MB / 10);
    const answer = json({ type: "item.completed", item: { id: "i", type: "agent_message", text } });
    const run = makeRun(codex as AgentAdapter);
    run.write(begun + answer.slice(0, -10));
    run.pull();
    expect(run.checkpoints.get("stdout")).toMatchObject({ offset: begun.length, skipped_bytes: 0 });
    expect(run.checkpoints.get("stdout")!.decoder_state.length).toBeLessThan(1_000);
    run.restart();
    run.write(answer.slice(-10) + ended);
    const { drafts, outcome } = run.finish();
    const told = drafts.flatMap((draft) => (draft.type === "agent.event" ? (draft.payload.text ?? "") : ""));
    expect(told.join("") === text).toBe(true);
    expect(Math.max(...told.map((part) => Buffer.byteLength(part)))).toBe(65_536);
    expect(outcome.status).toBe("completed");
    expect(drafts.filter(({ type }) => type === "worker_log_chunk")).toEqual([]);
  });

  it("that is a tool's result tells its true size", () => {
    const item = { id: "i", type: "command_execution", aggregated_output: "x".repeat(MB), exit_code: 0 };
    const { drafts } = whole(
      codex as AgentAdapter,
      Buffer.from(begun + json({ type: "item.completed", item }) + ended),
    );
    expect(
      drafts.find((draft) => draft.type === "agent.event" && draft.payload.kind === "ToolResult"),
    ).toMatchObject({
      payload: { data: { tool: { bytes: { stdout: MB } } } },
    });
  });
});

it("a flood on one stream does not hold up what is said on the other", () => {
  const run = makeRun(command as AgentAdapter);
  run.write("flood\n".repeat(200_000));
  run.write("help\n", "stderr");
  run.pull(2);
  expect(run.drafts.at(-1)).toMatchObject({ payload: { channel: "stderr", text: "help\n" } });
  run.pull(1);
  expect(run.drafts.at(-1)).toMatchObject({ payload: { channel: "stdout" } });
});

describe("a last line that nothing ended", () => {
  it.each([
    ["long", 3_000_000, true],
    ["short", 3_000, false],
  ])("is read once where it is %s, also over a restart behind it", (_, length, isApart) => {
    const text = (drafts: readonly RecordDraft[]) =>
      drafts.map((draft) => (draft.type === "agent.event" ? draft.payload.text : "")).join("");
    const run = makeRun(command);
    const written = `before\n${"x".repeat(length)}`;
    run.write(written);
    run.pull();
    expect(run.pullLast()).toBe(isApart);
    expect(text(run.drafts)).toBe(isApart ? written : "before\n");
    run.restart();
    expect(run.pullLast()).toBe(false);
    const { drafts, outcome } = run.finish();
    expect(text(drafts)).toBe(written);
    expect(outcome.status).toBe("completed");
  });
});

describe("unread output of a stopped worker", () => {
  const textsOf = (drafts: readonly RecordDraft[]) =>
    drafts.map((draft) => (draft.type === "agent.event" ? draft.payload.text : draft.payload));

  it("is left out but for its end, which begins with a whole line, and is counted", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("first\n");
    run.pull();
    const line = `${"x".repeat(99_999)}\n`;
    run.write(line.repeat(100));
    run.write("last\n");
    expect(run.cut()).toBe(true);
    expect(run.cut()).toBe(false);
    run.restart();
    const said = textsOf(run.finish().drafts);
    const kept = 2;
    expect(said[1]).toEqual({
      stream: "stdout",
      truncated: true,
      reason: "stopped",
      bytes: (100 - kept) * 100_000,
      limit_bytes: OUTPUT_DRAIN_MAX_BYTES,
    });
    expect([said[0], ...said.slice(2)].join("")).toBe(`first\n${line.repeat(kept)}last\n`);
  });

  it("is read whole where it is little", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("little\n".repeat(1000));
    expect(run.cut()).toBe(false);
    expect(textsOf(run.finish().drafts)).toHaveLength(1000);
  });

  it("is left out once: of what is kept of it no line more, however short its lines are", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("\n".repeat(2 * HELD_DRAIN_MAX_BYTES));
    expect(run.cut(HELD_DRAIN_MAX_BYTES)).toBe(true);
    expect(run.cut(HELD_DRAIN_MAX_BYTES)).toBe(false);
    const [left] = textsOf(run.drafts);
    expect(left).toMatchObject({ reason: "stopped", bytes: HELD_DRAIN_MAX_BYTES + 1 });
  });

  it("may have no line end at all", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("x".repeat(OUTPUT_DRAIN_MAX_BYTES + 1));
    run.pull(1);
    expect(run.cut()).toBe(true);
    expect(textsOf(run.finish().drafts)).toEqual([
      expect.objectContaining({ reason: "stopped", bytes: OUTPUT_DRAIN_MAX_BYTES + 1 }),
    ]);
  });
});

describe("secrets", () => {
  const textsOf = (drafts: readonly RecordDraft[]) =>
    drafts.flatMap((draft) =>
      draft.type === "agent.event" && draft.payload.text !== undefined ? [draft.payload.text] : [],
    );

  it("are masked before a long line is split, wherever the split falls", () => {
    for (const before of [
      TEXT_MAX_BYTES - SECRET.length - 1,
      TEXT_MAX_BYTES - 10,
      TEXT_MAX_BYTES - 1,
      TEXT_MAX_BYTES,
    ]) {
      const { drafts } = whole(
        command as AgentAdapter,
        Buffer.from(`${"a".repeat(before)}${SECRET}${"b".repeat(100)}\n`),
      );
      expect(textsOf(drafts).length).toBeGreaterThan(1);
      const text = textsOf(drafts).join("");
      expect(text).toBe(`${"a".repeat(before)}***${"b".repeat(100)}\n`);
    }
  });

  it("are masked in a last line without an end", () => {
    const { drafts } = whole(command as AgentAdapter, Buffer.from(`the key is ${SECRET}`));
    expect(textsOf(drafts)).toEqual(["the key is ***"]);
  });
});

describe("a spool that has shrunk", () => {
  it("below what was read is a record that says by how much, and what is written then is read", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("one\ntwo\n");
    run.pull();
    run.restart();
    truncateSync(run.spool("stdout"), 4);
    run.pull();
    run.write("three\n");
    const { drafts } = run.finish();
    expect(
      drafts.map((draft) => (draft.type === "agent.event" ? draft.payload.text : draft.payload)),
    ).toEqual([
      "one\n",
      "two\n",
      { stream: "stdout", truncated: true, reason: "spool_shrunk", bytes: 4, limit_bytes: 0 },
      "three\n",
    ]);
  });

  it("by part of a line that was not read is no loss of a record", () => {
    const run = makeRun(command as AgentAdapter);
    run.write("one\nunfini");
    run.pull();
    truncateSync(run.spool("stdout"), 7);
    run.pull();
    run.write("!\n");
    const { drafts } = run.finish();
    expect(
      drafts.map((draft) => (draft.type === "agent.event" ? draft.payload.text : draft.payload)),
    ).toEqual(["one\n", "unf!\n"]);
  });
});

it("a spool whose read part was released, under an older log that has not read it, is read after that part", () => {
  const run = makeRun(command as AgentAdapter);
  run.write(`${"\0".repeat(10)}est of a line\nkept\n`);
  writeFileSync(`${run.spool("stdout")}.released`, "10\n");
  run.restart();
  run.pull();
  run.restart();
  run.pull();
  const { drafts } = run.finish();
  expect(drafts.map((draft) => (draft.type === "agent.event" ? draft.payload.text : draft.payload))).toEqual([
    { stream: "stdout", truncated: true, reason: "released", bytes: 24, limit_bytes: 0 },
    "kept\n",
  ]);
});

describe("the memory of an adapter", () => {
  /** Counts lines over both streams, and remembers as much as it is told to. */
  const { messages: _, ...quiet } = command;
  const counting = (padding = 0): AgentAdapter<{ readonly lines: number; readonly pad: string }> => ({
    ...quiet,
    initial: () => ({ lines: 0, pad: "" }),
    decode: ({ lines }) => ({ state: { lines: lines + 1, pad: "p".repeat(padding) }, records: [] }),
    finish: ({ lines }, exit) => ({
      outcome: { status: "completed", completion: { status: exit.status, data: { lines } } },
      records: [],
    }),
  });
  const linesOf = (adapter: AgentAdapter, order: readonly SpoolName[]): unknown => {
    const run = makeRun(adapter);
    for (const stream of order) {
      run.write("line\n", stream);
      run.pull();
      run.restart();
    }
    return (run.finish().outcome.completion.data as { lines: number }).lines;
  };

  it("is the same over a restart, whichever of its streams came last", () => {
    expect(linesOf(counting() as AgentAdapter, ["stdout", "stderr", "stdout"])).toBe(3);
    expect(linesOf(counting() as AgentAdapter, ["stderr", "stdout", "stderr", "stderr"])).toBe(4);
  });

  it("is lost, and no record with it, where it is over its bound", () => {
    expect(linesOf(counting(DECODER_STATE_MAX_BYTES) as AgentAdapter, ["stdout", "stdout"])).toBe(0);
  });

  it("of another version begins anew, at the same place of the spool", () => {
    const run = makeRun(counting() as AgentAdapter);
    run.write("one\n");
    run.pull();
    const stale = [...run.checkpoints.values()].map((checkpoint) => ({ ...checkpoint, decoder_version: 0 }));
    const ingest = new Ingest({
      adapter: counting() as AgentAdapter,
      worker_id: "W",
      opening: openingOf("command"),
      source: (stream) => fileSource(run.spool(stream)),
      checkpoints: stale,
      redact: makeRedactor(),
      account: { model: null, estimate: (one) => one },
    });
    run.write("two\n");
    expect(ingest.pull()?.checkpoint.offset).toBe(8);
    expect(ingest.finish(ENDED).outcome.completion.data).toEqual({ lines: 1 });
  });

  it("of another version goes on counting what it said: no line for the agent has the id of one before", () => {
    const talking: AgentAdapter = {
      ...(counting() as AgentAdapter),
      decode: (state) => ({ state, records: [{ type: "reply", line: "yes\n" }] }),
    };
    const run = makeRun(talking);
    run.write("one\n");
    run.pull();
    const ingest = new Ingest({
      adapter: { ...talking, decoder_version: talking.decoder_version + 1 },
      worker_id: "W",
      opening: openingOf("command"),
      source: (stream) => fileSource(run.spool(stream)),
      checkpoints: [...run.checkpoints.values()],
      redact: makeRedactor(),
      account: { model: null, estimate: (one) => one },
    });
    run.write("two\n");
    const drafts = [...run.drafts, ...(ingest.pull()?.drafts ?? [])];
    const ids = drafts.flatMap((one) => (one.type === "worker_message" ? [one.payload.message_id] : []));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("a turn of codex, which tells no model and no cost", () => {
  const asCodex = codex as AgentAdapter;
  const account: IngestOptions["account"] = {
    model: "gpt-5-codex",
    estimate: (one) => ({ ...one, estimated_usd: one.input_tokens }),
  };
  const line = (event: object) => `${JSON.stringify(event)}\n`;
  const tool = (id: string) =>
    line({ type: "item.started", item: { id, type: "command_execution" } }) +
    line({ type: "item.completed", item: { id, type: "command_execution", exit_code: 0 } });
  const end = line({
    type: "turn.completed",
    usage: { input_tokens: 100, cached_input_tokens: 60, output_tokens: 7, reasoning_output_tokens: 2 },
  });
  const turnsOf = (drafts: readonly RecordDraft[]) =>
    drafts.flatMap((draft) => (draft.type === "turn_completed" ? [draft.payload] : []));

  it("goes into the log with its tool calls, its model and its estimate, over a restart in the middle too", () => {
    const run = makeRun(asCodex, { account });
    run.write(line({ type: "turn.started" }) + tool("a") + tool("b"));
    run.pull();
    run.restart();
    run.write(tool("c") + end + line({ type: "turn.started" }) + tool("d") + end);
    run.pull();
    expect(turnsOf(run.drafts)).toMatchObject([
      {
        turn: 1,
        tool_calls: 3,
        usage: { input_tokens: 100, cached_tokens: 60, cost_usd: null, estimated_usd: 40 },
        models: [{ model: "gpt-5-codex", input_tokens: 40, cached_tokens: 60, estimated_usd: 40 }],
      },
      { turn: 2, tool_calls: 1 },
    ]);
  });
});
