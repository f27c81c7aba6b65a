/** The telling part of a tool's input: for rules that compare it, and for lists that people read. Pure. */

/** Keys under which agents put the argument of a tool, the most telling first. */
const ARGUMENTS = [
  "command",
  "cmd",
  "script",
  "file_path",
  "filePath",
  "absolute_path",
  "path",
  "url",
  "query",
  "pattern",
] as const;

/**
 * The texts that a rule's pattern is compared with; for a list of shell words, the whole line and its script. Empty if the
 * input has none of the known keys.
 */
export const argumentsOf = (input: unknown): readonly string[] => {
  if (typeof input === "string") return [input];
  if (typeof input !== "object" || input === null) return [];
  return ARGUMENTS.flatMap((name) => {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === "string") return [value];
    if (!Array.isArray(value) || !value.every((part) => typeof part === "string")) return [];
    const script = /^-\w*c$/.test(value.at(-2) ?? "") ? value.at(-1) : undefined;
    return script === undefined ? [value.join(" ")] : [script];
  });
};

/** The argument of a request, for lists that people read. */
export const argumentOf = (input: unknown): string | undefined => argumentsOf(input)[0];
