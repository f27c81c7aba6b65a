/** The file of `agent spawn-many`: a request, or the list of its agents alone, as YAML or JSON. Loads zod and yaml. */
import { parse } from "yaml";
import type * as z from "zod";
import { problemsOf } from "../protocol/problems.ts";
import { Requests } from "../protocol/requests.ts";

const File = Requests["agent/spawn-many"].pick({
  epic_id: true,
  spawn_reason: true,
  requested_subagents: true,
  wait_for_completion: true,
});

/** The request in a text, or every mistake of it. */
export const readSpawnRequest = (
  text: string,
): { readonly request: z.output<typeof File> } | { readonly problems: readonly string[] } => {
  let given: unknown;
  try {
    given = parse(text);
  } catch (cause) {
    return { problems: [`it is neither YAML nor JSON: ${(cause as Error).message.split("\n")[0]}`] };
  }
  const parsed = File.safeParse(Array.isArray(given) ? { requested_subagents: given } : given);
  return parsed.success ? { request: parsed.data } : { problems: problemsOf(parsed.error, "request") };
};
