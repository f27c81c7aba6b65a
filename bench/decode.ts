/**
 * Lines of recorded runs to valid events, by adapter: decoded, redacted and bounded as the ingest does it (without known secrets),
 * and each event judged by every rule for AgentEvents, those of its kind too. The floor is JSON.parse over the same lines, in turns. Processor time,
 * which other work on the machine lengthens less.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAdapter, DecodedRecord, Opening } from "../src/adapters/adapter.ts";
import { adapters } from "../src/adapters/registry.ts";
import type { AgentEvent } from "../src/protocol/agent-event.ts";
import { boundEvent } from "../src/protocol/bounds.ts";
import { makeRedactor } from "../src/protocol/redact.ts";
import { judgeEvent } from "../src/protocol/validate/events.ts";
import { openingOf } from "../test/adapters/conformance/support.ts";
import { type Result, root } from "./support.ts";

const LINES = 50_000;
const ROUNDS = 7;
const AT_LEAST = 0.3;

type Runs = readonly (readonly string[])[];

const linesOf = (file: string): readonly string[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"));

/** Our recordings of a kind, of which long texts were cut, and the transcripts of its CLI where they are at hand. */
const runsOf = (kind: string): Runs => {
  const own = join(root, "test/recordings", kind.replaceAll("_", "-"));
  if (!existsSync(own)) return [];
  const given = join(root, "../shared/data/cli-transcripts");
  const name = `${kind.split("_")[0]}-`;
  const folders = existsSync(given)
    ? readdirSync(given).filter((folder) => folder.startsWith(name) && /^\d/.test(folder.slice(name.length)))
    : [];
  const transcripts = folders.flatMap((folder) =>
    readdirSync(join(given, folder)).map((scenario) => join(given, folder, scenario, "stdout.ndjson")),
  );
  return [...readdirSync(own).map((file) => join(own, file)), ...transcripts]
    .filter((file) => existsSync(file))
    .map(linesOf);
};

const redact = makeRedactor();

const masked = (event: AgentEvent): AgentEvent => {
  const text = event.text === undefined ? undefined : redact.text(event.text);
  const message = event.message === undefined ? undefined : redact.text(event.message);
  const data = event.data === undefined ? undefined : redact.value(event.data);
  const isSame = text === event.text && message === event.message && data === event.data;
  return isSame ? event : ({ ...event, text, message, data } as AgentEvent);
};

const refuse = (_rule: unknown, pointer: string, message: string): never => {
  throw new Error(`an event is not valid: ${pointer}: ${message}`);
};

const take = (record: DecodedRecord): number => {
  if (record.type !== "agent.event") {
    redact.value(record.payload);
    return 0;
  }
  const events = boundEvent(masked(record.payload));
  for (const event of events) judgeEvent(event as never, true, refuse);
  return events.length;
};

/** Microseconds of processor time. */
const timed = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

/** The opening comes made: a spec is checked when its worker is spawned, not for each run of lines. */
const decodeAll = (adapter: AgentAdapter, opening: Opening, runs: Runs, times: number): number => {
  let events = 0;
  for (let time = 0; time < times; time += 1)
    for (const run of runs) {
      let state = adapter.initial(opening);
      for (const text of run) {
        const line = { kind: "text", text: redact.line(text), end: "\n" } as const;
        const decoded = adapter.decode(state, line, "stdout");
        state = decoded.state;
        for (const item of decoded.records)
          if (item.type !== "reply" && item.type !== "turn_usage") events += take(item);
      }
    }
  return events;
};

const parseAll = (runs: Runs, times: number): void => {
  for (let time = 0; time < times; time += 1)
    for (const run of runs) for (const line of run) JSON.parse(line);
};

const measure = (adapter: AgentAdapter, runs: Runs): Result => {
  const lines = runs.reduce((sum, run) => sum + run.length, 0);
  const times = Math.ceil(LINES / lines);
  const opening = openingOf(adapter.kind);
  let floor = Number.POSITIVE_INFINITY;
  let ours = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    floor = Math.min(
      floor,
      timed(() => parseAll(runs, times)),
    );
    ours = Math.min(
      ours,
      timed(() => decodeAll(adapter, opening, runs, times)),
    );
  }
  const perLine = (micros: number) => `${(micros / (lines * times)).toFixed(2)} µs a line`;
  return {
    name: `lines → valid events, ${adapter.kind}, ${lines} recorded lines over and over`,
    floor: `JSON.parse: ${perLine(floor)}`,
    measured: perLine(ours),
    value: `${(floor / ours).toFixed(2)} of the floor`,
    threshold: `≥ ${AT_LEAST}`,
    ok: floor / ours >= AT_LEAST,
  };
};

export const decode = async (): Promise<readonly Result[]> =>
  adapters.flatMap((adapter) => {
    const runs = runsOf(adapter.kind);
    return runs.length === 0 ? [] : [measure(adapter, runs)];
  });
