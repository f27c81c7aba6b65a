/** The blackboard through the whole runtime, on a real log and a clock that the test moves. */
import { it } from "@effect/vitest";
import { Effect, Fiber, Stream } from "effect";
import { describe, expect } from "vitest";
import { BB_ITEMS_MAX } from "../../../src/base/limits.ts";
import { blackboardStream } from "../../../src/protocol/blackboard-records.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { type LogRecord, type RecordDraft, workerStream } from "../../../src/protocol/records.ts";
import { type RequestInput, Requests } from "../../../src/protocol/requests.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { elapse, memoryMachine, memoryRuntime, nth, settled, spec } from "../memory-runtime.ts";

/** As the daemon hands it on. */
const board = ({ blackboard }: RuntimeApi, who: { readonly worker?: string } = {}) => {
  const caller =
    who.worker === undefined
      ? {}
      : { caller: { type: "worker", worker_id: who.worker, incarnation: 1 } as const };
  return {
    post: (item: RequestInput<"bb/post">) =>
      blackboard.post({ ...Requests["bb/post"].parse(item), ...caller }),
    claim: (asked: RequestInput<"bb/claim"> = {}) =>
      blackboard.claim({ ...Requests["bb/claim"].parse(asked), ...caller }),
    release: (asked: RequestInput<"bb/release">) =>
      blackboard.release({ ...Requests["bb/release"].parse(asked), ...caller }),
    list: (asked: RequestInput<"bb/list"> = {}) => blackboard.list(Requests["bb/list"].parse(asked)),
    search: (asked: RequestInput<"bb/search">) => blackboard.list(Requests["bb/search"].parse(asked)),
  };
};

/** Only the codes of those that failed. */
const outcome = <A>(work: Effect.Effect<A, HoldfastError>) =>
  Effect.match(work, { onSuccess: (value) => value, onFailure: ({ code }) => code });

const typesIn = (read: (after: number, limit: number) => { readonly records: readonly LogRecord[] }) =>
  read(0, 1_000)
    .records.map(({ type }) => type)
    .filter((type) => type.startsWith("bb_"));

describe("an item", () => {
  it.effect("is posted, found, claimed by one, and done", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim, list, search, release } = board(runtime);
      const { item_id } = yield* post({ title: "Fix the login", tags: ["rust", "rust"], data: { issue: 7 } });
      expect(yield* list()).toMatchObject({
        items: [
          {
            item_id,
            ns: "default",
            title: "Fix the login",
            tags: ["rust"],
            data: { issue: 7 },
            state: "free",
            by: "user",
            lease: null,
          },
        ],
      });
      expect((yield* search({ text: "login" })).items).toHaveLength(1);
      expect((yield* search({ text: "logout" })).items).toHaveLength(0);
      const claimed = yield* claim({ id: item_id.slice(0, 20).toLowerCase() });
      expect(claimed).toMatchObject({ item_id, effect: "created", item: { state: "claimed", claims: 1 } });
      expect(log.read(claimed.token - 1, 1).records[0]).toMatchObject({
        seq: claimed.token,
        type: "bb_claimed",
      });
      const refused = yield* Effect.flip(claim({ id: item_id }));
      expect(refused).toMatchObject({ code: "ITEM_CLAIMED", row: { v1: "EPOLICY" } });
      expect(yield* outcome(claim())).toBe("ITEM_NOT_FOUND");
      expect(yield* outcome(release({ id: item_id, token: claimed.token + 1 }))).toBe("LEASE_LOST");
      expect(yield* release({ id: item_id, token: claimed.token, done: true })).toEqual({
        item_id,
        done: true,
        effect: "deleted",
      });
      const gone = yield* Effect.flip(claim({ id: item_id }));
      expect(gone).toMatchObject({ code: "ITEM_NOT_FOUND", row: { v1: "ENOTFOUND" } });
      expect((yield* list()).items).toEqual([]);
    }),
  );

  it.effect("goes to one of fifty who ask for it at once, and twenty items to twenty of fifty", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { post, claim } = board(runtime);
      const { item_id } = yield* post({ title: "one", ns: "single" });
      const race = <A>(work: () => Effect.Effect<A, HoldfastError>) =>
        Effect.all(
          Array.from({ length: 50 }, () => outcome(work())),
          { concurrency: "unbounded" },
        );
      const singles = yield* race(() => claim({ id: item_id }));
      expect(singles.filter((one) => one === "ITEM_CLAIMED")).toHaveLength(49);
      for (let n = 0; n < 20; n += 1) yield* post({ title: `item ${n}`, tags: n % 2 === 0 ? ["even"] : [] });
      const all = yield* race(() => claim());
      const won = all.flatMap((one) => (typeof one === "string" ? [] : [one]));
      expect(new Set(won.map((one) => one.item_id)).size).toBe(20);
      expect(new Set(won.map((one) => one.token)).size).toBe(20);
      expect(all.filter((one) => one === "ITEM_NOT_FOUND")).toHaveLength(30);
    }),
  );

  it.effect("is given out oldest first, of the namespace and with the tags that are asked for", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { post, claim, list } = board(runtime);
      yield* post({ title: "elsewhere", ns: "other", tags: ["rust"] });
      const first = yield* post({ title: "1" });
      const tagged = yield* post({ title: "2", tags: ["rust", "ci"] });
      expect((yield* claim({ tags: ["rust"] })).item_id).toBe(tagged.item_id);
      expect((yield* claim({})).item_id).toBe(first.item_id);
      expect((yield* list({ ns: "other", state: "free" })).items).toHaveLength(1);
      expect((yield* list({ state: "claimed" })).items).toHaveLength(2);
      const page = yield* list({ limit: 1 });
      expect(page.items.map(({ title }) => title)).toEqual(["1"]);
      expect((yield* list({ limit: 1, cursor: page.cursor! })).items.map(({ title }) => title)).toEqual([
        "2",
      ]);
    }),
  );

  it.effect("is named by a prefix that no other has", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { post, claim } = board(runtime);
      const { item_id } = yield* post({ title: "1" });
      yield* post({ title: "2" });
      // Four characters of a ULID last twelve days; eight last a second, which can end between the two.
      expect(yield* outcome(claim({ id: item_id.slice(0, 4) }))).toBe("AMBIGUOUS_ID");
      expect(yield* outcome(claim({ id: item_id.slice(0, 2) }))).toBe("ITEM_NOT_FOUND");
    }),
  );
});

describe("a lease", () => {
  it.effect("ends by its alarm; its token is refused from then on, and the next one is higher", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim, release, list } = board(runtime);
      const { item_id: id } = yield* post({ title: "1" });
      const { token } = yield* claim({ id, lease_ms: 10_000 });
      yield* elapse(9);
      expect(typesIn(log.read)).toEqual(["bb_posted", "bb_claimed"]);
      yield* elapse(1);
      expect(typesIn(log.read)).toEqual(["bb_posted", "bb_claimed", "bb_expired"]);
      expect((yield* list()).items[0]).toMatchObject({ state: "free", lease: null, claims: 1 });
      expect(yield* outcome(release({ id, token }))).toBe("LEASE_LOST");
      expect(yield* outcome(claim({ id, token }))).toBe("LEASE_LOST");
      const again = yield* claim({ id });
      expect(again.token).toBeGreaterThan(token);
      expect(yield* outcome(release({ id, token, done: true }))).toBe("LEASE_LOST");
      yield* release({ id, token: again.token });
      expect((yield* list()).items[0]).toMatchObject({ state: "free", claims: 2 });
    }),
  );

  it.effect("is extended by its token, which stays", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim, release } = board(runtime);
      const { item_id: id } = yield* post({ title: "1" });
      const { token } = yield* claim({ id, lease_ms: 10_000 });
      yield* elapse(8);
      expect(yield* claim({ id, token, lease_ms: 10_000 })).toMatchObject({ token, effect: "updated" });
      yield* elapse(8);
      expect(yield* outcome(claim({ id }))).toBe("ITEM_CLAIMED");
      yield* release({ id, token });
      expect(typesIn(log.read)).toEqual(["bb_posted", "bb_claimed", "bb_extended", "bb_released"]);
    }),
  );

  it.effect("goes on over a restart of the daemon, and while none runs", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { item_id: id } = yield* board(first.runtime).post({ title: "1" });
      const { token } = yield* board(first.runtime).claim({ id, lease_ms: 10_000 });
      yield* elapse(4);
      yield* first.crash;
      const second = yield* machine.boot();
      expect(yield* outcome(board(second.runtime).claim({ id }))).toBe("ITEM_CLAIMED");
      expect(yield* board(second.runtime).claim({ id, token, lease_ms: 10_000 })).toMatchObject({ token });
      yield* second.crash;
      yield* elapse(11);
      expect(typesIn(machine.log.read)).not.toContain("bb_expired");
      const third = yield* machine.boot();
      yield* elapse(1);
      expect(typesIn(machine.log.read).at(-1)).toBe("bb_expired");
      expect(yield* outcome(board(third.runtime).release({ id, token }))).toBe("LEASE_LOST");
      expect((yield* board(third.runtime).claim({ id })).token).toBeGreaterThan(token);
    }),
  );

  it.effect("keeps its item beyond the time to live, and no longer", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim, list } = board(runtime);
      const { item_id: id } = yield* post({ title: "1", ttl_ms: 5_000 });
      yield* post({ title: "2", ttl_ms: 5_000 });
      yield* claim({ id, lease_ms: 10_000 });
      yield* elapse(5);
      expect((yield* list()).items.map(({ title }) => title)).toEqual(["1"]);
      yield* elapse(5);
      expect((yield* list()).items).toEqual([]);
      expect(typesIn(log.read).slice(-3)).toEqual(["bb_expired", "bb_expired", "bb_expired"]);
    }),
  );

  it.effect("is decided by the clock where a request comes before the alarm", () =>
    Effect.gen(function* () {
      const { runtime, services, log } = yield* memoryRuntime;
      const { post, claim, release } = board(runtime);
      const { item_id: id } = yield* post({ title: "1" });
      const { token } = yield* claim({ id, lease_ms: 2_000 });
      // The store takes nothing when the alarm rings.
      const commit = log.commit;
      (services.log as { commit: typeof commit }).commit = () =>
        Promise.reject(new HoldfastError("STORE_FAILED", "no"));
      yield* elapse(2);
      (services.log as { commit: typeof commit }).commit = commit;
      expect(yield* outcome(release({ id, token }))).toBe("LEASE_LOST");
      expect(typesIn(log.read).at(-1)).toBe("bb_expired");
    }),
  );
});

describe("an idempotency key", () => {
  it.effect("makes a repeat of a post, a claim and a release do nothing, over a restart too", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const keyed = { idempotency_key: "k" };
      const { item_id: id } = yield* board(first.runtime).post({ title: "1", ...keyed });
      const { token } = yield* board(first.runtime).claim(keyed);
      yield* first.crash;
      const { runtime } = yield* machine.boot();
      const { post, claim, release } = board(runtime);
      expect(yield* post({ title: "1", ...keyed })).toEqual({ item_id: id, ns: "default", effect: "noop" });
      expect(yield* outcome(post({ title: "2", ...keyed }))).toBe("VERSION_CONFLICT");
      expect(yield* claim({ id, ...keyed })).toMatchObject({ item_id: id, token, effect: "noop" });
      const other = yield* post({ title: "3" });
      expect(yield* outcome(claim({ id: other.item_id, ...keyed }))).toBe("VERSION_CONFLICT");
      yield* release({ id, token, done: true, ...keyed });
      expect(yield* release({ id, token, done: true, ...keyed })).toMatchObject({ effect: "noop" });
      expect(yield* outcome(release({ id, token, ...keyed }))).toBe("VERSION_CONFLICT");
      expect(yield* outcome(release({ id, token, done: true }))).toBe("ITEM_NOT_FOUND");
      expect(yield* outcome(claim(keyed))).toBe("ITEM_NOT_FOUND");
      expect(typesIn(machine.log.read).filter((type) => type === "bb_claimed")).toHaveLength(1);
    }),
  );

  it.effect("is told that its claim is over, and gets no other item", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { post, claim } = board(runtime);
      yield* post({ title: "1" });
      yield* claim({ lease_ms: 1_000, idempotency_key: "k" });
      yield* elapse(1);
      expect(yield* outcome(claim({ idempotency_key: "k" }))).toBe("LEASE_LOST");
    }),
  );

  it.effect("is used by two at once: both get the same item", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { post, claim, list } = board(runtime);
      const twice = <A>(work: () => Effect.Effect<A, HoldfastError>) =>
        Effect.all([work(), work(), work()], { concurrency: "unbounded" });
      const posts = yield* twice(() => post({ title: "1", idempotency_key: "p" }));
      expect(new Set(posts.map(({ item_id }) => item_id)).size).toBe(1);
      yield* post({ title: "2" });
      const claims = yield* twice(() => claim({ idempotency_key: "c" }));
      expect(new Set(claims.map(({ token }) => token)).size).toBe(1);
      expect((yield* list({ state: "claimed" })).items).toHaveLength(1);
    }),
  );
});

describe("the caller", () => {
  it.effect(
    "is on record: a worker by its id; one that was killed claims nothing, and may still release",
    () =>
      Effect.gen(function* () {
        const { runtime, memory } = yield* memoryRuntime;
        const { id: worker } = yield* runtime.spawn(spec({ name: "fixer" }));
        yield* nth(memory, 1);
        const own = board(runtime, { worker });
        const { item_id: id } = yield* own.post({ title: "1" });
        const { token } = yield* own.claim({ id });
        expect((yield* own.list()).items[0]).toMatchObject({
          by: `worker:${worker}`,
          lease: { by: `worker:${worker}` },
        });
        const killing = yield* Effect.forkChild(runtime.kill({ ids: [worker] }));
        yield* settled;
        expect(yield* outcome(own.claim({ id }))).toBe("INVALID_STATE");
        yield* own.release({ id, token });
        yield* Fiber.interrupt(killing);
        expect((yield* own.list()).items[0]).toMatchObject({ state: "free" });
      }),
  );

  it.effect("has its secrets masked", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const secret = `sk-ant-api03-${"a1B2".repeat(12)}`;
      yield* board(runtime).post({ title: `use ${secret}`, body: secret, data: { note: secret } });
      expect(JSON.stringify(log.read(0, 100).records)).not.toContain(secret);
      expect((yield* board(runtime).list()).items[0]).toMatchObject({ title: "use ***", body: "***" });
    }),
  );
});

describe("a refused request", () => {
  it.effect("is a post beyond the bound of its namespace", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim, release } = board(runtime);
      const { item_id: id } = yield* post({ title: "1" });
      const [first] = log.read(0, 10).records.filter(({ type }) => type === "bb_posted");
      const copies = Array.from({ length: BB_ITEMS_MAX - 1 }, (_, n): RecordDraft => {
        const draft = {
          type: "bb_posted",
          stream: blackboardStream("default"),
          payload: first!.payload,
        } as RecordDraft;
        return { ...draft, payload: { ...draft.payload, item_id: `COPY${n}` } } as RecordDraft;
      });
      log.append(copies);
      expect(yield* outcome(post({ title: "2" }))).toBe("QUEUE_FULL");
      expect(yield* outcome(post({ title: "2", ns: "other" }))).toMatchObject({ effect: "created" });
      const { token } = yield* claim({ id });
      yield* release({ id, token, done: true });
      expect(yield* outcome(post({ title: "2" }))).toMatchObject({ effect: "created" });
    }),
  );

  it.effect("is an artifact that is not there; one that is there counts as put now", () =>
    Effect.gen(function* () {
      const digest = `sha256:${"0".repeat(64)}`;
      const fresh: string[] = [];
      const artifacts = {
        freshen: async (one: string) => {
          if (one !== digest) throw new HoldfastError("ARTIFACT_NOT_FOUND", "no");
          fresh.push(one);
        },
      } as never;
      const { runtime } = yield* (yield* memoryMachine).boot({ artifacts });
      const { post } = board(runtime);
      yield* post({ title: "1", artifacts: [digest] });
      expect(fresh).toEqual([digest]);
      expect(yield* outcome(post({ title: "1", artifacts: [digest.replace("0", "1")] }))).toBe(
        "ARTIFACT_NOT_FOUND",
      );
    }),
  );
});

describe("a watch", () => {
  it.effect("has the records of its namespace alone, from its cursor on", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { post, claim } = board(runtime);
      const { item_id: id } = yield* post({ title: "1" });
      const from = log.head();
      yield* post({ title: "2", ns: "other" });
      const watching = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(runtime.blackboard.watch({ ns: "default", from, follow: true }), 2)),
      );
      yield* settled;
      yield* claim({ id });
      yield* post({ title: "3" });
      const records = [...(yield* Fiber.join(watching))];
      expect(records.map(({ type }) => type)).toEqual(["bb_claimed", "bb_posted"]);
      const past = yield* Stream.runCollect(
        runtime.blackboard.watch({ ns: "default", from: 0, follow: false }),
      );
      expect([...past].map(({ type }) => type)).toEqual(["bb_posted", "bb_claimed", "bb_posted"]);
      expect([...past].some(({ stream }) => stream === workerStream(id))).toBe(false);
    }),
  );
});
