/** The notifications of a daemon: those of its configuration, or none. */
import { Effect, type Scope } from "effect";
import type { NotificationSettings } from "../protocol/notifications.ts";
import { readConfiguration } from "./configuration.ts";
import { NO_NOTIFICATIONS, type NotificationsApi } from "./notifications-api.ts";
import type { OpenNotifications } from "./notify/open.ts";

/** Without a target nothing of it is loaded, and no fiber runs. */
export const openNotifications = (
  options: Omit<OpenNotifications, "settings">,
): Effect.Effect<NotificationsApi, never, Scope.Scope> =>
  Effect.gen(function* () {
    const settings = settingsIn(options.stateDir);
    if (settings === undefined || Object.keys(settings.targets).length === 0) return NO_NOTIFICATIONS;
    const { openNotifier } = yield* Effect.promise(() => import("./notify/open.ts"));
    return yield* openNotifier({ ...options, settings });
  });

const settingsIn = (stateDir: string): NotificationSettings | undefined =>
  readConfiguration(stateDir)?.configuration.notifications;
