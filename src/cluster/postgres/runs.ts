/**
 * The statements of runs, for many workers at once: a node that takes over the workers of another one asks as often as it has workers,
 * and a statement for each would keep it from renewing its lease. Rows are locked in the order of their names.
 */
import { CLUSTER_RUNS_AT_ONCE } from "../../base/limits.ts";
import { Together } from "../../base/together.ts";
import type { NodeFence, RunFence } from "../rows.ts";

type Rows = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** $1 node, $2 its term. */
const LIVING = `select id, term from node where id = $1 and term = $2 and state in ('active', 'draining')`;

/** $3 workers, $4 a term of each. */
const ASKED = `
  asked as (
    select p.worker, a.term from unnest($3::text[], $4::bigint[]) as a (worker, term)
    join placement p on p.worker = a.worker where exists (select from living) order by p.worker for update of p
  )`;

/** A node of a term is dead for ever, so its row needs no lock. The one that takes must live until the claim is durable. */
export const CLAIM = `
  with living as (${LIVING} and state = 'active' for share), ${ASKED}
  update placement p set node = living.id, node_term = living.term, term = p.term + 1
  from living, asked
  where p.worker = asked.worker and p.term = asked.term and p.desired = 'running' and (
    p.node is null
    or not exists (select 1 from node o where o.id = p.node)
    or ((p.needs is not null or p.node = living.id) and exists (
      select 1 from node o where o.id = p.node and case p.on_partition
        when 'continue' then o.term = p.node_term and o.state = 'left'
        else o.term <> p.node_term or o.state in ('dead', 'left') end)))
  returning p.worker, asked.term`;

const BEGIN = `
  with living as (${LIVING} for share), ${ASKED}
  update placement p set starts = p.starts + 1 from living, asked
  where p.worker = asked.worker and p.node = living.id and p.node_term = $2 and p.term = asked.term
    and p.desired = 'running'
  returning p.worker, asked.term`;

/** The node says which workers of its log they are: $5. */
const LAUNCHED = `
  update placement p set worker_id = a.worker_id
  from unnest($3::text[], $4::bigint[], $5::text[]) as a (worker, term, worker_id)
  where p.worker = a.worker and p.node = $1 and p.node_term = $2 and p.term = a.term and p.desired = 'running'
  returning p.worker, a.term`;

const TO_LAUNCH = `select worker, spec, worker_id from placement where worker = any ($1::text[])`;

/** `worker_id`: as the node called it on which it ran last. */
export interface RowToLaunch {
  readonly worker: string;
  readonly spec: string;
  readonly worker_id: string | null;
}

type FencedRun = NodeFence & { readonly worker: string; readonly term: number; readonly worker_id?: string };

export class RunStatements {
  readonly claim: (asked: FencedRun) => Promise<boolean>;
  readonly begin: (run: RunFence) => Promise<boolean>;
  readonly launched: (run: RunFence & { readonly worker_id: string }) => Promise<boolean>;
  readonly toLaunch: (worker: string) => Promise<RowToLaunch | undefined>;

  constructor(rows: Rows) {
    this.claim = fenced(rows, CLAIM);
    this.begin = fenced(rows, BEGIN);
    this.launched = fenced(rows, LAUNCHED, (all) => [all.map(({ worker_id = null }) => worker_id)]);
    const looking = new Together<string, RowToLaunch | undefined>(CLUSTER_RUNS_AT_ONCE, async (workers) => {
      const found = await rows<RowToLaunch>(TO_LAUNCH, [workers]);
      const known = new Map(found.map((row) => [row.worker, row]));
      return workers.map((worker) => known.get(worker));
    });
    this.toLaunch = (worker) => looking.add(worker);
  }
}

/** One statement for each fence: a node has one term at a time, so nearly always there is one. */
const fenced = (
  rows: Rows,
  statement: string,
  more: (all: readonly FencedRun[]) => readonly unknown[] = () => [],
): ((asked: FencedRun) => Promise<boolean>) => {
  const changedBy = async (asked: readonly FencedRun[]): Promise<readonly FencedRun[]> => {
    const { node, node_term } = asked[0]!;
    const values = [node, node_term, asked.map(({ worker }) => worker), asked.map(({ term }) => term)];
    const changed = await rows<Pick<FencedRun, "worker" | "term">>(statement, [...values, ...more(asked)]);
    const terms = new Map(changed.map(({ worker, term }) => [worker, term]));
    // A run that is asked for twice has changed once.
    return asked.filter(({ worker, term }) => terms.get(worker) === term && terms.delete(worker));
  };
  const deeds = new Together<FencedRun, boolean>(CLUSTER_RUNS_AT_ONCE, async (all) => {
    const changed = new Set<FencedRun>();
    for (const asked of Map.groupBy(all, ({ node, node_term }) => `${node_term} ${node}`).values())
      for (const one of await changedBy(asked)) changed.add(one);
    return all.map((one) => changed.has(one));
  });
  return (asked) => deeds.add(asked);
};
