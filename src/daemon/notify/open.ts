/** Opens the notifications of a daemon that has targets; loaded only then. */
import { Effect, type Scope } from "effect";
import { BASE_VARIABLES, isVariable } from "../../base/environment.ts";
import { readSecretFile } from "../../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../../base/limits.ts";
import { EMPTY_OUTBOX } from "../../control/notify/outbox.ts";
import type { Log } from "../log.ts";
import type { Environment } from "../paths.ts";
import { type KeptNotifications, notificationsPath, readKept } from "./kept.ts";
import { Notifier, type NotifierGround } from "./notifier.ts";

export interface OpenNotifications extends Omit<NotifierGround, "file" | "sender"> {
  readonly stateDir: string;
  readonly env: Environment;
}

/** Variables of the user's session, by which a program shows something on a screen. */
const SESSION_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"];

export const openNotifier = (options: OpenNotifications): Effect.Effect<Notifier, never, Scope.Scope> =>
  Effect.gen(function* () {
    const file = notificationsPath(options.stateDir);
    const secrets = {
      variable: (name: string) => options.env[name],
      file: readSecretFile(SECRET_MAX_BYTES),
    };
    const sender = { secrets, env: variablesOf(options.env), wallMs: Date.now };
    const notifier = new Notifier({ ...options, file, sender }, keptIn(file, options.log));
    yield* notifier.run;
    return notifier;
  });

const variablesOf = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        [...BASE_VARIABLES, ...SESSION_VARIABLES].some((pattern) => isVariable(pattern, entry[0])),
    ),
  );

/** A file that cannot be read holds up nothing: what it had is in the log. */
const keptIn = (file: string, log: Log): KeptNotifications => {
  try {
    return readKept(file);
  } catch (cause) {
    log("warn", "the kept notifications cannot be read, and are left out", {
      cause: (cause as Error).message,
    });
    return { outbox: EMPTY_OUTBOX, links: [] };
  }
};
