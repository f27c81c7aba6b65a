/** The doctor's finding about OpenTelemetry: whether the collector takes what is sent. */
import type { Context } from "../context.ts";
import { oneLine } from "../render/terminal.ts";
import { count } from "../render/units.ts";
import type { Check } from "../reports.ts";

/** Undefined without a daemon that answers, or without telemetry. */
export const telemetry = async (context: Context): Promise<Check | undefined> => {
  const name = "telemetry";
  const status = await context
    .connect()
    .then((client) => client.request("daemon/status", {}))
    .catch(() => undefined);
  const found = status?.telemetry;
  if (found === undefined || found === null) return undefined;
  const dropped = found.spans_dropped === 0 ? "" : `; ${count(found.spans_dropped, "span")} dropped`;
  if (found.failing !== null)
    return {
      name,
      result: "warn",
      finding: `the collector takes nothing: ${oneLine(found.failing)}${dropped}`,
      fix: "See docs/how-to/telemetry.md.",
    };
  const finding = `${count(found.spans_sent, "span")} sent to ${found.endpoint}${dropped}`;
  return { name, result: found.spans_dropped === 0 ? "ok" : "warn", finding };
};
