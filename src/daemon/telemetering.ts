/** The telemetry of a daemon: that of the standard variables or of its configuration, or none. */
import { Effect, type Scope } from "effect";
import { readConfiguration } from "./configuration.ts";
import type { Environment } from "./paths.ts";
import type { OpenTelemetryOptions } from "./telemetry/open.ts";
import { type TelemetryWish, telemetryWish } from "./telemetry/settings.ts";
import { NO_TELEMETRY, type TelemetryApi } from "./telemetry-api.ts";

const wishOf = (stateDir: string, env: Environment): TelemetryWish | undefined =>
  telemetryWish(env, readConfiguration(stateDir)?.configuration.telemetry);

/** Whether agents are told of the daemon's spans. */
export const isTraced = ({ stateDir, env }: Pick<OpenTelemetryOptions, "stateDir" | "env">): boolean => {
  const wish = wishOf(stateDir, env);
  return wish !== undefined && "settings" in wish && wish.settings.traces !== undefined;
};

/** Without a collector nothing of it is loaded, and no fiber runs. */
export const openTelemetry = (
  options: Omit<OpenTelemetryOptions, "settings">,
): Effect.Effect<TelemetryApi, never, Scope.Scope> =>
  Effect.gen(function* () {
    const wish = wishOf(options.stateDir, options.env);
    if (wish === undefined) return NO_TELEMETRY;
    if ("problem" in wish) {
      options.log("warn", "telemetry is off", { reason: wish.problem });
      const standing = {
        endpoint: null,
        spans_sent: 0,
        spans_dropped: 0,
        spans_waiting: 0,
        failing: wish.problem,
      };
      return { standing: () => standing };
    }
    const { openExporter } = yield* Effect.promise(() => import("./telemetry/open.ts"));
    return yield* openExporter({ ...options, settings: wish.settings });
  });
