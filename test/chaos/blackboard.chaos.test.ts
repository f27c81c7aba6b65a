/** Fifty clients race for the items of a blackboard while its daemon is killed: one holder at a time, no item lost. */
import { expect, test } from "vitest";
import type { ClaimReply, PostReply, ReleaseReply } from "../../src/protocol/replies/blackboard.ts";
import type { RequestInput } from "../../src/protocol/requests.ts";
import { full } from "../support/figures.ts";
import { type Daemon, type RecordOf, sleep, startDaemon, until } from "./support.ts";

const CLIENTS = 50;
const KILLS = full ? 20 : 6;
const ITEMS = full ? 300 : 90;
/** A daemon lives at most so long after its first answer. */
const LIFE_MAX_MS = 150;
const LEASE_MS = 20_000;
/** The lease of clients that forget what they hold. */
const SHORT_LEASE_MS = 1_000;
const TYPES = ["bb_posted", "bb_claimed", "bb_extended", "bb_released", "bb_expired"] as const;

type BoardRecord = RecordOf<(typeof TYPES)[number]>;

/** One hold as its client saw it, on the clock of the test. */
interface Hold {
  readonly item_id: string;
  readonly token: number;
  readonly asked_ms: number;
  readonly answered_ms: number;
  readonly lease_ms: number;
  release_asked_ms?: number;
}

const now = (): number => performance.now();
const REFUSALS = ["ITEM_NOT_FOUND", "ITEM_CLAIMED", "LEASE_LOST"] as const;
type Refusal = (typeof REFUSALS)[number];

class Race {
  daemon: Daemon;
  readonly holds: Hold[] = [];
  /** By item: the tokens with which a client was told that it is done. */
  readonly done = new Map<string, number[]>();
  readonly posted = new Set<string>();
  readonly faults: string[] = [];
  staleRefused = 0;
  private keys = 0;

  constructor(daemon: Daemon) {
    this.daemon = daemon;
  }

  readonly isOver = (): boolean => this.done.size === ITEMS || this.faults.length > 0;

  async post(n: number): Promise<void> {
    const item = { title: `item ${n}`, idempotency_key: `post-${n}` };
    const { reply } = await this.answered<PostReply>("bb/post", item);
    if (reply === undefined) this.faults.push(`post ${n} was refused`);
    else this.posted.add(reply.item_id);
  }

  async client(n: number): Promise<void> {
    while (!this.isOver()) {
      const hold = await this.claim(n % 5 === 0 ? SHORT_LEASE_MS : LEASE_MS);
      if (hold === undefined) await sleep(20);
      else if (hold.lease_ms === SHORT_LEASE_MS) await this.forget(hold);
      else await this.work(hold);
    }
  }

  private async claim(lease_ms: number): Promise<Hold | undefined> {
    const asked_ms = now();
    // Half of them ask for any item, and half race for one of the first that are left.
    const first = [...this.posted].filter((id) => !this.done.has(id)).slice(0, 5);
    const id = Math.random() < 0.5 ? undefined : first[Math.floor(Math.random() * first.length)];
    const asked = { lease_ms, idempotency_key: this.key(), ...(id === undefined ? {} : { id }) };
    const { reply } = await this.answered<ClaimReply>("bb/claim", asked);
    if (reply === undefined) return undefined;
    const { item_id, token } = reply;
    const hold = { item_id, token, asked_ms, answered_ms: now(), lease_ms };
    this.holds.push(hold);
    return hold;
  }

  /** Its lease passes, and it comes back: it is refused whatever became of the item. */
  private async forget({ item_id: id, token, answered_ms }: Hold): Promise<void> {
    await sleep(answered_ms + SHORT_LEASE_MS + 50 - now());
    await this.refused("bb/release", { id, token, done: true });
    await this.refused("bb/claim", { id, token });
  }

  private async work(hold: Hold): Promise<void> {
    const { item_id: id, token } = hold;
    await sleep(Math.random() * 20);
    await this.refused("bb/release", { id, token: token - 1 });
    if (Math.random() < 0.3) await this.answered("bb/claim", { id, token, lease_ms: LEASE_MS });
    const done = Math.random() < 0.8;
    hold.release_asked_ms = now();
    const asked = { id, token, done, idempotency_key: this.key() };
    const { reply, refusal } = await this.answered<ReleaseReply>("bb/release", asked);
    if (reply !== undefined && done) this.done.set(id, [...(this.done.get(id) ?? []), token]);
    // No lease is over before its time.
    if (refusal !== undefined && now() < hold.asked_ms + hold.lease_ms)
      this.faults.push(`${id} was taken from token ${token}: ${refusal}`);
  }

  private async refused(command: "bb/release" | "bb/claim", data: object): Promise<void> {
    const { reply } = await this.answered(command, data as RequestInput<typeof command>);
    if (reply === undefined) this.staleRefused += 1;
    else this.faults.push(`${command} with a stale token was granted: ${JSON.stringify(data)}`);
  }

  /** Over kills of the daemon, with the same key. */
  private async answered<Reply>(
    command: "bb/post" | "bb/claim" | "bb/release",
    data: RequestInput<typeof command>,
  ): Promise<{ readonly reply?: Reply; readonly refusal?: Refusal }> {
    for (;;)
      try {
        return { reply: await this.daemon.request<Reply>(command, data) };
      } catch (cause) {
        const { message } = cause as Error;
        const refusal = REFUSALS.find((code) => message.includes(`"code":"${code}"`));
        if (refusal !== undefined) return { refusal };
        await sleep(5);
      }
  }

  private key(): string {
    this.keys += 1;
    return `key-${this.keys}`;
  }
}

/** The rules of the blackboard, read from its records alone. */
const brokenRules = (records: readonly BoardRecord[]): string[] => {
  const broken: string[] = [];
  /** The token of the holder; null where nobody holds it, undefined where it is gone or was never there. */
  const holder = new Map<string, number | null>();
  for (const { type, seq, payload } of records) {
    const { item_id } = payload;
    const before = holder.get(item_id);
    const isOf = "token" in payload && payload.token === before;
    const isRight =
      type === "bb_posted"
        ? before === undefined
        : type === "bb_claimed"
          ? before === null
          : isOf && before !== null;
    if (!isRight) broken.push(`${type} at ${seq} of ${item_id}: held by ${before}`);
    if (type === "bb_posted") holder.set(item_id, null);
    if (type === "bb_claimed") holder.set(item_id, seq);
    if (type === "bb_released" && "done" in payload && payload.done) holder.delete(item_id);
    else if (type === "bb_released" || type === "bb_expired") holder.set(item_id, null);
  }
  return broken;
};

/** Two clients that were told they hold an item, the later one before the earlier one may have lost it. */
const overlaps = (holds: readonly Hold[]): string[] => {
  const found: string[] = [];
  const byItem = Map.groupBy(holds, ({ item_id }) => item_id);
  for (const [item_id, ofOne] of byItem) {
    ofOne.sort((a, b) => a.token - b.token);
    for (const [at, { answered_ms, token }] of ofOne.entries()) {
      const earlier = ofOne[at - 1];
      if (earlier === undefined) continue;
      const over = earlier.asked_ms + earlier.lease_ms;
      if (answered_ms < Math.min(over, earlier.release_asked_ms ?? over))
        found.push(`${item_id}: ${token} beside ${earlier.token}`);
    }
  }
  return found;
};

test(`${CLIENTS} clients race for ${ITEMS} items over ${KILLS} kills of the daemon: one holder at a time, a stale token is refused, no item is lost`, {
  timeout: 600_000,
}, async () => {
  let daemon = await startDaemon();
  const { stateDir } = daemon;
  const race = new Race(daemon);
  const clients = Promise.all([
    ...Array.from({ length: ITEMS }, (_, n) => race.post(n)),
    ...Array.from({ length: CLIENTS }, (_, n) => race.client(n)),
  ]);
  for (let kills = 1; kills <= KILLS; kills += 1) {
    const goal = Math.floor((ITEMS * kills) / (KILLS + 1));
    await until("some more are done", () => race.done.size >= goal || race.faults.length > 0);
    await sleep(Math.random() * LIFE_MAX_MS);
    await daemon.kill9();
    daemon = await startDaemon(stateDir);
    race.daemon = daemon;
  }
  await clients;
  expect(race.faults).toEqual([]);
  expect(race.posted.size).toBe(ITEMS);
  expect(overlaps(race.holds)).toEqual([]);

  const records = await daemon.history(TYPES);
  expect(brokenRules(records)).toEqual([]);
  const claims = new Map(
    records.flatMap((record) => (record.type === "bb_claimed" ? [[record.seq, record.payload.item_id]] : [])),
  );
  for (const { item_id, token } of race.holds) expect(claims.get(token)).toBe(item_id);
  const doneOnce = records.flatMap((record) =>
    record.type === "bb_released" && record.payload.done ? [record.payload.item_id] : [],
  );
  expect(doneOnce.sort()).toEqual([...race.posted].sort());
  expect(records.filter(({ type }) => type === "bb_posted")).toHaveLength(ITEMS);
  for (const tokens of race.done.values()) expect(tokens).toHaveLength(1);
  expect(race.staleRefused).toBeGreaterThan(ITEMS / 2);
});
