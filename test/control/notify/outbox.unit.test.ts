/** Which notification goes where and when: filters, quiet hours, debounce, retries, and what is given up. */
import { describe, expect, it } from "vitest";
import {
  NOTIFY_ATTEMPTS_MAX,
  NOTIFY_DEAD_MAX,
  NOTIFY_DEBOUNCE_MS,
  NOTIFY_HOSTS_MAX,
  NOTIFY_RETRY_MAX_MS,
  NOTIFY_RETRY_MIN_MS,
} from "../../../src/base/limits.ts";
import { isWanted } from "../../../src/control/notify/choose.ts";
import type { Notice } from "../../../src/control/notify/notice.ts";
import {
  admitted,
  atPlace,
  dueAt,
  dueOf,
  EMPTY_OUTBOX,
  type NoticeBox,
  revived,
  settledSending,
} from "../../../src/control/notify/outbox.ts";
import { quietUntil } from "../../../src/control/notify/quiet.ts";
import { Notifications } from "../../../src/protocol/notifications.ts";

const targetsOf = (targets: object) => Notifications.parse({ targets }).targets;
const desk = { command: { argv: ["true"] } };
const TARGETS = targetsOf({ desk });

const notice = (id: string, more: Partial<Notice> = {}): Notice => ({
  id,
  kind: "failed",
  at: "2026-11-27T00:00:00.000Z",
  subject: {
    worker_id: "W",
    name: "fixer",
    labels: { team: "web" },
    within: ["W", "fixer", "crew"],
    is_spawned: false,
  },
  title: "fixer failed",
  text: "",
  asks: null,
  command: "agent why fixer",
  ...more,
});
const asking = (hold: string) =>
  notice(hold, { kind: "approval", asks: { hold, answers: ["allow", "deny"] } });

describe("a target gets", () => {
  const wants = (more: object, one: Notice = notice("1")) =>
    isWanted(targetsOf({ one: { ...desk, ...more } }).one!, one);
  const completed = notice("1", { kind: "completed" });
  const spawned = { ...notice("1").subject, is_spawned: true };
  it.each<[string, object, Notice, boolean]>([
    ["a failure", {}, notice("1"), true],
    ["no completion that it did not ask for", {}, completed, false],
    ["a completion that it asked for", { events: ["completed"] }, completed, true],
    ["nothing that it left out", { events: ["approval"] }, notice("1"), false],
    ["what is below its supervisor", { under: ["crew"] }, notice("1"), true],
    ["nothing of another", { under: ["cre"] }, notice("1"), false],
    ["workers with its label", { labels: { team: "web" } }, notice("1"), true],
    ["none with another", { labels: { team: "core" } }, notice("1"), false],
    ["no end of an agent's own worker", {}, notice("1", { subject: spawned }), false],
    ["such an end where it asked for it", { spawned: true }, notice("1", { subject: spawned }), true],
    ["each question, also of an agent's own worker", {}, { ...asking("a"), subject: spawned }, true],
    ["news of the daemon whatever its filters", { under: ["x"] }, notice("1", { kind: "daemon" }), true],
  ])("%s", (_, more, one, is) => expect(wants(more, one)).toBe(is));
});

describe("quiet hours", () => {
  const quiet = { from: "22:00", to: "07:00", zone: "Europe/Berlin" };
  const at = (text: string) => Date.parse(text);
  it.each([
    ["the evening", "2026-11-27T20:59:59Z", undefined],
    ["their first minute", "2026-11-27T21:00:00Z", "2026-11-28T06:00:00Z"],
    ["the middle of the night", "2026-11-28T02:30:20Z", "2026-11-28T06:00:00Z"],
    ["their last minute", "2026-11-28T05:59:59Z", "2026-11-28T06:00:00Z"],
    ["the morning", "2026-11-28T06:00:00Z", undefined],
    ["a summer's evening", "2026-07-01T20:00:00Z", "2026-07-02T05:00:00Z"],
  ])("%s", (_, now, end) =>
    expect(quietUntil(quiet, "failed", at(now))).toBe(end === undefined ? undefined : at(end)),
  );
  it("let through what they except", () =>
    expect(
      quietUntil({ ...quiet, except: ["daemon"] }, "daemon", at("2026-11-28T02:00:00Z")),
    ).toBeUndefined());
  it("delay, and lose nothing", () => {
    const targets = targetsOf({ desk: { ...desk, quiet } });
    const night = at("2026-11-28T02:00:00Z");
    const [one] = admitted(EMPTY_OUTBOX, notice("1"), targets, night).pending;
    expect(dueAt(one!, targets, night)).toBe(at("2026-11-28T06:00:00Z"));
  });
});

describe("the outbox", () => {
  const due = (outbox: NoticeBox, now: number, busy: readonly string[] = []) =>
    dueOf(outbox, TARGETS, new Set(busy), now).map(({ notice: { id } }) => id);

  it("waits a moment, and sends one at a time to a target, the oldest first", () => {
    const two = admitted(admitted(EMPTY_OUTBOX, asking("a"), TARGETS, 0), asking("b"), TARGETS, 0);
    expect(due(two, NOTIFY_DEBOUNCE_MS - 1)).toEqual([]);
    expect(due(two, NOTIFY_DEBOUNCE_MS)).toEqual(["a"]);
    expect(due(two, NOTIFY_DEBOUNCE_MS, ["desk"])).toEqual([]);
  });

  it("tells news of the daemons of two hosts as two", () => {
    const ofDaemon = (id: string, host: string) => notice(id, { kind: "daemon", host });
    const first = admitted(EMPTY_OUTBOX, ofDaemon("a", "build"), TARGETS, 0);
    expect(admitted(first, ofDaemon("b", "box"), TARGETS, 0).pending).toHaveLength(2);
    expect(admitted(first, ofDaemon("b", "build"), TARGETS, 0).pending).toHaveLength(1);
  });

  it("has the newest place in the log of each host, of the newest hosts", () => {
    const placed = atPlace(atPlace(EMPTY_OUTBOX, "s", "e:1"), "t", "e:2");
    expect(atPlace(placed, "s", "e:3").hosts).toEqual({ s: "e:3", t: "e:2" });
    expect(atPlace(placed, "s", undefined).hosts).toEqual({ t: "e:2" });
    const stores = Array.from({ length: NOTIFY_HOSTS_MAX }, (_, at) => `new-${at}`);
    const full = stores.reduce((outbox, store) => atPlace(outbox, store, "e:1"), placed);
    expect(Object.keys(full.hosts ?? {})).toEqual(stores);
  });

  it("tells news of one worker and kind as one, at the time of the first", () => {
    const outbox = [1, 2, 3].reduce((all, at) => admitted(all, notice(`n${at}`), TARGETS, at), EMPTY_OUTBOX);
    expect(outbox.pending).toMatchObject([
      { notice: { id: "n3" }, earlier: 2, due_ms: 1 + NOTIFY_DEBOUNCE_MS },
    ]);
  });

  it("never joins two questions, nor news to one that was tried", () => {
    const asked = admitted(admitted(EMPTY_OUTBOX, asking("a"), TARGETS, 0), asking("b"), TARGETS, 1);
    expect(asked.pending).toHaveLength(2);
    const tried = settledSending(
      admitted(EMPTY_OUTBOX, notice("n1"), TARGETS, 0),
      admitted(EMPTY_OUTBOX, notice("n1"), TARGETS, 0).pending[0]!,
      { ok: false, reason: "no" },
      { now_ms: 0, random: 0 },
    );
    expect(admitted(tried, notice("n2"), TARGETS, 1).pending).toHaveLength(2);
  });

  it("tries again later each time, and gives up after its attempts", () => {
    let outbox = admitted(EMPTY_OUTBOX, notice("n1"), TARGETS, 0);
    let now = 0;
    const waits: number[] = [];
    for (let attempt = 1; outbox.pending.length > 0; attempt += 1) {
      outbox = settledSending(
        outbox,
        outbox.pending[0]!,
        { ok: false, reason: `no ${attempt}` },
        { now_ms: now, random: 0 },
      );
      const next = outbox.pending[0]?.due_ms;
      if (next !== undefined) waits.push(next - now);
      now = next ?? now;
    }
    expect(waits).toHaveLength(NOTIFY_ATTEMPTS_MAX - 1);
    expect(waits[0]).toBe(NOTIFY_RETRY_MIN_MS);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(Math.max(...waits)).toBeLessThanOrEqual(NOTIFY_RETRY_MAX_MS);
    expect(outbox.dead).toMatchObject([
      {
        notice: { id: "n1" },
        target: "desk",
        attempts: NOTIFY_ATTEMPTS_MAX,
        reason: `no ${NOTIFY_ATTEMPTS_MAX}`,
      },
    ]);
  });

  it("gives up at once what no attempt can send, and keeps the newest of the dead", () => {
    let outbox = EMPTY_OUTBOX;
    for (let at = 0; at <= NOTIFY_DEAD_MAX; at += 1) {
      outbox = admitted(outbox, asking(`a${at}`), TARGETS, 0);
      outbox = settledSending(
        outbox,
        outbox.pending[0]!,
        { ok: false, reason: "gone", isFinal: true },
        { now_ms: 0, random: 0 },
      );
    }
    const { outbox: after, again } = revived(outbox, ({ notice }) => notice.id === "a2", 7);
    expect(again.map(({ notice }) => notice.id)).toEqual(["a2"]);
    expect(after.pending).toMatchObject([
      { target: "desk", notice: { id: "a2" }, due_ms: 7, attempts: 0, earlier: 0 },
    ]);
    expect(after.dead).toHaveLength(NOTIFY_DEAD_MAX - 1);
    expect(outbox.pending).toEqual([]);
    expect([outbox.dead.length, outbox.dead[0]?.notice.id]).toEqual([NOTIFY_DEAD_MAX, "a1"]);
  });
});
