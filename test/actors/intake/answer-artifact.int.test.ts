/** A long answer as an artifact, and which one is the newest: read from the end of a log of any length, a page at a time. */
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { artifactOf, keptAnswer } from "../../../src/actors/intake/answer-artifact.ts";
import { INLINE_MAX_BYTES } from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { makeRedactor } from "../../../src/protocol/redact.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { draft, newLog, requested, W } from "../../store/sqlite/support.ts";

/** All records of a worker at once are not asked for: there may be any number of them. */
const paged = (log: Store): Store =>
  Object.assign(Object.create(log) as Store, {
    stream: () => {
      throw new Error("all of it was asked for");
    },
  });
const completed = (digest: string | null): RecordDraft =>
  draft("worker_completed", { artifact: { digest, size_bytes: 40_000 } } as never);
const said = (text: string, message_id: string): RecordDraft =>
  draft("agent.event", {
    agent_kind: "claude_code",
    kind: "TextOutput",
    channel: "assistant",
    text,
    data: { message_id },
  });
const turn = (n: number): RecordDraft => draft("turn_started", { turn: n } as never);

describe("the newest artifact", () => {
  const newest = async (drafts: readonly RecordDraft[]) => {
    const log = newLog();
    log.append([requested(), ...drafts]);
    return Effect.runPromise(artifactOf(paged(log), W));
  };

  it("is that of the last incarnation that ended, however many there were", async () => {
    const ends = Array.from({ length: 700 }, (_, at) => completed(`sha256:${at}`));
    expect(await newest([...ends, ...Array(600).fill(said("x", "m"))])).toEqual({
      digest: "sha256:699",
      size_bytes: 40_000,
    });
  });

  it("is none where the last one could not be kept, and where none has ended", async () => {
    expect(await newest([completed("sha256:1"), completed(null)])).toBeUndefined();
    expect(await newest([])).toBeUndefined();
  });
});

it("an answer is the last message since the last turn began, with what is not in the log yet", async () => {
  const log = newLog();
  const turns = Array.from({ length: 700 }, (_, at) => turn(at + 1));
  log.append([
    requested(),
    said("an older turn", "m"),
    ...turns,
    said("let me see", "a"),
    said("The an", "b"),
  ]);
  const put: string[] = [];
  const artifacts = {
    put: async (bytes: Uint8Array) => {
      put.push(Buffer.from(bytes).toString());
      return { digest: "sha256:b", size_bytes: bytes.length, effect: "created" };
    },
  };
  const shell = {
    id: W,
    services: { log: paged(log), artifacts },
    redact: makeRedactor(),
    shared: { run: Effect.runPromise },
  };
  const final_text = "x".repeat(INLINE_MAX_BYTES + 1);
  const kept = await Effect.runPromise(
    keptAnswer(shell as never, [said("swer.", "b")], { final_text } as never),
  );
  expect(kept).toEqual({ digest: "sha256:b", size_bytes: 11 });
  expect(put).toEqual(["The answer."]);
});
