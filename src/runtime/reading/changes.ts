/** Answers `agent changes` and carries out `agent worktree remove`. */
import { Effect } from "effect";
import { attempt, attemptAsync, typed } from "../../actors/machine/attempt.ts";
import { secretsOf } from "../../actors/worker/launching.ts";
import { workspaceIn } from "../../actors/worker/workspaces.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerWorkspace } from "../../protocol/records.ts";
import { makeRedactor, type Redactor } from "../../protocol/redact.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { CallerOptions, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { PerWorker } from "../replies.ts";
import { perWorker } from "./views.ts";

type EachWorker = (
  refs: readonly string[],
  one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>,
) => Effect.Effect<readonly PerWorker[]>;

const notKept = (id: string): HoldfastError =>
  new HoldfastError(
    "UNSUPPORTED_CAPABILITY",
    `Worker ${id} has no worktree of its own, so it is unknown what its agent changed.`,
    { suggestion: "Spawn it with --worktree; for this one, see `git status` in its cwd." },
  );

const nothingToRemove = (id: string): HoldfastError =>
  new HoldfastError("UNSUPPORTED_CAPABILITY", `Worker ${id} has no worktree of its own.`, {
    suggestion: "There is nothing to remove: it works in its cwd.",
  });

export class ChangesReader {
  private readonly core: Core;
  private readonly each: EachWorker;

  constructor(core: Core, each: EachWorker) {
    this.core = core;
    this.each = each;
  }

  readonly changes: RuntimeApi["changes"] = (ref) =>
    Effect.gen({ self: this }, function* () {
      const { workspaces, artifacts } = this.core.services;
      const row = yield* this.core.find(ref);
      const workspace = yield* this.workspaceOf(row, notKept);
      if (workspaces === undefined || artifacts === undefined) return yield* Effect.fail(notKept(row.id));
      const spec = yield* attemptAsync(() => this.core.services.files.load(row.id));
      const redact = yield* this.redactorFor(row, spec);
      const found = yield* attemptAsync(() => workspaces.changes(workspace, spec.client_env));
      const masked = found.diff === undefined ? undefined : maskedDiff(found.diff, redact);
      const kept =
        masked === undefined || masked.bytes.length === 0
          ? undefined
          : yield* attemptAsync(() => artifacts.put(masked.bytes));
      return {
        id: row.id,
        workspace,
        files: found.files,
        omitted: found.totals.files - found.files.length,
        totals: found.totals,
        diff:
          kept === undefined
            ? null
            : { digest: kept.digest, size_bytes: kept.size_bytes, masked: masked?.isChanged === true },
      };
    });

  readonly removeWorktrees: RuntimeApi["removeWorktrees"] = (refs, how = {}) =>
    this.each(refs, (row) => this.removeOne(row, how));

  private removeOne(row: WorkerRow, how: CallerOptions): Effect.Effect<PerWorker, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { workspaces } = this.core.services;
      yield* asker(this.core.authority.permit, how, "remove", row);
      const workspace = yield* this.workspaceOf(row, nothingToRemove);
      if (!isEnded(row.state))
        return yield* Effect.fail(
          new HoldfastError(
            "INVALID_STATE",
            `Worker ${row.id} has not ended, and works in ${workspace.path}.`,
            {
              suggestion: "Stop it first with `agent kill`.",
            },
          ),
        );
      const { client_env } = yield* attemptAsync(() => this.core.services.files.load(row.id));
      const removed = yield* attemptAsync(
        () => workspaces?.remove(workspace, client_env) ?? Promise.resolve(false),
      );
      return perWorker(row, removed ? "deleted" : "noop");
    });
  }

  private workspaceOf(
    row: WorkerRow,
    without: (id: string) => HoldfastError,
  ): Effect.Effect<WorkerWorkspace, HoldfastError> {
    return Effect.flatMap(
      attempt(() => workspaceIn(this.core.services.log, row.id)),
      (workspace) => {
        if (workspace !== undefined) return Effect.succeed(workspace);
        if (row.spec.worktree === undefined) return Effect.fail(without(row.id));
        return Effect.fail(
          new HoldfastError(
            "INVALID_STATE",
            `Worker ${row.id} has not been started, and has no worktree yet.`,
          ),
        );
      },
    );
  }

  /** Masks the secrets of the worker's agents, even if one of them can no longer be read. */
  private redactorFor(row: WorkerRow, spec: WorkerSpec): Effect.Effect<Redactor, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const adapter = yield* this.core.adapterOf(row.kind);
      const prepared = yield* Effect.option(
        typed(this.core.services.prepare(adapter, spec, 1, undefined, row.id)),
      );
      const resolved = prepared._tag === "Some" ? prepared.value.secrets : [];
      return makeRedactor([...resolved, ...secretsOf(spec, adapter)]);
    });
  }
}

/** Masks a diff. If it is not valid text, it is searched byte for byte. */
const maskedDiff = (
  diff: Buffer,
  redact: Redactor,
): { readonly bytes: Uint8Array; readonly isChanged: boolean } => {
  const encoding = isText(diff) ? "utf8" : "latin1";
  const before = diff.toString(encoding);
  const after = redact.text(before);
  return after === before
    ? { bytes: diff, isChanged: false }
    : { bytes: Buffer.from(after, encoding), isChanged: true };
};

const isText = (bytes: Buffer): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};
