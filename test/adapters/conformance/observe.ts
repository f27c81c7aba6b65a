/**
 * What each type of line was told as, for docs/adapters.md. `node test/adapters/conformance/observe.ts --record` writes
 * observed/KIND.json from the transcripts, where they are at hand, and from our own recordings; a test holds the files
 * against both. They hold names of types and counts, nothing that a CLI printed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAdapter, DecodedItem } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { get, getList, getText, type Printed, readLines } from "./expected/printed.ts";
import type { Recorded } from "./expected/readers.ts";
import { openingOf, recordingsOf } from "./support.ts";
import { built, read, transcriptsOf } from "./transcripts.ts";

export interface Seen {
  /** `TextOutput assistant`, or the type of another record; empty where nothing is told. */
  readonly told: readonly string[];
  /** Runs in which it stood. */
  readonly runs: number;
}

export interface Observed {
  /** Transcripts by CLI and version. */
  readonly transcripts: Readonly<Record<string, number>>;
  readonly recordings: number;
  readonly types: Readonly<Record<string, Seen>>;
}

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The type of a line with what further tells it apart; undefined where it holds no type. */
const nameOf = ({ value }: Printed): string | undefined => {
  const type = getText(value, "type");
  if (type === undefined) return undefined;
  const item = getText(value, "item.type") ?? getText(value, "subtype") ?? getText(value, "role");
  const inner = getText(value, "event.delta.type") ?? getText(value, "event.type");
  const blocks = getList(value, "message.content").map((block) => getText(block, "type") ?? "");
  // Errors of the provider come as an answer of nobody.
  const madeUp = typeof get(value, "error") === "string" && type === "assistant" ? ["error"] : blocks;
  const parts = [item, inner, ...new Set(madeUp)].filter((part) => part !== undefined);
  return [type, ...parts].filter((part) => NAME.test(part)).join(" ");
};

const toldAs = (record: DecodedItem): string =>
  record.type === "agent.event"
    ? `${record.payload.kind} ${record.payload.channel ?? ""}`.trim()
    : record.type;

/** What one line is told as at the beginning of a run. */
export const toldOfLine = (adapter: AgentAdapter, value: object): readonly string[] => [
  ...new Set(
    adapter
      .decode(
        adapter.initial(openingOf(adapter.kind)),
        { kind: "text", text: JSON.stringify(value), end: "\n" },
        "stdout",
      )
      .records.map(toldAs),
  ),
];

export const observe = (of: Recorded, transcripts: boolean): Observed => {
  const adapter = adapterFor(of.kind)!;
  const recorded = transcripts ? transcriptsOf(of) : [];
  const versions: Record<string, number> = {};
  for (const { version } of recorded) versions[version] = (versions[version] ?? 0) + 1;
  const recordings = recordingsOf(of.recordings);
  const types = new Map<string, { told: Set<string>; runs: Set<number> }>();
  const texts = [...recordings.map(([, text]) => text), ...recorded.map((one) => read(one, "stdout.ndjson"))];
  for (const [run, text] of texts.entries()) {
    let state = adapter.initial(openingOf(adapter.kind));
    for (const line of readLines(text)) {
      const decoded = adapter.decode(state, { kind: "text", text: line.text, end: "\n" }, "stdout");
      state = decoded.state;
      const name = nameOf(line);
      if (name === undefined) continue;
      const seen = types.get(name) ?? { told: new Set(), runs: new Set() };
      types.set(name, seen);
      seen.runs.add(run);
      for (const record of decoded.records) seen.told.add(toldAs(record));
    }
  }
  const sorted = [...types].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    transcripts: versions,
    recordings: recordings.length,
    types: Object.fromEntries(
      sorted.map(([name, { told, runs }]) => [name, { told: [...told].sort(), runs: runs.size }]),
    ),
  };
};

const fileOf = (of: Recorded): string => join(import.meta.dirname, "observed", `${of.recordings}.json`);

export const observed = (of: Recorded): Observed => JSON.parse(readFileSync(fileOf(of), "utf8"));

if (process.argv[1] === import.meta.filename && process.argv[2] === "--record")
  for (const of of built) writeFileSync(fileOf(of), `${JSON.stringify(observe(of, true), null, 2)}\n`);
