/**
 * The holders of sessions. Two agents that write to one conversation spoil it, so at most one living worker holds a
 * session: from the request for it, through its restarts, to its end. The table is in memory, and a boot builds it from the
 * rows and specs of the living workers. Check and claim are one synchronous step, before anything is recorded or started.
 *
 * A fork holds the session that it makes, not the one it comes from. A request for the newest session of a directory is
 * known as a session only once the agent tells its id.
 */

import type { AgentAdapter } from "../adapters/adapter.ts";
import { askedSession, sessionInUse } from "../protocol/asked-session.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { isEnded, type WorkerSpec } from "../protocol/worker.ts";
import type { Views } from "../store/views.ts";

/** The part of a worker that decides its session. */
export interface Resumer {
  readonly id: string;
  readonly spec: WorkerSpec;
  readonly adapter: Pick<AgentAdapter, "sessions_under">;
}

interface Claim {
  readonly worker_id: string;
  readonly session_id: string;
}

export class Sessions {
  private readonly views: Pick<Views, "worker">;
  private readonly claims = new Map<string, Claim>();
  private readonly keys = new Map<string, string>();
  /** Workers that do not live, and that their supervisor may start again. */
  private readonly resting = new Set<string>();

  constructor(views: Pick<Views, "worker">) {
    this.views = views;
  }

  /**
   * Claims the session for the worker, which lets go of any other one. Returns an error that names the holder if another
   * worker holds it, and then nothing has changed.
   */
  claim(worker: Resumer, session_id: string | undefined): HoldfastError | undefined {
    const { sessions_under } = worker.adapter;
    if (sessions_under === undefined || session_id === undefined) return undefined;
    const key = keyOf(worker.spec, sessions_under, session_id);
    const holder = this.holderOf(key);
    if (holder !== undefined && holder !== worker.id) return sessionInUse(session_id, holder);
    if (this.keys.get(worker.id) !== key) this.release(worker.id);
    this.claims.set(key, { worker_id: worker.id, session_id });
    this.keys.set(worker.id, key);
    this.resting.delete(worker.id);
    return undefined;
  }

  /** As `claim`, but changes nothing. */
  refusal(worker: Resumer, session_id: string | undefined): HoldfastError | undefined {
    const { sessions_under } = worker.adapter;
    if (sessions_under === undefined || session_id === undefined) return undefined;
    const holder = this.holderOf(keyOf(worker.spec, sessions_under, session_id));
    return holder === undefined || holder === worker.id ? undefined : sessionInUse(session_id, holder);
  }

  /** The session that the worker holds by its records: its last session, or else the one in its spec. */
  known(worker: Resumer): string | undefined {
    if (worker.adapter.sessions_under === undefined) return undefined;
    return this.views.worker(worker.id)?.session_id ?? askedSession(worker.spec);
  }

  /** Claims the session of a worker that does not live and may be started again. */
  rest(worker: Resumer): void {
    if (this.claim(worker, this.known(worker)) === undefined) this.resting.add(worker.id);
  }

  holds(id: string): boolean {
    return this.keys.has(id);
  }

  release(id: string): void {
    const key = this.keys.get(id);
    if (key === undefined) return;
    this.keys.delete(id);
    this.resting.delete(id);
    if (this.claims.get(key)?.worker_id === id) this.claims.delete(key);
  }

  /** Called when the worker lives no more: releases the session if the worker has ended. */
  left(id: string): void {
    if (!this.keys.has(id)) return;
    const row = this.views.worker(id);
    if (row === undefined || isEnded(row.state)) this.release(id);
    else this.resting.add(id);
  }

  /** A supervisor may end a resting worker without a call to `left`, so its row is checked. */
  private holderOf(key: string): string | undefined {
    const id = this.claims.get(key)?.worker_id;
    if (id === undefined || !this.resting.has(id)) return id;
    const row = this.views.worker(id);
    if (row !== undefined && !isEnded(row.state)) return id;
    this.release(id);
    return undefined;
  }
}

/** The same id in another directory is another session. */
const keyOf = (spec: WorkerSpec, under: readonly string[], session_id: string): string => {
  const place = under
    .map((name) => spec.env[name] ?? spec.client_env[name])
    .find((value) => value !== undefined);
  return JSON.stringify([spec.kind, place ?? "", session_id]);
};
