/** The end of a task elsewhere as a line for its runtime. Pure. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { RemoteLine } from "../../protocol/weblisk-lines.ts";
import { plain } from "../wire/refusal.ts";
import type { RemoteResult } from "./steps.ts";

type RemoteEndLine = Extract<RemoteLine, { readonly type: "end" }>;

/** The answer in words: the member `text`, or else the whole output. */
const textOf = (output: JsonObject): string =>
  asString(output.text) ?? (Object.keys(output).length === 0 ? "" : canonicalJson(output));

export const failureOf = (agent: string, { error }: JsonObject): string => {
  const code = asString(asObject(error)?.code);
  return `The agent ${agent} failed${code === undefined ? "" : `: ${plain(code).slice(0, 64)}`}.`;
};

export const endOf = (agent: string, result: RemoteResult): RemoteEndLine => {
  const { status, output, duration_ms, changes, observations } = result;
  return {
    type: "end",
    error: status === "success" ? null : { code: "TASK_FAILED", message: failureOf(agent, output) },
    text: status === "success" ? textOf(output) : (asString(output.text) ?? ""),
    duration_ms,
    changes: changes.length,
    observations: observations.length,
  };
};

/** The end of a task that its agent did not end, or whose end is not believed. */
export const endBy = (cause: unknown): RemoteEndLine => {
  const { code, message, info } = asHoldfastError(cause);
  const { retry_after_s } = info;
  return {
    type: "end",
    error: { code, message, ...(retry_after_s !== undefined && { retry_after_s }) },
    text: "",
    duration_ms: null,
    changes: 0,
    observations: 0,
  };
};
