/** agent-event.txt, sentence by sentence (contract.ts says how). */
import type { Contract } from "./contract.ts";

const sentences: Contract["sentences"] = {
  Fields: [
    {
      says: "`agent_kind`, `kind`, and optionally `channel`, `text`, `message`, `data`; no others",
      done: ["AgentEvent", "protocol/agent-event"],
      held: ["AgentEvent has exactly its six fields, two of them required", "protocol/json-schemas.unit"],
    },
    {
      says: "`agent_kind` is text, `kind` one of the stable kinds",
      done: ["makeEventValidator", "protocol/validate/events"],
      held: ["on AgentEvents", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`text` is stable for TextOutput, `message` for Status and Error",
      done: ["conformance", "adapters/conformance"],
      held: [
        "text is what a TextOutput has, and a message a Status or an Error, and no other event",
        "adapters/conformance/conformance.unit",
      ],
    },
  ],
  Constraints: [
    {
      says: "`channel` is optional, at most 128 bytes of UTF-8",
      done: ["boundEvent", "protocol/bounds"],
      held: ["drops a channel over 128 bytes, without leaving its key", "protocol/bounds.unit"],
    },
    {
      says: "`channel` groups, best effort",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: [
        "tells answers and reasoning on channels of their own, with the id of their message",
        "adapters/kinds/claude-code/decode.unit",
      ],
    },
    {
      says: "`text` is at most 65,536 bytes of UTF-8",
      done: ["boundEvent", "protocol/bounds"],
      held: [
        "makes every event valid, loses no text, and does nothing the second time",
        "protocol/bounds.unit",
      ],
    },
    {
      says: "what is longer is split over several TextOutput events, in order",
      done: ["splitUtf8", "protocol/bounds"],
      held: [
        "loses nothing, keeps the order, and makes every part as long as it can be",
        "protocol/bounds.unit",
      ],
    },
    {
      says: "a kind that has a protocol does so",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: [
        "a text over 65,536 bytes comes as several events with the same message id",
        "adapters/kinds/claude-code/decode.unit",
      ],
    },
    {
      says: "`message` is at most 4,096 bytes of UTF-8",
      done: ["boundEvent", "protocol/bounds"],
      held: ["passes every field exactly at its bound unchanged", "protocol/bounds.unit"],
    },
    {
      says: "`data` is optional, at most 65,536 bytes of JSON",
      done: ["boundData", "protocol/bounds"],
      held: [
        "passes data of exactly 65,536 bytes, the same object, and drops one byte more",
        "protocol/bounds.unit",
      ],
    },
    {
      says: "its bytes are those of the document's serialiser",
      done: ["boundData", "protocol/bounds"],
      held: ["agrees with the definition for any JSON value", "protocol/bounds.unit"],
    },
    {
      says: "`data` holds no raw lines",
      done: ["conformance", "adapters/conformance"],
      held: [
        "gives events in bounds, with no raw line and no stderr in them",
        "adapters/conformance/transcripts.int",
      ],
    },
    {
      says: "`data` may hold structured payloads where they are safe and bounded",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: ["tells a tool's call by its facet, without its input", "adapters/kinds/claude-code/decode.unit"],
    },
    {
      says: "all bounds, for any event",
      done: ["boundEvent", "protocol/bounds"],
      held: [
        "makes every event valid, loses no text, and does nothing the second time",
        "protocol/bounds.unit",
      ],
    },
  ],
  "Enforcement behavior": [
    {
      says: "a `channel` over the bound is none",
      done: ["boundEvent", "protocol/bounds"],
      held: ["drops a channel over 128 bytes, without leaving its key", "protocol/bounds.unit"],
    },
    {
      says: "a `message` over the bound is cut, and `…(truncated)` (14 bytes) follows",
      done: ["truncateMessage", "protocol/bounds"],
      held: [
        "passes a message of %s that is exactly at the bound, and cuts one that is over it",
        "protocol/bounds.unit",
      ],
    },
    {
      says: "it is cut at a code point, so that it is valid UTF-8",
      done: ["cutUtf8", "protocol/bounds"],
      held: ["gives the longest prefix within the bound, never inside a code point", "protocol/bounds.unit"],
    },
    {
      says: "where the bound has no room for the suffix, `…` is cut to the bound",
      done: ["truncateMessage", "protocol/bounds"],
      held: ["with a bound of %i leaves %j", "protocol/bounds.unit"],
    },
    {
      says: '`data` over the bound is replaced by `{"dropped":{"reason":"oversize"}}`',
      done: ["boundData", "protocol/bounds"],
      held: [
        "passes data of exactly 65,536 bytes, the same object, and drops one byte more",
        "protocol/bounds.unit",
      ],
    },
  ],
  "Completion payload bounds": [
    {
      says: "`data` of a completion has the same limit, and the same replacement",
      done: ["boundCompletion", "protocol/bounds"],
      held: ["cuts the final text, drops oversize data and keeps the status", "protocol/bounds.unit"],
    },
  ],
  "Kind mapping rules": [
    {
      says: "native events are mapped to the stable kinds",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: [
        "takes results from user messages, with their real status and size",
        "adapters/kinds/claude-code/decode.unit",
      ],
    },
    {
      says: "what cannot be classified is `Unknown`",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: [
        "each content block that is not known is one Unknown event, beside those that are",
        "adapters/kinds/claude-code/decode.unit",
      ],
    },
    {
      says: "the same, for codex",
      done: ["decode", "adapters/kinds/codex/decode"],
      held: [
        "an item of an unknown type is one Unknown event for each of its lines",
        "adapters/kinds/codex/decode.unit",
      ],
    },
  ],
  Safety: [
    {
      says: "no raw lines of the upstream process in an event",
      done: ["conformance", "adapters/conformance"],
      held: [
        "gives events in bounds, with no raw line and no stderr in them",
        "adapters/conformance/transcripts.int",
      ],
    },
    {
      says: "who needs raw lines has them from where they come in, and not from an event",
      done: ["raw", "cli/commands/logs"],
      held: ["logs --raw gives the bytes as they are", "cli/run.int"],
    },
    {
      says: "nothing that went into a tool or came out of it is told",
      done: ["decode", "adapters/kinds/claude-code/decode"],
      held: ["never tells what went into a tool or came out of it", "adapters/kinds/claude-code/decode.unit"],
    },
  ],
  "Beyond the document": [
    {
      says: "any input is decoded within the bounds",
      done: ["conformance", "adapters/conformance"],
      held: [
        "any sequence of arbitrary JSON and arbitrary bytes is decoded without a throw, in bounds",
        "adapters/conformance/conformance.unit",
      ],
    },
    {
      says: "any event of others is told what breaks the document in it",
      done: ["makeEventValidator", "protocol/validate/events"],
      held: ["tells of each line that is none what is wrong with it", "cli/commands/validate.int"],
    },
    {
      says: "the same for any line, against an oracle written from the text",
      done: ["makeEventValidator", "protocol/validate/events"],
      held: ["on AgentEvents", "protocol/validate/fuzz.unit"],
    },
    {
      says: "the JSON Schema that is published refuses what the validator refuses",
      done: ["AgentEvent", "protocol/agent-event"],
      held: [
        "and of AgentEvents they refuse just what the validator refuses, but for the depth of data",
        "protocol/validate/fuzz.unit",
      ],
    },
    {
      says: "notes A.2, MCP output: at most 65,536 bytes of each stream are kept, the rest is read and let go of; decoded, then cut; marked where more was seen",
      done: ["makeCapture", "adapters/decoding/mcp-output"],
      held: ["says that it was cut though what was kept would fit", "adapters/decoding/mcp-output.unit"],
    },
    {
      says: "notes A.2: bytes that are no UTF-8 grow, so it is cut after it is decoded",
      done: ["makeCapture", "adapters/decoding/mcp-output"],
      held: [
        "is cut after it is decoded: bytes that are no UTF-8 become three each",
        "adapters/decoding/mcp-output.unit",
      ],
    },
    {
      says: "notes A.4, completion after the events and after the exit, gated here on the durable log",
      done: ["makeRuntime", "runtime/runtime"],
      held: [
        "the end of a worker is told to nobody before it is on record, behind all its output",
        "runtime/store-failure.int",
      ],
    },
  ],
};

export const AGENT_EVENT: Contract = {
  title: "AgentEvent",
  intro: "",
  sentences,
  deviations: [
    "**Kind `command` tells its lines.** A command has no protocol but its text, so each line of it is a TextOutput, on channel `stdout` or `stderr` ([0002](../decisions/0002-command-output-is-lines.md)). The rule of Safety is kept for kinds that have a protocol. The channels are not among the suggested ones, which are not normative.",
    "**`text` of other kinds is cut**, like a message, at 65,536 bytes: the document bounds `text` everywhere but says only of TextOutput how.",
    "**`data` nested over 100 levels** counts as oversize, since the reader with which the document counts bytes takes 127 levels.",
    "**Bytes of numbers** are counted in JavaScript's shortest form; another serialiser may write a number a few bytes longer.",
    '**MCP management** (notes A.5) is `agent mcp list | get | add | remove`; the last two must be allowed in `config.yaml`. Its ids end in `.v1`, as the originals have them. **An absent member has no key**: `"channel": null` is refused, by the schema and by `agent event validate`.',
    "Raw lines are kept beside the log, in the run directory, for 24 hours; `agent logs --raw` reads them.",
  ],
};
