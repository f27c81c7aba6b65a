/** Plans the launch of a plain command: argv unchanged, and the prompt on stdin, as in a pipe. */
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
