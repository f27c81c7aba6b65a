/** Notifications: what a user is told about, and `notifications:` of config.yaml, which says where and when. */
import * as z from "zod";
import { isTimeZone } from "../base/cron.ts";
import { parseDuration } from "../base/durations.ts";
import { VARIABLE_NAME } from "../base/environment.ts";
import {
  NAME_MAX_BYTES,
  NOTIFY_COMMAND_WORDS_MAX,
  NOTIFY_DEBOUNCE_MAX_MS,
  NOTIFY_FILTERS_MAX,
  NOTIFY_HOSTS_MAX,
  NOTIFY_TARGETS_MAX,
} from "../base/limits.ts";
import { HttpUrl, SecretReference } from "./providers.ts";
import { NAME_FORM } from "./spec-fields.ts";

/** The kinds of event that a notification tells. */
export const NOTICE_KINDS = [
  /** An agent asks for a permission, and no rule answers. */
  "approval",
  /** A worker is stuck, or its turn was interrupted: it asks how to go on. */
  "question",
  /** A budget is spent. */
  "budget",
  /** A worker has failed, and nothing starts it again. */
  "failed",
  /** A worker or a supervisor gave up after too many restarts. */
  "parked",
  /** A worker waits until its provider's rate limit resets. */
  "rate_limit",
  /** A worker has completed; told only where a target names it. */
  "completed",
  /** The daemon itself: it died and was started again, contained a defect, or cannot write its log. */
  "daemon",
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** The kinds of a target that names none. */
export const NOTICE_KINDS_DEFAULT: readonly NoticeKind[] = NOTICE_KINDS.filter(
  (kind) => kind !== "completed",
);

const Kinds = z.array(z.enum(NOTICE_KINDS)).min(1).max(NOTICE_KINDS.length);
const Word = z.string().min(1).max(4_096);

const Webhook = z.strictObject({
  url: HttpUrl,
  /** The secret that signs, as Standard Webhooks writes it: `whsec_` and Base64. */
  secret: SecretReference,
});

const Program = z.strictObject({
  /** The program and its arguments; the notification is JSON on its stdin. */
  argv: z.array(Word).min(1).max(NOTIFY_COMMAND_WORDS_MAX),
  /** Variables beside PATH, HOME, LANG and the session's own: a value, `@env:NAME` or `@file:/PATH`. */
  env: z.record(z.string().regex(VARIABLE_NAME, "it is no name of a variable"), z.string()).default({}),
});

const Ntfy = z.strictObject({
  /** The server, without the topic. */
  url: HttpUrl.default("https://ntfy.sh"),
  topic: z.string().regex(/^[\w-]{1,64}$/, "a topic has letters, digits, '_' and '-'"),
  /** Sent as `Authorization: Bearer`. */
  token: SecretReference.optional(),
});

const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "a time is HH:MM, from 00:00 to 23:59");

const Quiet = z
  .strictObject({
    from: ClockTime,
    to: ClockTime,
    zone: z
      .string()
      .max(NAME_MAX_BYTES)
      .refine(isTimeZone, "it is no time zone of the IANA, such as UTC or Europe/Berlin"),
    /** Kinds that come all the same. */
    except: Kinds.optional(),
  })
  .refine(({ from, to }) => from !== to, "quiet hours that begin and end at one time have no length");
export type QuietHours = z.output<typeof Quiet>;

const Debounce = z
  .string()
  .transform((text, { addIssue }) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms <= NOTIFY_DEBOUNCE_MAX_MS) return ms;
    addIssue({ code: "custom", message: "it is a duration such as 30s, of at most an hour" });
    return z.NEVER;
  })
  .optional();

const FilterWords = z.array(z.string().min(1).max(NAME_MAX_BYTES)).min(1).max(NOTIFY_FILTERS_MAX);

const Target = z
  .strictObject({
    webhook: Webhook.optional(),
    command: Program.optional(),
    ntfy: Ntfy.optional(),
    /** Default: all but completed. */
    events: Kinds.optional(),
    /** Only these supervisors and workers, by path or name, and everything below them. */
    under: FilterWords.optional(),
    /** Only workers that have all of these labels. */
    labels: z.record(z.string(), z.string()).optional(),
    /** Workers that an agent has spawned tell of their ends too. A question of theirs always comes. */
    spawned: z.boolean().default(false),
    quiet: Quiet.optional(),
    /** Waits this long for more of the same worker and kind, and tells them as one. */
    debounce: Debounce,
    /** Its address may be of this machine or of a private network. */
    private: z.boolean().default(false),
  })
  .refine(
    ({ webhook, command, ntfy }) => [webhook, command, ntfy].filter((one) => one !== undefined).length === 1,
    "a target is exactly one of webhook, command and ntfy",
  );
export type NotificationTarget = z.output<typeof Target>;

export const Notifications = z.strictObject({
  /** Names in `hosts:` of other hosts whose news this daemon tells too. */
  hosts: z.array(z.string().min(1).max(NAME_MAX_BYTES)).max(NOTIFY_HOSTS_MAX).default([]),
  /** The address of this daemon's HTTP in links, if a proxy passes requests on. Default: where it listens. */
  url: HttpUrl.optional(),
  targets: z
    .record(
      z
        .string()
        .max(NAME_MAX_BYTES)
        .regex(NAME_FORM, "a target's name has letters, digits, '.', '_' and '-'"),
      Target,
    )
    .refine(
      (all) => Object.keys(all).length <= NOTIFY_TARGETS_MAX,
      `there are at most ${NOTIFY_TARGETS_MAX} targets`,
    )
    .default({}),
});
export type NotificationSettings = z.output<typeof Notifications>;

/** The keys of a target, for the report of an unknown one. */
export const notificationKeys = ([, name]: readonly PropertyKey[]): readonly string[] =>
  Object.keys((name === undefined ? Notifications : Target).shape);
