/** A name is unique among the living tokens; expired ones make room. */
import { expect, it } from "vitest";
import { TOKENS_MAX } from "../../../src/base/limits.ts";
import { decideCreate, decideRevoke } from "../../../src/control/token/decide.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import { foldToken, isOfToken, type Token } from "../../../src/protocol/token.ts";
import { tokenNameOf } from "../../../src/protocol/token-records.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const DAY_MS = 86_400_000;
const digest = (n: number): string => n.toString(16).padStart(64, "0");

/** The tokens that are there after these records. */
const after = (there: readonly Token[], drafts: readonly RecordDraft[]): readonly Token[] => {
  const tokens = new Map(there.map((token) => [token.name, token]));
  for (const draft of drafts as unknown as readonly LogRecord[]) {
    if (!isOfToken(draft)) continue;
    const token = foldToken(draft);
    const name = tokenNameOf(draft.stream) ?? "";
    if (token === undefined) tokens.delete(name);
    else tokens.set(name, token);
  }
  return [...tokens.values()];
};

const create = (there: readonly Token[], name: string, n: number, wall_ms = NOW, expires_ms?: number) =>
  decideCreate(
    there,
    { name, sha256: digest(n), expires_ms },
    { token_id: `T${n}`, by: "user:root", wall_ms },
  );
const made = (...asked: Parameters<typeof create>): readonly Token[] => {
  const decided = create(...asked);
  if (decided instanceof HoldfastError) throw decided;
  return after(asked[0], decided);
};

it("makes a token of a digest, with its maker and its end", () => {
  expect(made([], "ci", 1, NOW, DAY_MS)).toEqual([
    {
      name: "ci",
      token_id: "T1",
      sha256: digest(1),
      expires_at: "2026-03-02T00:00:00.000Z",
      by: "user:root",
      created_at: "2026-03-01T00:00:00.000Z",
    },
  ]);
});

it("takes the same digest under its name as a repeat, and refuses another one", () => {
  const there = made([], "ci", 1);
  expect(create(there, "ci", 1)).toEqual([]);
  expect(create(there, "ci", 2)).toMatchObject({ code: "ALREADY_EXISTS" });
});

it("gives a name again once its token has expired or was revoked", () => {
  const there = made([], "ci", 1, NOW, DAY_MS);
  expect(create(there, "ci", 2, NOW + DAY_MS - 1)).toMatchObject({ code: "ALREADY_EXISTS" });
  expect(made(there, "ci", 2, NOW + DAY_MS)).toMatchObject([{ token_id: "T2" }]);
  expect(after(there, [decideRevoke(there[0] as Token, "user", NOW)])).toEqual([]);
});

it("refuses one beyond the bound, which expired tokens do not fill", () => {
  let there: readonly Token[] = [];
  for (let n = 0; n < TOKENS_MAX; n += 1) there = made(there, `t${n}`, n, NOW, DAY_MS);
  expect(create(there, "more", TOKENS_MAX)).toMatchObject({ code: "QUEUE_FULL" });
  expect(made(there, "more", TOKENS_MAX, NOW + DAY_MS)).toMatchObject([{ name: "more" }]);
});
