/** How a plain command runs: its argv as given, the prompt on stdin as a pipe's user expects it. */
import type { LaunchPlan, PlanContext } from "../../adapter.ts";

export const plan = ({ spec }: PlanContext): LaunchPlan => {
  const text = spec.prompt ?? "";
  return {
    argv: spec.argv,
    env: {},
    stdin: spec.interactive
      ? { kind: "open", text }
      : text === ""
        ? { kind: "empty" }
        : { kind: "text", text },
  };
};
