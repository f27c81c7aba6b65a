/** The words of `agent weblisk register` and `agent weblisk task`. Pure. */
import { orchestratorUrl } from "../../base/orchestrator-url.ts";
import type { Call } from "../parse.ts";
import { taskProblems } from "./inputs.ts";
import { capabilityProblems, NAME } from "./served.ts";

const nameProblems = (what: string, name: string): readonly string[] =>
  NAME.test(name)
    ? []
    : [`${what} is 1 to 64 lower-case letters, digits and dashes, not "${name.slice(0, 64)}"`];

const placeProblems = ({ args: [url = ""], flags }: Call): readonly string[] => {
  const as = flags.as as string | undefined;
  return [
    ...(orchestratorUrl(url) === undefined
      ? [`URL begins with http:// or https:// and has no query, not "${url.slice(0, 64)}"`]
      : []),
    ...(as === undefined ? [] : nameProblems("--as", as)),
  ];
};

export const registerProblems = (call: Call): readonly string[] => {
  const { capability, url } = call.flags as {
    readonly capability?: readonly string[];
    readonly url?: string;
  };
  return [
    ...placeProblems(call),
    ...capabilityProblems(capability ?? []),
    ...(url !== undefined && orchestratorUrl(url) === undefined
      ? ["--url takes an address with http:// or https://"]
      : []),
  ];
};

export const remoteTaskProblems = (call: Call): readonly string[] => {
  const { workspace } = call.flags as { readonly workspace?: string };
  return [
    ...placeProblems(call),
    ...nameProblems("AGENT", call.args[1] ?? ""),
    ...taskProblems(call),
    ...(workspace !== undefined && !workspace.startsWith("/")
      ? ["--workspace takes an absolute path of the agent's machine"]
      : []),
  ];
};
