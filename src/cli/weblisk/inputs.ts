/** The payload of a federated task, as the command line gives it. Pure. */
import { asObject, type JsonObject } from "../../base/json.ts";
import type { Call } from "../parse.ts";

/** Undefined if the text is no JSON object. */
const objectIn = (text: string): JsonObject | undefined => {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** `text` was checked by `taskProblems`. */
export const inputsIn = (text: string | undefined): JsonObject =>
  text === undefined ? {} : (objectIn(text) ?? {});

export const taskProblems = ({
  args: [, , prompt],
  flags,
}: Pick<Call, "args" | "flags">): readonly string[] => {
  const { inputs, id } = flags as { readonly inputs?: string; readonly id?: string };
  return [
    ...(prompt === undefined && inputs === undefined ? ["a task needs a PROMPT, or --inputs"] : []),
    ...(inputs !== undefined && objectIn(inputs) === undefined ? ["--inputs takes a JSON object"] : []),
    ...(id !== undefined && !/^[0-9a-f]{32}$/.test(id) ? ["--id takes 32 hexadecimal digits"] : []),
  ];
};
