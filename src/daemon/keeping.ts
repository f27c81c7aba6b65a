/**
 * Keeps files in place while the daemon lives: the state directory, the lock, `daemon.json`, the socket and
 * the link to it. If somebody deletes one, a periodic check makes it again without a restart. A failure is
 * reported once, and tried again.
 */
import { existsSync } from "node:fs";
import { Effect, type Scope } from "effect";
import { FILES_LOOK_MS } from "../base/limits.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import { type DaemonFile, readDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import type { StateLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";
import type { Pulse } from "./pulse.ts";
import { keepLink } from "./runtime-link.ts";

export interface KeptFile {
  readonly what: string;
  /** The sentences for it, if they differ from the default ones. */
  readonly words?: { readonly wrong: string; readonly right: string };
  /** True if it had to be made again. Fails if it cannot be made. */
  readonly keep: Effect.Effect<boolean, HoldfastError>;
}

const WORDS = {
  wrong: "is gone and cannot be made again",
  right: "was gone or replaced, and is there again",
};

/**
 * The directory comes first, then the lock: without the lock, nothing else is touched. `onLost` is called if
 * another daemon has taken the lock.
 */
export const keepInPlace = (
  pulse: Pulse,
  stateDir: string,
  lock: StateLock,
  others: readonly KeptFile[],
  log: Log,
  onLost: (error: HoldfastError) => Effect.Effect<unknown>,
): Effect.Effect<void, never, Scope.Scope> => {
  const told = new Map<KeptFile, string>();
  /** True if the file is in order. */
  const keep = (kept: KeptFile): Effect.Effect<boolean> => {
    const { what, words = WORDS } = kept;
    return kept.keep.pipe(
      Effect.map((again) => {
        if (again || told.delete(kept)) log("warn", `${what} ${words.right}`);
        return true;
      }),
      Effect.catchCause((cause) =>
        Effect.sync(() => {
          const why = String(cause);
          if (told.get(kept) !== why) log("error", `${what} ${words.wrong}`, { cause: why });
          told.set(kept, why);
          return false;
        }),
      ),
    );
  };
  const directory: KeptFile = {
    what: "the state directory",
    keep: Effect.sync(() => {
      if (existsSync(stateDir)) return false;
      ensurePrivateDirectory(stateDir);
      return true;
    }),
  };
  const heldLock: KeptFile = {
    what: "the lock",
    keep: Effect.suspend(() => {
      try {
        return Effect.succeed(lock.keep());
      } catch (cause) {
        const error = asHoldfastError(cause);
        return error.code === "LOCK_HELD" ? Effect.as(onLost(error), false) : Effect.fail(error);
      }
    }),
  };
  const look = Effect.gen(function* () {
    if (!(yield* keep(directory))) return;
    if (yield* keep(heldLock)) for (const kept of others) yield* keep(kept);
  });
  const next = Effect.callback<void>((resume) => {
    const leave = pulse.every(FILES_LOOK_MS, () => resume(Effect.void));
    return Effect.sync(leave);
  });
  return Effect.asVoid(Effect.forkScoped(Effect.forever(Effect.andThen(look, next))));
};

/** Keeps `daemon.json` as this daemon wrote it. */
export const keptDaemonFile = (stateDir: string, own: DaemonFile): KeptFile => ({
  what: "daemon.json",
  keep: Effect.sync(() => {
    if (readDaemonFile(stateDir)?.pid === own.pid) return false;
    writeDaemonFile(stateDir, own);
    return true;
  }),
});

export const keptLink = (link: string, socket: string): KeptFile => ({
  what: "the link to the socket",
  keep: Effect.promise(() => keepLink(link, socket)),
});
