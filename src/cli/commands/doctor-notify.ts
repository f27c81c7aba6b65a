/** The doctor's finding about notifications: a person who hears nothing must not take that for good news. */
import type { Context } from "../context.ts";
import { oneLine } from "../render/terminal.ts";
import { count } from "../render/units.ts";
import type { Check } from "../reports.ts";

/** Undefined without a daemon that answers, or without a target. */
export const notifications = async (context: Context): Promise<Check | undefined> => {
  const name = "notifications";
  const reply = await context
    .connect()
    .then((client) => client.request("notify/list", {}))
    .catch(() => undefined);
  if (reply === undefined || reply.targets.length === 0) return undefined;
  const fix = "agent notify list shows them, agent notify test tries the targets.";
  const failing = reply.targets.find((target) => target.failing !== null);
  if (failing !== undefined) {
    const finding = `${oneLine(failing.name)} takes none now: ${oneLine(failing.failing ?? "")}`;
    return { name, result: "warn", finding, fix };
  }
  const away = reply.hosts.find((host) => host.failing !== null);
  if (away !== undefined) {
    const finding = `the news of ${oneLine(away.name)} do not come: ${oneLine(away.failing ?? "")}`;
    return { name, result: "warn", finding, fix };
  }
  if (reply.dead.length > 0)
    return {
      name,
      result: "warn",
      finding: `${count(reply.dead.length, "notification")} could not be sent`,
      fix,
    };
  return {
    name,
    result: "ok",
    finding: `${count(reply.targets.length, "target")}, and nothing was given up`,
  };
};
