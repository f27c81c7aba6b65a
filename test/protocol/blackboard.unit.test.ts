/** The fold of the blackboard: records about a lease that is over change nothing. */
import { expect, test } from "vitest";
import { type BlackboardItem, foldItem } from "../../src/protocol/blackboard.ts";
import { blackboardStream, namespaceOf } from "../../src/protocol/blackboard-records.ts";
import type { LogRecord } from "../../src/protocol/records.ts";

const clock = { boot_id: "b", mono_ns: "0" };
const record = (type: string, seq: number, payload: object): LogRecord =>
  ({
    type,
    seq,
    id: String(seq),
    stream: blackboardStream("jobs"),
    version: seq,
    recorded_at: new Date(seq).toISOString(),
    correlation_id: "",
    causation_id: "",
    payload: { item_id: "A", clock, ...payload },
  }) as unknown as LogRecord;

const said = { title: "t", body: null, data: { n: 1 }, tags: ["x"], artifacts: [], by: "user" };
const posted = record("bb_posted", 1, { ...said, ttl_ms: 10 });
const claimed = record("bb_claimed", 2, { by: "worker:W", lease_ms: 5 });
const fold = (...records: readonly LogRecord[]): BlackboardItem | undefined =>
  records.reduce<BlackboardItem | undefined>(foldItem, undefined);

test("a claim makes its seq the token, and a release frees the item or ends it", () => {
  expect(fold(posted)).toMatchObject({ ...said, ns: "jobs", seq: 1, claims: 0, lease: null });
  expect(fold(posted, claimed)).toMatchObject({ claims: 1, lease: { token: 2, by: "worker:W" } });
  expect(fold(posted, claimed, record("bb_released", 3, { token: 2, done: false }))?.lease).toBeNull();
  expect(fold(posted, claimed, record("bb_released", 3, { token: 2, done: true }))).toBeUndefined();
});

test("an extension moves the deadline and keeps the token", () => {
  const extended = fold(posted, claimed, record("bb_extended", 3, { token: 2, lease_ms: 9 }));
  expect(extended?.lease).toMatchObject({
    token: 2,
    deadline: { after_ms: 9, at: new Date(3).toISOString() },
  });
});

test("a lease or a time to live that is over frees the item, or takes it away", () => {
  expect(fold(posted, claimed, record("bb_expired", 3, { what: "lease", token: 2 }))?.lease).toBeNull();
  expect(fold(posted, record("bb_expired", 3, { what: "item", token: null }))).toBeUndefined();
});

test.each(["bb_extended", "bb_released", "bb_expired"])("%s with another token changes nothing", (type) => {
  const before = fold(posted, claimed);
  expect(foldItem(before, record(type, 3, { what: "lease", token: 1, done: true, lease_ms: 1 }))).toBe(
    before,
  );
});

test("nothing brings back an item that is gone", () => {
  expect(fold(claimed)).toBeUndefined();
  expect(foldItem(undefined, record("agent.event", 9, {}))).toBeUndefined();
});

test("a stream of something else has no namespace", () => {
  expect(namespaceOf(blackboardStream("a:b"))).toBe("a:b");
  expect(namespaceOf("worker:A")).toBeUndefined();
});
