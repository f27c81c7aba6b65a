/** A message that an agent tells in pieces is one text for whoever reads along, whatever is said in between. */
import { describe, expect, it } from "vitest";
import { newestRecords } from "../../../src/cli/commands/logs.ts";
import { LineWriter } from "../../../src/cli/render/line.ts";
import { makePrinter } from "../../../src/cli/render/pieces.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";

let seq = 0;
const W = "01KXA00000AAAAAAAAAAAAAAAA";
const V = "01KXB00000AAAAAAAAAAAAAAAA";
const record = (type: string, payload: unknown, worker_id = W): LogRecord =>
  ({
    seq: ++seq,
    version: seq,
    type,
    worker_id,
    stream: `worker:${worker_id}`,
    incarnation: 1,
    recorded_at: "2026-11-22T12:00:00.000Z",
    payload,
  }) as unknown as LogRecord;
const event = (over: object, worker_id?: string) =>
  record("agent.event", { agent_kind: "acp", kind: "TextOutput", channel: "assistant", ...over }, worker_id);
const piece = (text: string, message_id: string | null = "m1", worker_id?: string) =>
  event({ text, data: { message_id } }, worker_id);
const tool = () => event({ kind: "ToolCall", channel: "tool", data: { tool: { tool_name: "Read" } } });
const quiet = () => event({ kind: "Status", channel: "status" });

/** The visible text, without times. */
const printed = (...records: readonly LogRecord[]): string => {
  const writer = new LineWriter((_, text) => text, { verbose: false });
  writer.know(W, "w");
  writer.know(V, "v");
  const printer = makePrinter(writer);
  const text = records.map(printer.record).join("") + printer.rest();
  return text.replaceAll(/^\d\d:\d\d:\d\d\.\d\d\d {2}/gm, "").replaceAll(/^ {14}/gm, "");
};
const HEAD = "w.1           │ ";
const NEXT = "            │ ".padStart(HEAD.length);

describe("pieces of one message", () => {
  it.each([
    ["go on in one line", [piece("Hel"), piece("lo"), piece(" you")], `${HEAD}Hello you\n`],
    ["also where the agent gives no ids", [piece("Hel", null), piece("lo", null)], `${HEAD}Hello\n`],
    [
      "but without ids only where they come right after each other",
      [piece("a", null), quiet(), piece("b", null)],
      `${HEAD}a\n${HEAD}b\n`,
    ],
    ["also past what is not shown", [piece("Hel"), quiet(), piece("lo")], `${HEAD}Hello\n`],
    ["keep their line ends", [piece("a\nb"), piece("c\n"), piece("d")], `${HEAD}a\n${NEXT}bc\n${NEXT}d\n`],
    ["keep a line end that comes alone", [piece("a"), piece("\n"), piece("b")], `${HEAD}a\n${NEXT}b\n`],
    ["keep an empty line", [piece("a"), piece("\n\n"), piece("b")], `${HEAD}a\n${NEXT}\n${NEXT}b\n`],
    ["are told apart from another message", [piece("a"), piece("b", "m2")], `${HEAD}a\n${HEAD}b\n`],
    [
      "are told apart from what is said in between",
      [piece("a"), tool(), piece("b")],
      `${HEAD}a\nw.1           uses Read\n${HEAD}b\n`,
    ],
    [
      "are told apart from another worker's",
      [piece("a"), piece("b", "m1", V), piece("c")],
      `${HEAD}a\nv.1           │ b\n${HEAD}c\n`,
    ],
  ])("%s", (_, records, text) => {
    expect(printed(...records)).toBe(text);
  });

  it("lines of a program are lines", () => {
    const line = (text: string) => event({ agent_kind: "command", channel: "stdout", text });
    expect(printed(line("a\n"), line("b\n"))).toBe(`${HEAD}a\n${HEAD}b\n`);
  });

  it("are one of the newest that --tail asks for", async () => {
    const all = [tool(), piece("a"), quiet(), piece("b"), tool(), piece("c", "m2"), piece("d", "m2")];
    const client = {
      watch: async ({ tail }: { tail: number }, take: (each: LogRecord) => void) =>
        all.slice(-tail).forEach(take),
    };
    const newest = await newestRecords(client as never, { id: W, last_seq: seq }, 3, {
      shown: ({ payload }) => (payload as { kind?: string }).kind !== "Status",
    });
    expect(newest).toEqual(all.slice(1));
    const words = Array.from({ length: 43 }, (_, n) => piece(`${n} `, "m3"));
    all.push(...words);
    const one = await newestRecords(client as never, { id: W, last_seq: seq }, 1, { shown: () => true });
    expect(one.filter((record) => words.includes(record))).toEqual(words);
  });
});
