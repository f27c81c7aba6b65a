/** A board is worked off while its daemon is killed: each card is done once, in its try or in its retry, and none runs without a worker. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BoardReply } from "../../src/protocol/replies/board.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { full } from "../support/figures.ts";
import {
  type Daemon,
  makeLedger,
  type RecordOf,
  sleep,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

const CARDS = full ? 500 : 40;
const SLOTS = 8;
const KILLS = full ? 20 : 4;
/** Every so many cards fail in their first try. They come first, since another try takes 10 s. */
const FAILS_EVERY = 20;
/** A daemon lives at most so long after its goal. */
const LIFE_MAX_MS = 150;
const TYPES = [
  "worker_spawn_requested",
  "issue.discovered",
  "issue.claimed",
  "issue.dispatched",
  "issue.retry_queued",
  "issue.released",
  "issue.blocked",
  "issue.handoff",
  "issue.done",
] as const;
type BoardRecord = RecordOf<(typeof TYPES)[number]>;

const failsFirst = (n: number): boolean => n % FAILS_EVERY === 0;

/** Writes its card into the ledger, and fails once where it is told to. */
const script = (dir: string, ledger: string): string =>
  [
    `echo "$HOLDFAST_CARD" >> ${ledger}`,
    "sleep 0.05",
    `if [ -e ${dir}/fails-$HOLDFAST_CARD ]; then rm ${dir}/fails-$HOLDFAST_CARD; exit 1; fi`,
  ].join("\n");

const board = (daemon: Daemon, lanes: readonly "Running"[] = []): Promise<BoardReply> =>
  daemon.request<BoardReply>("board/list", { lanes: [...lanes], limit: CARDS });

/** The rules of a board that its records break. */
const brokenRules = (records: readonly BoardRecord[]): string[] => {
  const broken: string[] = [];
  const lane = new Map<string, string>();
  const workers = new Map<string, string>();
  let busy = 0;
  const moved = (id: string, to: string, from: readonly string[], what: string): void => {
    const before = lane.get(id) ?? "none";
    if (!from.includes(before)) broken.push(`${what} of ${id} from ${before}`);
    const isBusy = (one: string): boolean => one === "Claimed" || one === "Running";
    busy += Number(isBusy(to)) - Number(isBusy(before));
    if (busy > SLOTS) broken.push(`${busy} cards at once with ${id}`);
    lane.set(id, to);
  };
  for (const { type, payload, id, worker_id } of records) {
    if (type === "worker_spawn_requested") {
      if (workers.has(id)) broken.push(`two workers for ${id}`);
      workers.set(id, worker_id ?? "");
    } else if (type === "issue.discovered") moved(payload.issue_id, "Todo", ["none"], type);
    else if (type === "issue.claimed") moved(payload.issue_id, "Claimed", ["Todo", "RetryQueued"], type);
    else if (type === "issue.dispatched") {
      if (workers.get(`spawn:${payload.request_id}`) !== payload.agent_id)
        broken.push(`${payload.issue_id} runs as ${payload.agent_id}, which was not spawned for it`);
      moved(payload.issue_id, "Running", ["Claimed"], type);
    } else if (type === "issue.retry_queued") moved(payload.issue_id, "RetryQueued", ["Running"], type);
    else if (type === "issue.done") moved(payload.issue_id, "Done", ["Running"], type);
    else broken.push(`${type} of ${payload.issue_id}`);
  }
  return broken;
};

/** Each card that runs has a worker that lives, or leaves that lane at once. */
const expectWorkers = async (daemon: Daemon): Promise<void> => {
  for (const { issue_id, agent_id } of (await board(daemon, ["Running"])).cards) {
    const { status } = await daemon.info(agent_id as string);
    if (status !== "completed" && status !== "failed") continue;
    await until(`card ${issue_id} leaves its worker that has ended`, async () => {
      const { cards } = await board(daemon, ["Running"]);
      return !cards.some((card) => card.agent_id === agent_id);
    });
  }
};

test(`${CARDS} cards in ${SLOTS} slots over ${KILLS} kills of the daemon: each is done once or in its retry, and none runs without a worker`, {
  timeout: 1_200_000,
}, async () => {
  let daemon = await startDaemon();
  const { stateDir } = daemon;
  const dir = temporaryDirectory();
  const ledger = makeLedger(dir);
  const ids = Array.from({ length: CARDS }, (_, n) => `c${n}`);
  for (const id of ids.filter((_, n) => failsFirst(n))) writeFileSync(join(dir, `fails-${id}`), "");
  const cards = ids.map(
    (id, n) => ({ id, title: `card ${n}`, priority: failsFirst(n) ? "critical" : "normal" }) as const,
  );
  await daemon.request("board/add", { cards });
  const argv = ["sh", "-c", script(dir, ledger.path)];
  const spec: WorkerSpecInput = { kind: "command", argv, cwd: dir, restart: "temporary" };
  await daemon.request("board/dispatch", { slots: SLOTS, spec });
  const began = performance.now();
  for (let kills = 1; kills <= KILLS; kills += 1) {
    const goal = Math.floor((CARDS * kills) / (KILLS + 1));
    await until("some more are done", async () => (await board(daemon)).lanes.Done >= goal);
    await sleep(Math.random() * LIFE_MAX_MS);
    await daemon.kill9();
    daemon = await startDaemon(stateDir);
    await expectWorkers(daemon);
  }
  await until("all are done", async () => (await board(daemon)).lanes.Done === CARDS);
  const took_s = ((performance.now() - began) / 1_000).toFixed(1);

  const records = await daemon.history(TYPES);
  expect(brokenRules(records)).toEqual([]);
  const tries = records.filter(({ type }) => type === "issue.dispatched").length;
  const retries = ids.filter((_, n) => failsFirst(n)).length;
  expect(tries).toBe(CARDS + retries);
  expect(records.filter(({ type }) => type === "issue.done")).toHaveLength(CARDS);
  // As its agents say: each card ran once, and those that fail first twice.
  const ran = Map.groupBy(ledger.all(), ([id]) => id);
  expect(ids.filter((id, n) => ran.get(id)?.length !== (failsFirst(n) ? 2 : 1))).toEqual([]);
  expect(ids.filter((id) => existsSync(join(dir, `fails-${id}`)))).toEqual([]);
  if (full) console.log(`${CARDS} cards, ${tries} tries, ${KILLS} kills in ${took_s} s`);
});
