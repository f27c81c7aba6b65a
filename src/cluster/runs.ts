/** The plan of a node after a look: which of its runs end, which begin, and what it takes from nodes that are gone. Pure. */
import { CLUSTER_BEGINNING_MAX } from "../base/limits.ts";
import { fateOf } from "./fate.ts";
import { mayRun } from "./lease.ts";
import type { ClusterMember, MemberCommand, MemberRun, MemberRuns } from "./member.ts";
import type { ClusterView, Placement } from "./rows.ts";
import { overdue } from "./sightings.ts";

interface Times {
  readonly asked_ms: number;
  readonly now: number;
}

export const planRuns = (
  member: ClusterMember,
  view: ClusterView,
  times: Times,
): { readonly runs: MemberRuns; readonly commands: readonly MemberCommand[] } => {
  let { runs } = member;
  const commands: MemberCommand[] = [];
  const placements = new Map(view.placements.map((placement) => [placement.worker, placement]));
  for (const run of member.runs.values()) {
    if (run.phase === "stopping" || staysHere(member, run, placements.get(run.worker))) continue;
    if (run.phase === "running") {
      runs = runs.with(run.worker, { ...run, phase: "stopping" });
      commands.push({ type: "stop", worker: run.worker, term: run.term });
    } else runs = runs.without(run.worker);
  }
  // A node without a lease takes nothing, begins nothing, and says of nobody that its lease is over.
  if (member.isStopping || !mayRun(member.lease, times.now)) return { runs, commands };
  for (const { id, term, beat } of overdue(member.sightings, view.nodes, times.asked_ms))
    if (id !== member.id) commands.push({ type: "bury", node: id, term, beat });
  let room = roomIn(runs);
  for (const placement of view.placements) {
    const { worker, term, on_partition, starts } = placement;
    if (isMine(member, placement)) {
      if (runs.has(worker) || room <= 0) continue;
      room -= 1;
      runs = runs.with(worker, { worker, term, on_partition, starts, phase: "sweeping" });
      commands.push({ type: "sweep", worker, term });
    } else if (isToAdopt(member, placement)) commands.push({ type: "adopt", worker, term });
  }
  return { runs, commands: [...commands, ...claims(member, view).slice(0, Math.max(0, room))] };
};

/** How many more may begin: a node that began thousands at once would have no turn for the renewal of its lease. */
const roomIn = (runs: MemberRuns): number => {
  let room = CLUSTER_BEGINNING_MAX;
  for (const { phase } of runs.values()) if (phase === "sweeping" || phase === "beginning") room -= 1;
  return room;
};

/** Each node takes only for itself, so that one that cannot reach the store gets nothing. All reckon alike whose turn is whose. */
const claims = ({ id }: ClusterMember, view: ClusterView): readonly MemberCommand[] => {
  let { nodes } = view;
  const claimed: MemberCommand[] = [];
  // Nearly all of them stay: those need no order.
  const moving = view.placements.filter((placement) => fateOf(placement, nodes).type !== "stays");
  for (const placement of moving.sort((a, b) => (a.worker < b.worker ? -1 : 1))) {
    const fate = fateOf(placement, nodes);
    if (fate.type !== "goes") continue;
    nodes = nodes.map((node) => (node === fate.to ? { ...node, load: node.load + 1 } : node));
    if (fate.to.id === id) claimed.push({ type: "claim", worker: placement.worker, term: placement.term });
  }
  return claimed;
};

/** A drain moves only what can start elsewhere. */
const staysHere = (
  { id, isDraining }: ClusterMember,
  run: MemberRun,
  placement: Placement | undefined,
): boolean => {
  if (placement === undefined || placement.desired !== "running") return false;
  if (placement.node !== id || placement.term !== run.term) return false;
  return !isDraining || placement.needs === null || run.phase === "sweeping";
};

const isMine = ({ id, lease }: ClusterMember, { node, node_term }: Placement): boolean =>
  node === id && node_term === lease.term;

const isToAdopt = ({ id }: ClusterMember, { node, on_partition }: Placement): boolean =>
  node === id && on_partition === "continue";
