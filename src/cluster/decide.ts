/**
 * One node of a cluster as it sees itself: `decideMember` takes what happened and says what to do next. Pure; the shell carries out the
 * commands, and answers each with an input.
 */
import { CLUSTER_LOOK_MS } from "../base/limits.ts";
import { PersistentMap } from "../base/persistent-map.ts";
import { mayRun, type NodeLease, nextLease, nextRenewalAt } from "./lease.ts";
import type { ClusterMember, MemberDecision, MemberInput, MemberRun } from "./member.ts";
import type { ClusterView } from "./rows.ts";
import { planRuns } from "./runs.ts";
import { NO_SIGHTINGS, sight } from "./sightings.ts";

/** `runs`: what a daemon before this one left running, by the records and the process table. */
export const memberAtStart = (
  id: string,
  lease: NodeLease,
  runs: readonly Omit<MemberRun, "phase">[],
): MemberDecision => {
  const member: ClusterMember = {
    id,
    lease,
    renewal: null,
    look: null,
    sightings: NO_SIGHTINGS,
    isDraining: false,
    isStopping: false,
    runs: PersistentMap.of(runs.map((run) => [run.worker, { ...run, phase: "running" } as const])),
  };
  return lease.phase === "stopping" ? stopAll(member) : { member, commands: [] };
};

export const decideMember = (member: ClusterMember, input: MemberInput, now: number): MemberDecision => {
  switch (input.type) {
    case "tick":
      return ticked(member, now);
    case "granted":
    case "refused":
      return renewed(member, input, now);
    case "renewal_failed":
      return unchanged(withRenewal(member, input.sent_ms, "failed"));
    case "looked":
      return looked(member, input, now);
    case "look_failed":
      return unchanged(closedLook(member, input.asked_ms));
    case "changed":
      return looking(member, now);
    case "stopped_all":
      return unchanged({
        ...member,
        lease: nextLease(member.lease, { type: "swept" }, now),
        runs: member.runs.filter((run) => run.on_partition === "continue"),
      });
    case "swept":
      return swept(member, input);
    case "begun":
      return begun(member, input, now);
    case "ended":
      return isOf(member, input) ? unchanged(without(member, input.worker)) : unchanged(member);
  }
};

const unchanged = (member: ClusterMember): MemberDecision => ({ member, commands: [] });

const ticked = (before: ClusterMember, now: number): MemberDecision => {
  const lease = nextLease(before.lease, { type: "tick" }, now);
  if (lease.phase === "stopping" && before.lease.phase !== "stopping") return stopAll({ ...before, lease });
  const renewing = renewal({ ...before, lease }, now);
  const isDue = before.look === null || now >= before.look.asked_ms + CLUSTER_LOOK_MS;
  if (!isDue) return renewing;
  const look = looking(renewing.member, now);
  return { member: look.member, commands: [...renewing.commands, ...look.commands] };
};

/** A stop that has begun comes first: the node renews only when nothing is left of it. */
const renewal = (member: ClusterMember, now: number): MemberDecision => {
  const { lease, renewal: last } = member;
  if (lease.phase === "stopping" || last?.state === "sent") return unchanged(member);
  const isSoon = lease.phase === "held" && last?.state === "granted";
  if (last !== null && now < nextRenewalAt(last.sent_ms, isSoon)) return unchanged(member);
  return {
    member: { ...member, renewal: { sent_ms: now, state: "sent" } },
    commands: [
      lease.term === 0 ? { type: "join", sent_ms: now } : { type: "renew", term: lease.term, sent_ms: now },
    ],
  };
};

const withRenewal = (member: ClusterMember, sent_ms: number, state: "granted" | "failed"): ClusterMember =>
  member.renewal?.sent_ms === sent_ms ? { ...member, renewal: { sent_ms, state } } : member;

const renewed = (
  before: ClusterMember,
  input: Extract<MemberInput, { type: "granted" | "refused" }>,
  now: number,
): MemberDecision => {
  // An answer that comes after the stop may be older than it.
  const isLate = before.lease.phase === "waiting" && before.renewal?.sent_ms !== input.sent_ms;
  if (isLate) return unchanged(before);
  const answered = withRenewal(before, input.sent_ms, input.type === "granted" ? "granted" : "failed");
  const member = { ...answered, lease: nextLease(before.lease, input, now) };
  return member.lease.phase === "stopping" && before.lease.phase !== "stopping"
    ? stopAll(member)
    : unchanged(member);
};

const stopAll = (member: ClusterMember): MemberDecision => ({
  member: {
    ...member,
    runs: member.runs.map((run) =>
      run.on_partition === "stop" ? { ...run, phase: "stopping" as const } : run,
    ),
  },
  commands: [{ type: "stop_all" }],
});

const looking = (member: ClusterMember, now: number): MemberDecision =>
  member.look?.isOpen
    ? unchanged(member)
    : {
        member: { ...member, look: { asked_ms: now, isOpen: true } },
        commands: [{ type: "look", asked_ms: now }],
      };

const closedLook = (member: ClusterMember, asked_ms: number): ClusterMember =>
  member.look?.asked_ms === asked_ms ? { ...member, look: { asked_ms, isOpen: false } } : member;

/** The answer of a look that was given up is older than what this node has done since. */
const looked = (
  before: ClusterMember,
  { asked_ms, view }: { readonly asked_ms: number; readonly view: ClusterView },
  now: number,
): MemberDecision => {
  if (before.look?.asked_ms !== asked_ms || !before.look.isOpen) return unchanged(before);
  const self = view.nodes.find(({ id }) => id === before.id);
  const member = {
    ...closedLook(before, asked_ms),
    isDraining: self?.state === "draining",
    sightings: sight(before.sightings, view.nodes, { asked_ms, answered_ms: now }),
  };
  const { runs, commands } = planRuns(member, view, { asked_ms, now });
  return { member: { ...member, runs }, commands };
};

const isOf = (
  { runs }: ClusterMember,
  { worker, term }: { readonly worker: string; readonly term: number },
): boolean => runs.get(worker)?.term === term;

const without = (member: ClusterMember, worker: string): ClusterMember => ({
  ...member,
  runs: member.runs.without(worker),
});

const inPhase = (member: ClusterMember, worker: string, phase: MemberRun["phase"]): ClusterMember => {
  const run = member.runs.get(worker);
  return run === undefined ? member : { ...member, runs: member.runs.with(worker, { ...run, phase }) };
};

const swept = (
  member: ClusterMember,
  { worker, term }: { readonly worker: string; readonly term: number },
): MemberDecision => {
  const run = member.runs.get(worker);
  if (run?.term !== term || run.phase !== "sweeping") return unchanged(member);
  if (member.isDraining || member.isStopping)
    return {
      member: without(member, worker),
      commands: [{ type: "release", worker, term, starts: run.starts }],
    };
  return { member: inPhase(member, worker, "beginning"), commands: [{ type: "begin", worker, term }] };
};

const begun = (
  member: ClusterMember,
  { worker, term, isTrue }: { readonly worker: string; readonly term: number; readonly isTrue: boolean },
  now: number,
): MemberDecision => {
  if (!isOf(member, { worker, term }) || member.runs.get(worker)?.phase !== "beginning")
    return unchanged(member);
  const mayBegin = isTrue && !member.isStopping && mayRun(member.lease, now);
  if (!mayBegin) return unchanged(without(member, worker));
  return { member: inPhase(member, worker, "running"), commands: [{ type: "launch", worker, term }] };
};
