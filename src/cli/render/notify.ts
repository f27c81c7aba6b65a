/** Notifications as text for people. */
import type {
  NotifyListReply,
  NotifyResendReply,
  NotifyTargetView,
  NotifyTestReply,
} from "../../protocol/replies/notify.ts";
import { age } from "./pairs.ts";
import { oneLine, type Paint, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { count } from "./units.ts";

const standing = ({ failing, quiet, pending }: NotifyTargetView, paint: Paint): string => {
  if (failing !== null) return paint("bad", oneLine(failing));
  if (pending === 0) return quiet ? "quiet hours" : "";
  return `${count(pending, "notification")} waiting${quiet ? ", in quiet hours" : ""}`;
};

const listText: TextOf<NotifyListReply> = ({ targets, hosts, dead }, { paint, now, columns }) => {
  if (targets.length === 0) return "";
  const head = ["TARGET", "TYPE", "TO", "SENT", "LAST", "STATE"].map((cell) => paint("dim", cell));
  const rows = targets.map((target) => [
    paint("bold", target.name),
    target.type,
    oneLine(target.to),
    String(target.sent),
    target.sent_at === null ? "–" : age(target.sent_at, now),
    standing(target, paint),
  ]);
  const given = dead.map(
    ({ target, id, title, attempts, reason, at }) =>
      `${paint("bad", "not sent")}  ${oneLine(title)}  ${paint("dim", `to ${oneLine(target)}, ${age(at, now)} ago, after ${count(attempts, "attempt")}: ${oneLine(reason)}; again with: agent notify resend ${id}`)}`,
  );
  const followed = hosts.map(
    ({ name, failing }) =>
      `${paint("bold", oneLine(name))}  ${failing === null ? "its news come too" : paint("bad", oneLine(failing))}`,
  );
  return [
    table([head, ...rows], { fit: columns }),
    ...followed,
    ...(given.length === 0 ? [] : ["", ...given]),
  ].join("\n");
};

const testText: TextOf<NotifyTestReply> = ({ results }, { paint }) =>
  results.map(({ target }) => `${paint("bold", target)}  took the test`).join("\n");

const resendText: TextOf<NotifyResendReply> = ({ results }, { paint }) =>
  results
    .map(({ target, title }) => `${oneLine(title)}  ${paint("dim", `waits again for ${oneLine(target)}`)}`)
    .join("\n");

/** By command. */
export const NOTIFY_TEXTS = { "notify/list": listText, "notify/resend": resendText, "notify/test": testText };
