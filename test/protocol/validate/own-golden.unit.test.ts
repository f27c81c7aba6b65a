/** The project's own golden files, which are in every clone: each is valid, or breaks exactly the rules that the table names. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EVENT_KINDS } from "../../../src/protocol/forms.ts";
import { validateEnvelope } from "../../../src/protocol/validate/envelope.ts";
import { EVENT_RULE_TABLE, makeEventValidator } from "../../../src/protocol/validate/events.ts";
import { makeStreamValidator } from "../../../src/protocol/validate/stream.ts";

const golden = join(import.meta.dirname, "../../golden");
const BROKEN: Readonly<Record<string, readonly string[]>> = {
  "envelopes/invalid-cache-key.json": ["meta.cache_key"],
  "envelopes/invalid-code.json": ["error.catalog"],
  "envelopes/invalid-command.json": ["command"],
  "envelopes/invalid-digest.json": ["meta.cas_digest"],
  "envelopes/invalid-duration.json": ["meta.duration_ms"],
  "envelopes/invalid-error-null.json": ["error.null"],
  "envelopes/invalid-secret.json": ["secret"],
  "envelopes/invalid-version.json": ["version"],
  "events/invalid-agent-kind.ndjson": ["event.agent_kind"],
  "events/invalid-channel.ndjson": ["event.channel"],
  "events/invalid-data.ndjson": ["event.data"],
  "events/invalid-depth.ndjson": ["event.data"],
  "events/invalid-duplicate.ndjson": ["json.duplicate", "event.payload"],
  "events/invalid-empty.ndjson": ["json.empty"],
  "events/invalid-kind.ndjson": ["event.kind"],
  "events/invalid-member.ndjson": ["event.fields"],
  "events/invalid-message.ndjson": ["event.message"],
  "events/invalid-object.ndjson": ["event.object"],
  "events/invalid-payload.ndjson": ["event.payload"],
  "events/invalid-syntax.ndjson": ["json.syntax"],
  "events/invalid-text-type.ndjson": ["event.text"],
  "events/invalid-text.ndjson": ["event.text"],
  "events/invalid-trailing.ndjson": ["json.trailing"],
  "streams/invalid-no-end.ndjson": ["stream.terminal"],
  "streams/invalid-order.ndjson": ["stream.first", "stream.seq"],
  "streams/invalid-two-ends.ndjson": ["stream.after"],
};

/** Lines as they are in the file, the empty ones too. */
const linesOf = (path: string): readonly Buffer[] =>
  readFileSync(join(golden, path), "utf8")
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => Buffer.from(line));
const filesOf = (folder: string): readonly string[] => readdirSync(join(golden, folder)).sort();

it.each(filesOf("envelopes"))("envelopes/%s", (name) => {
  const { list } = validateEnvelope(readFileSync(join(golden, "envelopes", name)), {
    level: "spec",
    strict: true,
  });
  expect([...new Set(list.map(({ rule }) => rule))]).toEqual(BROKEN[`envelopes/${name}`] ?? []);
});

it.each(filesOf("streams"))("streams/%s", (name) => {
  const stream = makeStreamValidator({ level: "spec" });
  for (const line of linesOf(`streams/${name}`)) stream.line(line);
  const rules = new Set(stream.end().list.map(({ rule }) => rule));
  expect([...rules]).toEqual(BROKEN[`streams/${name}`] ?? []);
});

it.each(filesOf("events"))("events/%s", (name) => {
  const events = makeEventValidator({ strict: true });
  for (const line of linesOf(`events/${name}`)) events.line(line);
  const rules = new Set(events.end().list.map(({ rule }) => rule));
  expect([...rules]).toEqual(BROKEN[`events/${name}`] ?? []);
});

it("each kind of AgentEvent has a valid file, and each rule about them one that breaks it", () => {
  expect(filesOf("events")).toEqual(
    expect.arrayContaining(EVENT_KINDS.map((kind) => `valid-${kind}.ndjson`)),
  );
  const broken = Object.values(BROKEN).flat();
  expect(broken).toEqual(expect.arrayContaining(EVENT_RULE_TABLE.map(({ id }) => id)));
});

it("all that is called invalid is refused", () => {
  const invalid = ["envelopes", "events", "streams"].flatMap((folder) =>
    filesOf(folder).flatMap((name) => (name.startsWith("invalid-") ? [`${folder}/${name}`] : [])),
  );
  expect(Object.keys(BROKEN).sort()).toEqual(invalid.sort());
});
