/**
 * Requests of one node to another, and their answers (decision 0101). Each is a row until its asker has the answer, or waits no longer.
 * A node takes a row once, so that no request is carried out twice.
 */
import { CLUSTER_CALL_SILENT_MS, CLUSTER_CALLS_MAX } from "../../base/limits.ts";
import type { NodeState, Placement } from "../rows.ts";
import { PLACED } from "./statements.ts";

const HOLDER = `
  select p.worker, p.worker_id, p.node, p.desired, n.state as node_state
  from (${PLACED}) p left join node n on n.id = p.node`;

const ASK = `
  insert into call (id, node, name, data, caller, heard_at)
  select $1, $2, $3, $4, $5, clock_timestamp() where (select count(*) from call where node = $2) < $6`;

const LOOK = `
  select c.answer, c.life is not null as is_taken, coalesce(n.state, 'left') as node_state
  from call c left join node n on n.id = c.node where c.id = $1`;

const RENEW = `update call set heard_at = clock_timestamp() where id = $1`;

/** With $2 only a request that nobody has taken. */
const DROP = `delete from call where id = $1 and (not $2 or life is null)`;

const IS_SILENT = `heard_at < clock_timestamp() - $3 * interval '1 ms'`;

/** Rows that an earlier life of the node's daemon took, and those whose asker is gone. */
const CLEAR = `delete from call where node = $1 and (life <> $2 and answer is null or ${IS_SILENT})`;

/** $5: those that are under way. One that was taken in an answer that was lost is taken again: nobody carries it out. */
const TAKE = `
  update call set life = $2 where id in (
    select id from call where node = $1 and not ${IS_SILENT}
      and (life is null or life = $2 and answer is null and id <> all ($5::text[]))
    order by id limit $4 for update skip locked)
  returning id, name, data, caller`;

const WANTED = `select id from call where id = any ($1::text[])`;

const ANSWER = `update call set answer = $2 where id = $1`;

/** Without a node, or an id there, it waits for one or begins there. */
export interface HolderRow extends Pick<Placement, "worker" | "desired" | "node"> {
  readonly worker_id: string | null;
  readonly node_state: NodeState | null;
}

export interface AskedCall {
  readonly id: string;
  readonly node: string;
  /** The name of a request, and its data as JSON. */
  readonly name: string;
  readonly data: string;
  readonly caller: object;
}

export type TakenCall = Omit<AskedCall, "node">;

export interface CallInView {
  readonly answer: string | null;
  readonly is_taken: boolean;
  readonly node_state: NodeState;
}

export interface CallTable {
  /** The node that runs a placed worker, or ran it last; by its name, or by its id there. */
  holder(worker: string): Promise<HolderRow | undefined>;
  /** False where too many wait for that node. */
  ask(call: AskedCall): Promise<boolean>;
  /** Undefined where the row is gone: the daemon that took it has ended. */
  look(id: string): Promise<CallInView | undefined>;
  /** The asker still waits. */
  renew(id: string): Promise<void>;
  drop(id: string): Promise<void>;
  /** False where somebody has taken it. */
  dropUntaken(id: string): Promise<boolean>;
  clear(node: string, life: string): Promise<void>;
  /** At most `max` requests that nobody has taken; `underWay` are those of this life. */
  take(node: string, life: string, max: number, underWay: readonly string[]): Promise<readonly TakenCall[]>;
  /** Those whose asker waits. */
  wanted(ids: readonly string[]): Promise<readonly string[]>;
  answer(id: string, text: string): Promise<void>;
}

interface CallStatements {
  rows<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  changes(text: string, values: readonly unknown[]): Promise<boolean>;
}

export const callsBy = ({ rows, changes }: CallStatements): CallTable => ({
  holder: async (worker) => (await rows<HolderRow>(HOLDER, [worker]))[0],
  ask: ({ id, node, name, data, caller }) => changes(ASK, [id, node, name, data, caller, CLUSTER_CALLS_MAX]),
  look: async (id) => (await rows<CallInView>(LOOK, [id]))[0],
  renew: async (id) => void (await changes(RENEW, [id])),
  drop: async (id) => void (await changes(DROP, [id, false])),
  dropUntaken: (id) => changes(DROP, [id, true]),
  clear: async (node, life) => void (await changes(CLEAR, [node, life, CLUSTER_CALL_SILENT_MS])),
  take: (node, life, max, underWay) =>
    rows<TakenCall>(TAKE, [node, life, CLUSTER_CALL_SILENT_MS, max, underWay]),
  wanted: async (ids) => (await rows<{ readonly id: string }>(WANTED, [ids])).map(({ id }) => id),
  answer: async (id, text) => void (await changes(ANSWER, [id, text])),
});
