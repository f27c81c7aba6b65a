/** The socket of a runtime, for a daemon and for a program that serves its own. */
import { Effect, type Scope } from "effect";
import type { Defects } from "../actors/defects.ts";
import { attempt } from "../actors/machine/attempt.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { artifactsOfReplies } from "./artifacts.ts";
import { ClientConnection } from "./connection.ts";
import { startingFibers } from "./fibers.ts";
import type { Guard } from "./guard.ts";
import type { HandlerServices } from "./handlers/handler.ts";
import { connectionsOf } from "./limits.ts";
import { softLimitOf, textAt } from "./machine-files.ts";
import { isOpenToOthers } from "./modes.ts";
import { referencedAside } from "./offline.ts";
import type { Environment } from "./paths.ts";
import type { makePeers } from "./peer.ts";
import { atStart, type OwnedStateDirectory } from "./place.ts";
import { listen, type SocketServer } from "./socket.ts";
import { checkedSocket } from "./socket-check.ts";
import type { Turns } from "./turns.ts";

interface ServingOptions {
  readonly stateDir: string;
  readonly env: Environment;
  readonly defects: Defects;
}

/** The store of answers that are too large for an envelope. */
export const openArtifacts = (options: Pick<ServingOptions, "stateDir" | "env">) =>
  Effect.gen(function* () {
    const aside = yield* Effect.acquireRelease(
      Effect.sync(() => referencedAside(options.stateDir)),
      (thread) => Effect.sync(() => thread.close()),
    );
    return yield* attempt(() => artifactsOfReplies(options.stateDir, options.env, aside));
  });

interface SocketParts {
  readonly peers: ReturnType<typeof makePeers>;
  /** Shared by all doors of the process. */
  readonly turns: Turns;
  readonly output: { readonly inline_max_bytes: number };
}

export const serveSocket = (
  { env, defects }: Pick<ServingOptions, "env" | "defects">,
  { path, token }: Pick<OwnedStateDirectory, "path" | "token">,
  services: Omit<HandlerServices, "caller">,
  { peers, turns, output }: SocketParts,
): Effect.Effect<SocketServer, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const connectionsMax = yield* atStart(() =>
      connectionsOf(env, softLimitOf(textAt("/proc/self/limits") ?? "", "Max open files")),
    );
    const run = yield* startingFibers;
    const guard: Guard = { token, isNeeded: () => isOpenToOthers(path) };
    const isTest = env.HOLDFAST_VALIDATE === "1";
    return yield* listen(path, connectionsMax, (socket) => {
      const callerOf = peers.callerOf(socket);
      const sending = isTest ? checkedSocket(socket, output.inline_max_bytes) : socket;
      const { principalOf } = services.runtime;
      const lane = turns.lane();
      return new ClientConnection(sending, {
        services,
        callerOf,
        principalOf,
        run,
        defects,
        guard,
        turns: lane,
      });
    });
  });
