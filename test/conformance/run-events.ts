/** runtime-architecture.txt: run and worker events, sentence by sentence (contract.ts says how). */
import type { Contract } from "./contract.ts";

const sentences: Contract["sentences"] = {
  "Append-only": [
    {
      says: "the next version is the newest plus one, an id is taken once",
      done: ["EventStreams", "protocol/run-events/append"],
      held: ["takes the newest version plus one, and no other", "protocol/run-events/rules.unit"],
    },
    {
      says: "append if absent gives back what is stored, or a conflict",
      done: ["EventStreams", "protocol/run-events/append"],
      held: [
        "if absent gives back what is stored, wherever and whenever it was seen, and refuses another event of its id",
        "protocol/run-events/rules.unit",
      ],
    },
    {
      says: "the golden run stream projects to completed at version 5",
      done: ["projectRun", "protocol/run-events/project"],
      held: [
        "of our own is appended event by event, and projects to completed at version 5",
        "protocol/run-events/rules.unit",
      ],
    },
  ],
  Statuses: [
    {
      says: "statuses and their transitions",
      done: ["mayFollow", "protocol/run-events/statuses"],
      held: [
        "follow each other as the document says, and where a worker is stopped before it runs",
        "protocol/run-events/rules.unit",
      ],
    },
    {
      says: "terminal statuses are monotonic, a repeat is idempotent",
      done: ["mayFollow", "protocol/run-events/statuses"],
      held: ["that are terminal are never left, and may be told again", "protocol/run-events/rules.unit"],
    },
    {
      says: "retries are explicit by their attempt",
      done: ["WorkerProjections", "protocol/run-events/project"],
      held: [
        "stays as it ended within its attempt, and a next attempt begins anew",
        "protocol/run-events/rules.unit",
      ],
    },
    {
      says: "log chunks never reopen, a heartbeat is freshness alone",
      done: ["WorkerProjections", "protocol/run-events/project"],
      held: [
        "is opened by no log chunk, and a heartbeat changes its freshness alone",
        "protocol/run-events/rules.unit",
      ],
    },
  ],
  Observation: [
    {
      says: "observation is at-least-once: the dedupe key",
      done: ["dedupeKey", "protocol/run-events/events"],
      held: ["is moved once by an event that is observed twice", "protocol/run-events/rules.unit"],
    },
  ],
  Reconcile: [
    {
      says: "runtime facts become append-only events and projections that agree with the registry",
      done: ["Exporter", "protocol/run-events/export"],
      held: [
        "seed %i: keeps the rules of appending and of statuses, and says what the list says after each decision",
        "protocol/run-events/export.unit",
      ],
    },
    {
      says: "the same, of a real log",
      done: ["Exporter", "protocol/run-events/export"],
      held: [
        "exports run and worker events, which say what the list says, and name every event once",
        "cli/db.e2e",
      ],
    },
  ],
};

export const RUN_EVENTS: Contract = {
  title: "Runtime architecture: run and worker events",
  intro:
    "Exported by `agent db export --format v2` ([run-events.md](run-events.md)). The document names the events; fields and rules are those of the notes on it (2.6, 2.7).",
  sentences,
  deviations: [
    "**Transitions that are added**: `pending` to `failed` and `cancelled`, `starting` to `stopping` and `cancelled`: a worker of ours is killed or given up also before it runs. `stopping` to `cancelled` is missing in the text and done by the original.",
    "**Events are exported**, not imported, and not streamed: there is no store of foreign events, no `turn` stream, and no orchestration (`issue.*` is in the log, docs/decisions/0046).",
    "**`command` is `spawn`** and `request_id` the record's correlation id in every event; `workspace_id` and `raw_state` are left out.",
  ],
};
