/** Decides which targets a notification goes to. Pure. */
import { NOTICE_KINDS_DEFAULT, type NotificationTarget } from "../../protocol/notifications.ts";
import type { Notice } from "./notice.ts";

export type Targets = Readonly<Record<string, NotificationTarget>>;

/** Its filters; quiet hours only delay. */
type TargetFilter = Pick<NotificationTarget, "events" | "under" | "labels" | "spawned">;

export const isWanted = (
  { events, under, labels = {}, spawned }: TargetFilter,
  { kind, subject, asks }: Pick<Notice, "kind" | "subject" | "asks">,
): boolean => {
  if (!(events ?? NOTICE_KINDS_DEFAULT).includes(kind)) return false;
  if (kind === "daemon") return true;
  // An agent hears of the ends of its own workers; nobody but a person answers their questions.
  if (subject.is_spawned && asks === null && !spawned) return false;
  const isWithin = under === undefined || under.some((name) => subject.within.includes(name));
  return isWithin && Object.entries(labels).every(([key, value]) => subject.labels[key] === value);
};

export const targetsFor = (
  targets: Targets,
  notice: Pick<Notice, "kind" | "subject" | "asks">,
): readonly string[] =>
  Object.entries(targets)
    .filter(([, target]) => isWanted(target, notice))
    .map(([name]) => name);
