/** daemon/* and db/*: the daemon itself and its log. */
import { Effect } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { command, type Handlers, type RequestHandler, read } from "./handler.ts";

const status: RequestHandler<"daemon/status"> = {
  lifetime: "read",
  run: ({ runtime, facts }) => Effect.map(runtime.status(), (known) => success({ ...known, ...facts() })),
};

const stop: RequestHandler<"daemon/stop"> = {
  lifetime: "command",
  run: ({ runtime, caller, shutdown }, { agents }) =>
    Effect.gen(function* () {
      const by = yield* runtime.permitAll(caller(), "stop the daemon");
      const { live } = (yield* runtime.status()).workers;
      if (agents === "refuse" && live > 0) {
        const are = live === 1 ? "1 agent is" : `${live} agents are`;
        return yield* Effect.fail(
          new HoldfastError("AGENTS_RUNNING", `${are} running.`, { details: { live } }),
        );
      }
      const what = agents === "kill" ? "kill" : "keep";
      yield* shutdown(what, "daemon/stop", by);
      return success({ agents: what, live } as const);
    }),
};

export const DAEMON: Handlers<"daemon/status" | "daemon/stop" | "db/check" | "db/gc" | "db/rebuild"> = {
  "daemon/status": status,
  "daemon/stop": stop,
  "db/check": read((runtime) => runtime.check()),
  "db/gc": command((runtime, { caller, ...data }) =>
    Effect.andThen(runtime.permitAll(caller, "archive output"), runtime.gc(data)),
  ),
  "db/rebuild": command((runtime, { caller }) =>
    Effect.andThen(runtime.permitAll(caller, "rebuild the projections"), runtime.rebuild()),
  ),
};
