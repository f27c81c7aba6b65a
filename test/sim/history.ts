/** A simulation's own memory, beside the core: who was killed, how often whom was restarted, which end had which record. */
import type { RecordDraft } from "../../src/protocol/records.ts";
import { restartCause } from "../../src/protocol/restart-cause.ts";
import type { Stored } from "./disk.ts";

interface CountedRestart {
  readonly child: string;
  readonly at: number;
  readonly period_ms: number;
  readonly max: number;
  readonly decay_ms: number;
}

interface Life {
  /** The state of the newest incarnation. */
  incarnation: number;
  exits: number;
  terminals: number;
}

interface Place {
  readonly supervisor: string;
  readonly name: string;
}

/** The place of each child, by the tree. */
interface Known {
  decayOf(supervisor: string): number;
  placeOf(worker: string): Place | undefined;
}

const isByName = (draft: RecordDraft): boolean =>
  draft.type === "worker_restart_scheduled" && restartCause(draft.payload) === "user";

const TERMINALS = ["worker_completed", "worker_failed", "worker_cancelled"];

export class History {
  /** Ids of workers and paths of supervisors that were killed by name, and not started by name since. */
  readonly killed = new Set<string>();
  /** Instants of the restarts of each supervisor since its life began. */
  readonly restarts = new Map<string, CountedRestart[]>();
  readonly lives = new Map<string, Life>();
  /** Workers that began although they, or a supervisor above them, were killed. */
  readonly risen: string[] = [];
  /** Incarnations that began out of their turn, or before the end of the one before. */
  readonly odd: string[] = [];

  note({ draft }: Stored, now_ms: number, { decayOf, placeOf }: Known): void {
    const id = draft.worker_id;
    if (id !== undefined) {
      this.#worker(draft, id);
      if (isByName(draft)) this.#forgive(placeOf(id));
    }
    if (draft.type === "tree_removed") {
      this.killed.clear();
      this.restarts.clear();
    }
    if (draft.type === "supervisor_asked") {
      const { supervisor, what } = draft.payload;
      if (what === "kill") this.killed.add(supervisor);
      else this.killed.delete(supervisor);
      if (what === "restart") this.restarts.delete(supervisor);
    }
    if (draft.type === "supervisor_state_changed") {
      const { supervisor, to } = draft.payload;
      if (to === "terminated" || to === "pending" || to === "parked") this.restarts.delete(supervisor);
    }
    if (draft.type === "supervisor_restart_scheduled") {
      const { supervisor, child, max_restarts: max, period_ms } = draft.payload;
      const decay_ms = decayOf(supervisor);
      // A restart that an earlier window has let go of does not come back with a longer one.
      const kept_ms = decay_ms > 0 ? 10 * decay_ms : period_ms;
      const list = (this.restarts.get(supervisor) ?? []).filter(({ at }) => now_ms - at <= kept_ms);
      list.push({ child, at: now_ms, period_ms, max, decay_ms });
      this.restarts.set(supervisor, list);
    }
  }

  /** Another boot: the instants of before are guesses. */
  forgetWindows(): void {
    this.restarts.clear();
  }

  /** An agent is made. A start on its way is let through by the log and not by the shell, so it is asked here. */
  launched(id: string, above: readonly string[]): void {
    if ([id, ...above].some((one) => this.killed.has(one))) this.risen.push(id);
  }

  /** A worker that is started by name has a fresh window: its earlier restarts count no more. */
  #forgive(place: Place | undefined): void {
    if (place === undefined) return;
    const list = this.restarts.get(place.supervisor) ?? [];
    this.restarts.set(
      place.supervisor,
      list.filter(({ child }) => child !== place.name),
    );
  }

  #worker(draft: RecordDraft, id: string): void {
    const life = this.lives.get(id) ?? { incarnation: 0, exits: 0, terminals: 0 };
    this.lives.set(id, life);
    if (draft.type === "worker_exited") life.exits++;
    if (TERMINALS.includes(draft.type)) life.terminals++;
    if (draft.type === "worker_cancel_requested" && draft.payload.tombstone) this.killed.add(id);
    if (isByName(draft)) this.killed.delete(id);
    if (draft.type !== "worker_state_changed" || draft.payload.to !== "starting") return;
    if (this.killed.has(id)) this.risen.push(id);
    const next = draft.incarnation ?? 0;
    if (next !== life.incarnation + 1 || (life.incarnation > 0 && life.exits !== 1))
      this.odd.push(`${id}: ${next} after ${life.incarnation} with ${life.exits} exits`);
    Object.assign(life, { incarnation: next, exits: 0, terminals: 0 });
  }
}
