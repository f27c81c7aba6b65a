/** Tool calls that were denied for lack of permission, counted by tool. Pure. */
import { DENIED_TOOLS_MAX } from "../base/limits.ts";

export interface DeniedCalls {
  /** Null if the agent did not name the tool, or if DENIED_TOOLS_MAX others are named already. */
  readonly tool: string | null;
  readonly calls: number;
}

/** Adds denied calls of one tool. */
export const addDenied = (
  denied: readonly DeniedCalls[],
  tool: string | null,
  calls = 1,
): readonly DeniedCalls[] => {
  const isKnown = denied.some((one) => one.tool === tool);
  if (isKnown) return denied.map((one) => (one.tool === tool ? { tool, calls: one.calls + calls } : one));
  const isFull = denied.filter((one) => one.tool !== null).length >= DENIED_TOOLS_MAX;
  return tool !== null && isFull ? addDenied(denied, null, calls) : [...denied, { tool, calls }];
};

export const deniedCount = (denied: readonly DeniedCalls[]): number =>
  denied.reduce((sum, { calls }) => sum + calls, 0);
