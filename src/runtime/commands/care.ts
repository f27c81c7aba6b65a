/** Renames workers, archives ended ones, and removes what is left of them. */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { workspaceIn } from "../../actors/worker/workspaces.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import { isTellable, NOT_TELLABLE } from "../../protocol/redact.ts";
import type { KeptWorker, PrunedWorker, PruneReply, RenameReply } from "../../protocol/replies/care.ts";
import { isEnded } from "../../protocol/worker.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { CallerOptions, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import { called } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { perWorker } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import { isSelected } from "../selecting.ts";
import type { Forest } from "../trees/forest.ts";
import type { ForEachRef } from "./each.ts";

type PruneAsked = Parameters<RuntimeApi["prune"]>[0];

const refused = (row: WorkerRow, why: string, suggestion: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${row.name ?? row.id} ${why}.`, { suggestion });

const draft = <T extends "worker_renamed" | "worker_archived" | "worker_pruned">(
  row: WorkerRow,
  type: T,
  payload: Extract<RecordDraft, { type: T }>["payload"],
): RecordDraft => ({ type, stream: workerStream(row.id), worker_id: row.id, payload }) as RecordDraft;

export class Caring {
  private readonly core: Core;
  private readonly forest: Pick<Forest, "treeOf">;
  private readonly each: ForEachRef;

  constructor(core: Core, forest: Pick<Forest, "treeOf">, each: ForEachRef) {
    this.core = core;
    this.forest = forest;
    this.each = each;
  }

  readonly archive: RuntimeApi["archive"] = (ids, { undo = false, ...how } = {}) =>
    this.each(ids, (row) => this.archiveOne(row, undo, how));

  readonly rename: RuntimeApi["rename"] = (ref, name, how = {}) =>
    Effect.gen({ self: this }, function* () {
      const row = yield* this.core.find(ref);
      const by = yield* asker(this.core.authority.permit, how, "rename", row);
      if (row.supervisor !== "root")
        return yield* Effect.fail(
          refused(row, "is named by its place in its file", "Change the name in the file, then: agent up"),
        );
      if (row.spec.placed !== undefined && !isEnded(row.state))
        return yield* Effect.fail(
          refused(
            row,
            "is known to its cluster by its name",
            "End it, and place it anew: agent spawn --where",
          ),
        );
      if (!isTellable(name))
        return yield* Effect.fail(new HoldfastError("INVALID_REQUEST", `name: ${NOT_TELLABLE}.`));
      const reply: RenameReply = { id: row.id, name, before: row.name, effect: "updated" };
      if (row.name === name) return { ...reply, effect: "noop" as const };
      const taken = yield* attempt(() => this.core.admission.rename(row.id, name));
      if (taken !== undefined) return yield* Effect.fail(taken);
      const renamed = this.core.commit([draft(row, "worker_renamed", { name, before: row.name, by })]);
      yield* Effect.tapError(renamed, () =>
        Effect.sync(() => this.core.admission.rename(row.id, row.name ?? undefined)),
      );
      // The record decides: if the spec is gone or cannot be written, a reader takes the name of the row.
      yield* Effect.ignore(
        attemptAsync(async () => {
          const { files } = this.core.services;
          await files.save(row.id, called(await files.load(row.id), { name }));
        }),
      );
      return reply;
    });

  readonly prune: RuntimeApi["prune"] = (asked) =>
    Effect.gen({ self: this }, function* () {
      const { dry_run = false, limit, cursor = "", ...how } = asked;
      const found = (yield* attempt(() => this.prunable(asked))).filter(({ id }) => id > cursor);
      const page = found.slice(0, limit);
      const workers: PrunedWorker[] = [];
      const kept: KeptWorker[] = [];
      for (const row of page)
        yield* Effect.match(this.pruneOne(row, dry_run, how), {
          onSuccess: (pruned) => void workers.push(pruned),
          onFailure: ({ code, message }) =>
            void kept.push({ id: row.id, name: row.name, code, reason: message }),
        });
      const last = page.at(-1);
      const done = dry_run ? "would_delete" : "deleted";
      return {
        effect: workers.length === 0 ? "noop" : done,
        workers,
        kept,
        freed_bytes: workers.reduce((sum, { freed_bytes }) => sum + freed_bytes, 0),
        ...(last !== undefined && found.length > page.length ? { cursor: last.id } : {}),
      } satisfies PruneReply;
    });

  private archiveOne(
    row: WorkerRow,
    undo: boolean,
    how: CallerOptions,
  ): Effect.Effect<PerWorker, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const by = yield* asker(this.core.authority.permit, how, "archive", row);
      if (!isEnded(row.state) && !undo)
        return yield* Effect.fail(
          refused(
            row,
            "has not ended, and only ended workers can be archived",
            "Stop it first with `agent kill`.",
          ),
        );
      if (row.archived !== undo) return perWorker(row, "noop");
      yield* this.core.commit([draft(row, "worker_archived", { by, undone: undo })]);
      return perWorker(row, "updated");
    });
  }

  /** Ended workers that match, oldest first. Leaves out those of a tree that is up, which may start them again. */
  private prunable({ labels, statuses, ended_before_ms }: PruneAsked): readonly WorkerRow[] {
    const { views } = this.core.services;
    const latest =
      ended_before_ms === undefined ? Number.POSITIVE_INFINITY : this.core.wallMs() - ended_before_ms;
    return views
      .workers()
      .filter(
        (row) =>
          isEnded(row.state) &&
          !row.pruned &&
          isSelected(row, { labels, statuses, archived: row.archived }) &&
          Date.parse(row.ended_at ?? row.created_at) <= latest &&
          this.forest.treeOf(row.supervisor) === undefined,
      )
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  private pruneOne(
    row: WorkerRow,
    dryRun: boolean,
    how: CallerOptions,
  ): Effect.Effect<PrunedWorker, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { services, authority, roster, commit } = this.core;
      const by = yield* asker(authority.permit, how, "remove", row);
      const workspace = yield* attempt(() => workspaceIn(services.log, row.id));
      const freed_bytes = yield* attemptAsync(() => services.files.size(row.id));
      const pruned: PrunedWorker = {
        id: row.id,
        name: row.name,
        status: statusOf(row.state),
        ended_at: row.ended_at,
        freed_bytes,
        worktree: workspace?.path ?? null,
      };
      if (dryRun) return pruned;
      if (workspace !== undefined) {
        const { client_env } = yield* attemptAsync(() => services.files.load(row.id));
        yield* attemptAsync(async () => services.workspaces?.remove(workspace, client_env));
      }
      // The worker may have been started again meanwhile.
      if (roster.live.has(row.id) || this.core.admission.isSeated(row.id))
        return yield* Effect.fail(refused(row, "was started again", "It stays as it is."));
      yield* commit([draft(row, "worker_pruned", { by, freed_bytes, worktree: workspace !== undefined })]);
      yield* attemptAsync(() => services.files.remove(row.id));
      return pruned;
    });
  }
}
