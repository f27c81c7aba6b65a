/** The index of words beside the log: it follows whoever searches, forgets what retention removes, and can be thrown away. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import SQLite from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { SEARCH_INDEX_KEPT_MS, SEARCH_INDEXED_INLINE_MAX_RECORDS } from "../../../../src/base/limits.ts";
import type { SearchQuery } from "../../../../src/store/search.ts";
import { openLog } from "../../../../src/store/sqlite/log.ts";
import type { Store } from "../../../../src/store/upkeep.ts";
import { clock, draft, newFile, newLog, requested, text, V, W } from "../support.ts";

const ALL = { worker_ids: [], types: [], after: 0, before: Number.MAX_SAFE_INTEGER, limit: 100 };
const find = (log: Store, words: string, over: Partial<SearchQuery> = {}) =>
  log.search({ ...ALL, text: words, ...over });
const seqs = async (log: Store, words: string, over: Partial<SearchQuery> = {}): Promise<readonly number[]> =>
  (await find(log, words, over)).found.map(({ record }) => record.seq);

it("finds what has all words, newest first, a page at a time", async () => {
  const log = newLog();
  log.append([requested(), text("the red fox"), text("a red dog"), text("the fox, red again")]);
  expect(await seqs(log, "fox red")).toEqual([4, 2]);
  expect(await seqs(log, "FOX")).toEqual([4, 2]);
  expect(await seqs(log, '"red fox"')).toEqual([2]);
  expect(await seqs(log, "do*")).toEqual([3]);
  expect(await seqs(log, "cat")).toEqual([]);
  const page = await find(log, "red", { limit: 2 });
  expect(page.found.map(({ record }) => record.seq)).toEqual([4, 3]);
  expect(page.next).toBe(3);
  expect(await find(log, "red", { limit: 2, before: 3 })).toMatchObject({
    next: null,
    found: [{ text: "the red fox" }],
  });
  expect(await seqs(log, "red", { after: 3 })).toEqual([4]);
});

it("only for these workers, and of these types", async () => {
  const log = newLog();
  log.append([requested(), requested(V), text("hello"), text("hello", V)]);
  const ended = { state: "failed", reason: "hello" } as const;
  log.append([draft("worker_ended", ended)]);
  expect(await seqs(log, "hello", { worker_ids: [V] })).toEqual([4]);
  expect(await seqs(log, "hello", { worker_ids: [V, W], types: ["worker_ended"] })).toEqual([5]);
  expect(await seqs(log, "hello", { types: ["TextOutput", "ToolCall"] })).toEqual([4, 3]);
});

it("a record that was committed before a search is found, be it one or more than the loop takes", async () => {
  const log = newLog();
  log.append([requested(), text("first")]);
  expect(await seqs(log, "first")).toEqual([2]);
  log.append([text("second")]);
  expect(await seqs(log, "second")).toEqual([3]);
  log.append(Array.from({ length: SEARCH_INDEXED_INLINE_MAX_RECORDS + 1 }, (_, n) => text(`line ${n}`)));
  expect(await seqs(log, `"line ${SEARCH_INDEXED_INLINE_MAX_RECORDS}"`)).toEqual([log.head()]);
});

it("agrees with a look at each record, whatever is in the log", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom("a", "b", "cd", "cde", "É", "f-g", "1"), { maxLength: 4 }), {
        maxLength: 40,
      }),
      fc.constantFrom("a", "a b", "cd", "cd*", '"a b"', "e", "g", "1 a"),
      async (lines, search) => {
        const log = openLog({ file: newFile(true) });
        try {
          log.append([requested(), ...lines.map((words) => text(words.join(" ")))]);
          const wanted = [...search.matchAll(/"([^"]*)"|(\S+)/g)].map(
            ([, quoted, plain]) => quoted ?? plain!,
          );
          const isMatch = (line: string): boolean => {
            const words = ` ${line.toLowerCase().replaceAll("é", "e").replaceAll("-", " ")} `;
            return wanted.every((one) =>
              words.includes(one.endsWith("*") ? ` ${one.slice(0, -1)}` : ` ${one} `),
            );
          };
          const expected = lines.flatMap((words, at) => (isMatch(words.join(" ")) ? [at + 2] : [])).reverse();
          expect(await seqs(log, search, { types: ["TextOutput"] })).toEqual(expected);
        } finally {
          log.close();
        }
      },
    ),
    { numRuns: 25 },
  ));

const indexOf = (file: string): string => `${file}.words`;

it("a log that nobody has searched has no index, and one that was searched has a private one", async () => {
  const file = newFile();
  const log = newLog({ file });
  log.append([requested(), text("hello")]);
  expect(existsSync(indexOf(file))).toBe(false);
  await find(log, "hello");
  expect(statSync(indexOf(file)).mode & 0o777).toBe(0o600);
});

it("goes on over a restart, and is made anew where it is damaged, gone, or of another log", async () => {
  const file = newFile();
  const first = openLog({ file });
  first.append([requested(), text("hello")]);
  expect(await seqs(first, "hello")).toEqual([2]);
  first.close();
  const log = newLog({ file });
  expect(await seqs(log, "hello")).toEqual([2]);
  writeFileSync(indexOf(file), "no database, and longer than the header of one".repeat(100));
  expect(await seqs(log, "hello")).toEqual([2]);
  const other = new SQLite(indexOf(file));
  other.exec("UPDATE meta SET value = 'other' WHERE key = 'epoch'");
  other.close();
  expect(await seqs(log, "hello")).toEqual([2]);
  expect(log.trouble()).toBeUndefined();
});

const COLLECTED = { before_ms: 10_000, dry_run: false, archive: false, max_bytes: undefined };

it("retention takes its words out, too", async () => {
  const file = newFile();
  const log = newLog({ file, now: () => 1_000 });
  log.append([
    requested(),
    draft("worker_state_changed", { from: "pending", to: "starting", reason: "r", clock }),
  ]);
  log.append([text("secret plan"), text("another plan"), text("a last plan")]);
  log.append([draft("worker_ended", { state: "completed", reason: "the plan is over" })]);
  expect(await seqs(log, "plan")).toEqual([6, 5, 4, 3]);
  await log.gc(COLLECTED);
  expect(await seqs(log, "plan")).toEqual([6]);
  const index = new SQLite(indexOf(file), { readonly: true });
  expect(index.prepare("SELECT id FROM words_docsize ORDER BY id").pluck().all()).not.toContain(3);
  index.close();
});

it("an index that nobody has used for long is removed with the next retention", async () => {
  let now = 1_000;
  const file = newFile();
  const log = newLog({ file, now: () => now });
  log.append([requested(), text("hello")]);
  await find(log, "hello");
  await log.gc(COLLECTED);
  expect(existsSync(indexOf(file))).toBe(true);
  now += SEARCH_INDEX_KEPT_MS + 1;
  await log.gc(COLLECTED);
  expect(existsSync(indexOf(file))).toBe(false);
  expect(await seqs(log, "hello")).toEqual([2]);
});

it("searches that come at once are answered one after the other", async () => {
  const log = newLog();
  log.append([requested(), text("hello")]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => seqs(log, "hello")));
  expect(answers).toEqual(Array.from({ length: 20 }, () => [2]));
});
