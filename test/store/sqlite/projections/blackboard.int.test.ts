/** Items of the blackboard as rows: found by words and tags, the same after a rebuild, and with their artifacts named until they are gone. */
import { expect, test } from "vitest";
import { blackboardStream } from "../../../../src/protocol/blackboard-records.ts";
import type { RecordDraft } from "../../../../src/protocol/records.ts";
import { wordsOf } from "../../../../src/store/sqlite/projections/blackboard.ts";
import { referencedDigests } from "../../../../src/store/sqlite/references.ts";
import type { Store } from "../../../../src/store/upkeep.ts";
import type { ItemQuery } from "../../../../src/store/views.ts";
import { clock, newFile, newLog } from "../support.ts";

const digest = (n: number): string => `sha256:${String(n).repeat(64)}`;
let file = "";
let store: Store;

const open = (): Store => {
  file = newFile();
  store = newLog({ file });
  return store;
};

const about = (ns: string) => ({ stream: blackboardStream(ns) });
const posted = (item_id: string, said: object = {}, ns = "default"): RecordDraft => ({
  ...about(ns),
  type: "bb_posted",
  payload: {
    item_id,
    title: null,
    body: null,
    data: null,
    tags: [],
    artifacts: [],
    ttl_ms: 1_000,
    by: "user",
    clock,
    ...said,
  },
});
const claimed = (item_id: string): RecordDraft => ({
  ...about("default"),
  type: "bb_claimed",
  payload: { item_id, by: "worker:W", lease_ms: 1_000, clock },
});
const released = (item_id: string, token: number, done: boolean): RecordDraft => ({
  ...about("default"),
  type: "bb_released",
  payload: { item_id, token, done, by: "worker:W", clock },
});
const found = (query: Partial<ItemQuery> = {}): string[] =>
  store.items({ ns: "default", tags: [], after: 0, limit: 10, ...query }).map(({ item_id }) => item_id);

test("items are found by words, by beginnings of words, by tags and by state, oldest first", () => {
  open().append([
    posted("A", { title: "Flaky login test", tags: ["ci", "rust"] }),
    posted("B", { body: "the Login page\nis slow", data: { page: "front-door" } }),
    posted("C", { title: "unrelated", tags: ["ci"] }),
    posted("D", { title: "login" }, "other"),
    claimed("B"),
  ]);
  expect(found()).toEqual(["A", "B", "C"]);
  expect(found({ text: "login" })).toEqual(["A", "B"]);
  expect(found({ text: "LOGIN slow" })).toEqual(["B"]);
  expect(found({ text: "log" })).toEqual([]);
  expect(found({ text: "log*" })).toEqual(["A", "B"]);
  expect(found({ text: "front-door" })).toEqual(["B"]);
  expect(found({ text: "rust" })).toEqual(["A"]);
  expect(found({ text: "null" })).toEqual([]);
  expect(found({ text: '"' })).toEqual([]);
  expect(found({ text: 'login" OR "unrelated' })).toEqual([]);
  expect(found({ tags: ["ci"] })).toEqual(["A", "C"]);
  expect(found({ tags: ["rust", "ci"] })).toEqual(["A"]);
  expect(found({ state: "free" })).toEqual(["A", "C"]);
  expect(found({ state: "claimed", text: "login" })).toEqual(["B"]);
  const [first] = store.items({ ns: "default", tags: [], after: 0, limit: 1 });
  expect(found({ after: first!.seq })).toEqual(["B", "C"]);
  expect(store.namespaces(10)).toEqual(["default", "other"]);
  expect(store.countItems("default", 2)).toBe(2);
  expect(store.itemsWithPrefix("A", 5)).toEqual(["A"]);
});

test("a row follows the records of its item, and its words go with it", () => {
  const [, claim] = open().append([posted("A", { title: "login" }), claimed("A")]);
  expect(store.item("A")).toMatchObject({ claims: 1, lease: { token: claim!.seq, by: "worker:W" } });
  store.append([released("A", claim!.seq - 1, true)]);
  expect(store.item("A")?.lease?.token).toBe(claim!.seq);
  store.append([released("A", claim!.seq, true)]);
  expect(store.item("A")).toBeUndefined();
  expect(found({ text: "login" })).toEqual([]);
});

test("a rebuild gives the same rows, and they are found", async () => {
  const [, claim] = open().append([posted("A", { title: "login", data: [1] }), claimed("A"), posted("B")]);
  const before = [store.item("A"), store.item("B")];
  store.rebuild();
  expect([store.item("A"), store.item("B")]).toEqual(before);
  await store.rebuildAside();
  expect(found({ text: "login" })).toEqual(["A"]);
  expect(before[0]?.lease?.token).toBe(claim!.seq);
  expect(store.check().findings).toEqual([]);
});

test("an item names its artifacts until it is gone", () => {
  const [, , claim] = open().append([
    posted("A", { artifacts: [digest(1)] }),
    posted("B", { artifacts: [digest(2), digest(3)] }),
    claimed("A"),
  ]);
  const named = () => [...referencedDigests(file)].sort();
  expect(named()).toEqual([digest(1), digest(2), digest(3)]);
  store.append([released("A", claim!.seq, false)]);
  expect(named()).toContain(digest(1));
  const [again] = store.append([claimed("A")]);
  store.append([released("A", again!.seq, true)]);
  expect(named()).toEqual([digest(2), digest(3)]);
  store.append([
    { ...about("default"), type: "bb_expired", payload: { item_id: "B", what: "item", token: null, clock } },
  ]);
  expect(named()).toEqual([]);
});

test("words are quoted for the index, so that none of them is an operator", () => {
  expect(wordsOf("a OR b")).toBe('"a" "OR" "b"');
  expect(wordsOf('x" NEAR(*')).toBe('"x " "NEAR("*');
  expect(wordsOf("  ** ")).toBeUndefined();
});
