/**
 * The events of each type of line, for docs/reference/adapters.md. `node test/adapters/conformance/observe.ts --record` writes
 * observed/KIND.json from the transcripts, where they are at hand, and from our own recordings; a test holds the files
 * against both. They hold names of types and counts, nothing that a CLI printed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAdapter, DecodedItem, Opening } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { get, getList, getText, type Printed, readLines } from "./expected/printed.ts";
import type { Recorded } from "./expected/readers.ts";
import { openingOf } from "./support.ts";
import { built, openingFor, ownRuns, runOf, transcriptsOf } from "./transcripts.ts";

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

const NAME = /^[A-Za-z_$][A-Za-z0-9_.$/-]{0,63}$/;

const named = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && NAME.test(part)).join(" ");

/** A request or a notice by its method, and an answer by what it answers; undefined where we asked nothing like it. */
const nameOfMessage = (value: Printed["value"]): string | undefined => {
  const method = getText(value, "method");
  const id = getText(value, "id");
  if (method === undefined && id === undefined) return undefined;
  if (method === undefined)
    return named(
      get(value, "error") === undefined ? "result" : "error",
      "of",
      id?.replace(/^holdfast:|:.*$/g, ""),
    );
  const paths = ["update.sessionUpdate", "update.status", "item.type", "turn.status"];
  return named(method, ...paths.map((path) => getText(value, `params.${path}`)));
};

/** The type of a line with what further tells it apart; undefined where it holds no type. */
export const nameOf = (value: Printed["value"]): string | undefined => {
  const type = getText(value, "type");
  if (type === undefined) return nameOfMessage(value);
  const item = getText(value, "item.type") ?? getText(value, "subtype") ?? getText(value, "role");
  const inner = getText(value, "event.delta.type") ?? getText(value, "event.type");
  const blocks = getList(value, "message.content").map((block) => getText(block, "type") ?? "");
  // Errors of the provider come as an answer of nobody.
  const madeUp = typeof get(value, "error") === "string" && type === "assistant" ? ["error"] : blocks;
  return named(type, item, inner, ...new Set(madeUp), getText(value, "severity"));
};

const toldAs = (record: DecodedItem): string =>
  record.type === "agent.event"
    ? `${record.payload.kind} ${record.payload.channel ?? ""}`.trim()
    : record.type;

/** The events of one line at the beginning of a run. */
export const toldOfLine = (
  adapter: AgentAdapter,
  value: object,
  opening: Opening = openingOf(adapter.kind),
): readonly string[] => [
  ...new Set(
    adapter
      .decode(adapter.initial(opening), { kind: "text", text: JSON.stringify(value), end: "\n" }, "stdout")
      .records.map(toldAs),
  ),
];

export const observe = (of: Recorded, transcripts: boolean): Observed => {
  const adapter = adapterFor(of.kind)!;
  const recorded = transcripts ? transcriptsOf(of) : [];
  const versions: Record<string, number> = {};
  for (const { version } of recorded) versions[version] = (versions[version] ?? 0) + 1;
  const own = ownRuns(of);
  const types = new Map<string, { told: Set<string>; runs: Set<number> }>();
  for (const [run, { stdout, asked }] of [...own, ...recorded.map(runOf)].entries()) {
    let state = adapter.initial(openingFor(of, asked));
    for (const line of readLines(stdout)) {
      const decoded = adapter.decode(state, { kind: "text", text: line.text, end: "\n" }, "stdout");
      state = decoded.state;
      const name = nameOf(line.value);
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
    recordings: own.length,
    types: Object.fromEntries(
      sorted.map(([name, { told, runs }]) => [name, { told: [...told].sort(), runs: runs.size }]),
    ),
  };
};

const fileOf = (of: Recorded): string => join(import.meta.dirname, "observed", `${of.recordings}.json`);

export const observed = (of: Recorded): Observed => JSON.parse(readFileSync(fileOf(of), "utf8"));

if (process.argv[1] === import.meta.filename && process.argv[2] === "--record")
  for (const of of built) writeFileSync(fileOf(of), `${JSON.stringify(observe(of, true), null, 2)}\n`);
