/** Federation over the log: the rows are the state, and each change has its audit entry in the same transaction. */
import { randomBytes } from "node:crypto";
import { Effect, Semaphore } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { PEER_RATE_PERIOD_MS } from "../../base/limits.ts";
import { noPeer, notByAgents } from "../../control/federation/refusals.ts";
import {
  type Deciding,
  decideAdd,
  decideKeyChange,
  decideMeet,
  decideNotify,
  decideRevoke,
  decideTrust,
  type PeerDrafts,
  termsOf,
} from "../../control/federation/registry.ts";
import { admissionId, decideAdmit, decideSettle } from "../../control/federation/tasks.ts";
import { auditOf, noticeOf } from "../../control/federation/trail.ts";
import { type AuditNote, chained } from "../../protocol/audit.ts";
import type { Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ConfiguredTerms } from "../../protocol/federation-configuration.ts";
import { FEDERATED, type FederatedPeer, federatedWorker } from "../../protocol/peer.ts";
import { AUDIT_STREAM } from "../../protocol/peer-records.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { PeerChange, PeerView } from "../../protocol/replies/peers.ts";
import type { CallerOptions, RuntimeApi } from "../api.ts";
import { askerOfAll } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { PeersApi } from "../peers-api.ts";

/** 16 random bytes, in hexadecimal digits. */
const newHexId = (): string => randomBytes(16).toString("hex");

export class PeerRegistry implements PeersApi {
  private readonly core: Core;
  private readonly kill: RuntimeApi["kill"];
  /** One change at a time: the audit chain has one writer. */
  private readonly alone = Semaphore.makeUnsafe(1);

  private readonly configured: ConfiguredTerms;

  constructor(core: Core, kill: RuntimeApi["kill"], configured: ConfiguredTerms) {
    this.core = core;
    this.kill = kill;
    this.configured = configured;
  }

  readonly list: PeersApi["list"] = () =>
    Effect.map(this.all, (peers) => ({ peers: peers.map((peer) => this.viewOf(peer)) }));

  readonly show: PeersApi["show"] = (hub_id) =>
    Effect.flatMap(this.find(hub_id), (peer) =>
      peer === undefined ? Effect.fail(noPeer(hub_id)) : Effect.succeed(this.viewOf(peer)),
    );

  readonly add: PeersApi["add"] = ({ hub_id, url, public_key, ...said }, options = {}) =>
    this.byOperator(options, "add a peer", hub_id, (there, _, deciding) => {
      const agreed = there.find((one) => one.hub_id === hub_id);
      const terms = termsOf(hub_id, said, this.configured, agreed);
      if (terms instanceof HoldfastError) return terms;
      return decideAdd(there, { hub_id, url, public_key, ...terms }, deciding);
    });

  readonly configure: PeersApi["configure"] = () =>
    Effect.flatMap(this.list(), ({ peers }) =>
      Effect.forEach(
        peers.filter(({ hub_id }) => Object.hasOwn(this.configured ?? {}, hub_id)),
        ({ hub_id, url }) => this.add({ hub_id, url, public_key: null }),
        { discard: true },
      ),
    );

  readonly trust: PeersApi["trust"] = (hub_id, options = {}) =>
    this.byOperator(options, "trust a peer", hub_id, (_, peer, deciding) =>
      decideTrust(peer, hub_id, deciding),
    );

  readonly meet: PeersApi["meet"] = ({ hub_id, ...declared }, options = {}) =>
    this.changing(options, "meet a peer", hub_id, (_, peer, deciding) =>
      decideMeet(peer, hub_id, declared, deciding),
    );

  readonly rekey: PeersApi["rekey"] = ({ hub_id, ...change }, options = {}) =>
    this.changing(options, "change the key of a peer", hub_id, (_, peer, deciding) =>
      decideKeyChange(peer, hub_id, change, deciding),
    );

  readonly notify: PeersApi["notify"] = (asked, options = {}) =>
    this.changing(
      options,
      "take a notice of a peer",
      asked.hub_id,
      (_, peer, deciding) => decideNotify(peer, asked.hub_id, asked.change, deciding),
      ({ wall_ms }) => [noticeOf(asked, { id: newHexId(), wall_ms })],
    );

  readonly settle: PeersApi["settle"] = ({ hub_id, ...ended }, options = {}) =>
    this.changing(options, "settle a federated task", hub_id, (_, peer, deciding) =>
      peer === undefined ? noPeer(hub_id) : decideSettle(peer, ended, deciding),
    );

  readonly admit: PeersApi["admit"] = ({ hub_id, ...asked }, options = {}) => {
    let refused: HoldfastError | undefined;
    const decide: PeerDecision = (_, peer, deciding) => {
      if (peer === undefined) return noPeer(hub_id);
      const first = this.core.services.log.byId(admissionId(hub_id, asked.direction, asked.task_id));
      const earlier = first?.type === "peer_task_admitted" ? first.payload : undefined;
      const is_federated = this.isFederated(options.caller);
      const admission = decideAdmit(peer, { ...asked, is_federated }, earlier, deciding);
      refused = admission.refused;
      return admission.drafts;
    };
    return Effect.flatMap(this.changing(options, "begin a federated task", hub_id, decide), (reply) =>
      refused === undefined ? Effect.succeed(reply) : Effect.fail(refused),
    );
  };

  readonly revoke: PeersApi["revoke"] = (hub_id, reason, options = {}) =>
    Effect.tap(
      this.byOperator(options, "revoke a peer", hub_id, (_, peer, deciding) =>
        decideRevoke(peer, hub_id, reason, deciding),
      ),
      ({ open }) =>
        Effect.forEach(
          open.filter(({ direction }) => direction === "in"),
          ({ task_id }) => this.killed(federatedWorker(hub_id, task_id), options),
          { discard: true },
        ),
    );

  readonly audit: PeersApi["audit"] = (after, limit) =>
    attempt(() => {
      const { log } = this.core.services;
      const page = log.read(after, limit, { streams: [AUDIT_STREAM] });
      const entries = page.records.flatMap((record) =>
        record.type === "audit_entry" ? [{ seq: record.seq, ...record.payload }] : [],
      );
      return { entries, next: page.scanned, is_end: page.scanned >= log.head() };
    });

  private readonly all: Effect.Effect<readonly FederatedPeer[], HoldfastError> = Effect.suspend(() =>
    attempt(() => this.core.services.views.peers()),
  );

  private find(hub_id: string): Effect.Effect<FederatedPeer | undefined, HoldfastError> {
    return Effect.map(this.all, (peers) => peers.find((peer) => peer.hub_id === hub_id));
  }

  /** Trust is a person's decision: an agent makes none, with any rights. */
  private byOperator(
    options: CallerOptions,
    what: string,
    hub_id: string,
    decide: PeerDecision,
  ): Effect.Effect<PeerChange, HoldfastError> {
    return options.caller?.type === "worker"
      ? Effect.fail(notByAgents(what))
      : this.changing(options, what, hub_id, decide);
  }

  private changing(
    options: CallerOptions,
    what: string,
    hub_id: string,
    decide: PeerDecision,
    noted: (deciding: Deciding) => readonly AuditNote[] = () => [],
  ): Effect.Effect<PeerChange, HoldfastError> {
    return Effect.flatMap(askerOfAll(this.core.authority, options, what), (by) =>
      this.alone.withPermits(1)(
        Effect.uninterruptible(
          Effect.gen({ self: this }, function* () {
            const there = yield* this.all;
            const before = there.find((peer) => peer.hub_id === hub_id);
            const deciding = { by, wall_ms: this.core.wallMs() };
            const decided = yield* attempt(() => decide(there, before, deciding));
            if (decided instanceof HoldfastError) return yield* Effect.fail(decided);
            const drafts = this.audited(decided, deciding, noted(deciding));
            if (drafts.length > 0) yield* this.core.commit(drafts);
            const after = yield* this.find(hub_id);
            return {
              ...this.viewOf((after ?? before) as FederatedPeer),
              effect: effectOf(before, after, decided),
            };
          }),
        ),
      ),
    );
  }

  /** The records with an entry of the audit chain for each. */
  private audited(
    drafts: readonly RecordDraft[],
    { wall_ms }: Deciding,
    noted: readonly AuditNote[],
  ): readonly RecordDraft[] {
    const told = drafts.flatMap((draft) => auditOf(draft, { id: newHexId(), wall_ms }) ?? []);
    const notes = [...noted, ...told];
    const { entries } = chained(this.core.services.views.auditHead(), notes);
    const chain = entries.map(
      (payload): RecordDraft => ({ stream: AUDIT_STREAM, type: "audit_entry", payload }),
    );
    return [...drafts, ...chain];
  }

  /** Whether the caller is an agent that works for a peer, or was spawned by one. */
  private isFederated(caller: Caller | undefined): boolean {
    if (caller?.type !== "worker") return false;
    const { views } = this.core.services;
    for (let at: string | null | undefined = caller.worker_id; at; at = views.worker(at)?.parent)
      if (views.worker(at)?.name?.startsWith(FEDERATED) === true) return true;
    return false;
  }

  private killed(name: string, options: CallerOptions): Effect.Effect<void> {
    const { views } = this.core.services;
    return Effect.forEach(
      views.named(name),
      ({ id }) => Effect.ignore(this.kill({ ids: [id], reason: "its peer was revoked", ...options })),
      { discard: true },
    );
  }

  private viewOf(peer: FederatedPeer): PeerView {
    const { fingerprint, admitted, refused: _, timestamp: __, open, trust_tier, source, ...shown } = peer;
    const { recent, since } = fingerprint;
    const now_ms = this.core.wallMs();
    const used = admitted.filter((at) => now_ms - at < PEER_RATE_PERIOD_MS).length;
    const countOf = (letter: string) => recent.split(letter).length - 1;
    return {
      ...shown,
      tier_max: trust_tier ?? "verified",
      source: source ?? "flags",
      rate_remaining: Math.max(0, peer.rate_limit - used),
      fingerprint: { since, tasks: recent.length, failed: countOf("f"), odd: countOf("o") },
      open: open.map(({ digest: ___, ...task }) => task),
    };
  }
}

type PeerDecision = (
  there: readonly FederatedPeer[],
  peer: FederatedPeer | undefined,
  deciding: Deciding,
) => PeerDrafts;

const effectOf = (
  before: FederatedPeer | undefined,
  after: FederatedPeer | undefined,
  decided: readonly unknown[],
): PeerChange["effect"] => {
  if (decided.length === 0) return "noop";
  if (before === undefined) return "created";
  return after === undefined ? "deleted" : "updated";
};
