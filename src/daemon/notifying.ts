/** The notifications of a daemon: those of its configuration, or none. */
import { Effect, type Scope } from "effect";
import { parseHost } from "../base/host-address.ts";
import { readConfiguration } from "./configuration.ts";
import { NO_NOTIFICATIONS, type NotificationsApi } from "./notifications-api.ts";
import type { OpenNotifications } from "./notify/open.ts";

/** Without a target nothing of it is loaded, and no fiber runs. */
export const openNotifications = (
  options: Omit<OpenNotifications, "settings" | "hosts">,
): Effect.Effect<NotificationsApi, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { notifications: settings, hosts = {} } = readConfiguration(options.stateDir)?.configuration ?? {};
    if (settings === undefined || Object.keys(settings.targets).length === 0) return NO_NOTIFICATIONS;
    const named = [...new Set(settings.hosts)].map((name) => ({
      name,
      address: Object.hasOwn(hosts, name) ? parseHost(hosts[name]!) : undefined,
    }));
    const { openNotifier } = yield* Effect.promise(() => import("./notify/open.ts"));
    return yield* openNotifier({ ...options, settings, hosts: named });
  });
