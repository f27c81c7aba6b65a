/** Validates AgentEvents, one a line, against agent-event.txt. `bounds.ts` enforces the same bounds on our own events. */

import type { JsonObject } from "../../base/json.ts";
import {
  CHANNEL_MAX_BYTES,
  DATA_MAX_BYTES,
  DATA_MAX_DEPTH,
  MESSAGE_MAX_BYTES,
  TEXT_MAX_BYTES,
} from "../../base/limits.ts";
import { AGENT_KIND_FORM, EVENT_KINDS, isObject, jsonBytes } from "../forms.ts";
import { shown } from "./envelope-rule.ts";
import { type ContractRule, type Findings, makeFindings, pointerOf } from "./finding.ts";
import { type Fault, readJson } from "./json.ts";
import { JSON_RULES } from "./json-rules.ts";
import type { LineValidator } from "./stream.ts";

const rule = (id: string, source: string, remedy: string, only?: "strict"): ContractRule => ({
  id,
  levels: ["spec"],
  ...(only && { only }),
  source,
  remedy,
});

const RULES = {
  object: rule("event.object", "agent-event.txt, Fields", "Send one JSON object a line."),
  agent_kind: rule(
    "event.agent_kind",
    "agent-event.txt, Fields: agent_kind is a string-backed AgentKind; notes A.1: ^[a-z][a-z0-9_]*$",
    "Write the kind of agent in a-z, 0-9 and _, a letter first.",
  ),
  kind: rule(
    "event.kind",
    "agent-event.txt, Kind mapping rules: the stable kinds; what cannot be classified is Unknown",
    `Write one of ${EVENT_KINDS.join(", ")}.`,
  ),
  channel: rule(
    "event.channel",
    "agent-event.txt, Constraints: channel is at most 128 bytes of UTF-8",
    "Leave the channel out: it is not cut.",
  ),
  text: rule(
    "event.text",
    "agent-event.txt, Constraints: text is at most 65536 bytes of UTF-8",
    "Split the text over several TextOutput events, in order.",
  ),
  message: rule(
    "event.message",
    "agent-event.txt, Constraints: message is at most 4096 bytes of UTF-8",
    "Cut the message to 4082 bytes, between two characters, and add …(truncated).",
  ),
  data: rule(
    "event.data",
    "agent-event.txt, Constraints: data is at most 65536 bytes of serialised JSON",
    'Replace data by {"dropped":{"reason":"oversize"}}.',
  ),
  fields: rule(
    "event.fields",
    "agent-event.txt, Fields: agent_kind, kind, channel, text, message, data",
    "Leave the member out, or put it in data.",
  ),
  payload: rule(
    "event.payload",
    "agent-event notes A.1: TextOutput has text and no message, Error a message, and only TextOutput has text",
    "Give the event the members of its kind.",
    "strict",
  ),
} as const;

const MEMBERS: readonly string[] = ["agent_kind", "kind", "channel", "text", "message", "data"];
const TEXTS = [
  ["channel", CHANNEL_MAX_BYTES],
  ["text", TEXT_MAX_BYTES],
  ["message", MESSAGE_MAX_BYTES],
] as const;

/** Every rule of an event. */
export const EVENT_RULE_TABLE: readonly ContractRule[] = Object.values(RULES);

/** The place in which the rules about text speak of an envelope. */
const TEXT_REMEDIES: Partial<Record<Fault["kind"], string>> = {
  size: "Write a smaller event: its text, message and data have their own limits.",
  empty: "Send an event; leave no line empty.",
  trailing: "Send one event a line, and nothing after it.",
};

type ReportFinding = (rule: ContractRule, pointer: string, message: string, remedy?: string) => void;

export const judgeEvent = (event: JsonObject, strict: boolean, tell: ReportFinding): void => {
  if (typeof event.agent_kind !== "string" || !AGENT_KIND_FORM.test(event.agent_kind))
    tell(RULES.agent_kind, "/agent_kind", `agent_kind is ${shown(event.agent_kind)}.`);
  if (!(EVENT_KINDS as readonly unknown[]).includes(event.kind))
    tell(RULES.kind, "/kind", `kind is ${shown(event.kind)}.`);
  for (const [name, maxBytes] of TEXTS) {
    const value = event[name];
    if (value === undefined) continue;
    if (typeof value !== "string")
      tell(
        RULES[name],
        `/${name}`,
        `${name} is ${shown(value)}, not text.`,
        `Write ${name} as text, or leave it out.`,
      );
    // A UTF-16 unit is at most 3 bytes of UTF-8: most texts need no counting.
    else if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes)
      tell(RULES[name], `/${name}`, `${name} is ${Buffer.byteLength(value)} bytes, over ${maxBytes}.`);
  }
  if (event.data !== undefined && mostBytes(event.data, DATA_MAX_DEPTH) > DATA_MAX_BYTES) {
    const bytes = jsonBytes(event.data);
    if (bytes > DATA_MAX_BYTES) tell(RULES.data, "/data", `data is ${bytes} bytes, over ${DATA_MAX_BYTES}.`);
    else if (isDeeper(event.data, DATA_MAX_DEPTH))
      tell(RULES.data, "/data", `data nests over ${DATA_MAX_DEPTH} levels deep, which counts as oversize.`);
  }
  for (const name of Object.keys(event))
    if (!MEMBERS.includes(name))
      tell(RULES.fields, pointerOf(name), `There is no member ${JSON.stringify(name.slice(0, 100))}.`);
  if (strict) judgePayload(event, tell);
};

const judgePayload = ({ kind, text, message }: JsonObject, tell: ReportFinding): void => {
  const isOutput = kind === "TextOutput";
  if (isOutput && text === undefined) tell(RULES.payload, "/text", "A TextOutput has no text.");
  if (isOutput && message !== undefined) tell(RULES.payload, "/message", "A TextOutput has a message.");
  if (!isOutput && text !== undefined) tell(RULES.payload, "/text", `${shown(kind)} has a text.`);
  if (kind === "Error" && message === undefined) tell(RULES.payload, "/message", "An Error has no message.");
};

/** An upper bound for the bytes of the value's compact JSON; infinite if it nests deeper. Most data is small, so this saves serialising it. */
const mostBytes = (value: unknown, levels: number): number => {
  switch (typeof value) {
    case "string":
      return value.length * 6 + 2;
    case "number":
    case "boolean":
      return 25;
  }
  if (typeof value !== "object" || value === null) return 4;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let most = 2;
  for (const name of Object.keys(value))
    most += name.length * 6 + 4 + mostBytes((value as Readonly<Record<string, unknown>>)[name], levels - 1);
  return most;
};

const isDeeper = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const name of Object.keys(value))
    if (isDeeper((value as Readonly<Record<string, unknown>>)[name], levels - 1)) return true;
  return false;
};

/** With `strict`, also checks the members that a kind of event must have. */
export const makeEventValidator = ({ strict = false }: { readonly strict?: boolean }): LineValidator => {
  const findings: Findings = makeFindings();
  let lines = 0;
  return {
    found: () => findings,
    line(bytes) {
      lines += 1;
      const line = lines;
      const tell: ReportFinding = (of, pointer, message, remedy) =>
        findings.add(of, pointer, line, message, remedy);
      if (bytes === undefined)
        return tell(JSON_RULES.size, "", "The line is too long to be held.", TEXT_REMEDIES.size);
      const { value, faults } = readJson(bytes, line);
      for (const fault of faults)
        tell(JSON_RULES[fault.kind], fault.pointer, fault.message, TEXT_REMEDIES[fault.kind]);
      if (isObject(value)) judgeEvent(value, strict, tell);
      else if (value !== undefined) tell(RULES.object, "", "It is JSON, but not an object.");
    },
    end() {
      if (lines === 0) findings.add(JSON_RULES.empty, "", 1, "It is empty.", TEXT_REMEDIES.empty);
      return findings;
    },
  };
};
