/** The mistakes between the flags of `agent init`. */
import { kindOf, PROGRAM_KIND, unknownKind } from "../../commands/kinds.ts";
import type { Call } from "../parse.ts";

export const initProblems = ({ argv, flags }: Call): readonly string[] => {
  const kind = flags.kind as string | undefined;
  const isProgram = argv !== undefined || (kind !== undefined && kindOf(kind)?.kind === PROGRAM_KIND);
  const problems: string[] = [];
  if (kind !== undefined && kindOf(kind) === undefined) problems.push(unknownKind(kind));
  if (kind !== undefined && kindOf(kind)?.refuses.includes("model") && flags.model !== undefined)
    problems.push(`--model means nothing to kind ${kind}`);
  if (isProgram && kind !== undefined && kindOf(kind)?.kind !== PROGRAM_KIND)
    problems.push("a program after -- and --kind exclude each other");
  if (isProgram && (argv ?? []).length === 0)
    problems.push("a program stands after --: agent init -- npm start");
  for (const flag of ["prompt", "model", "permission", "worktree"])
    if (isProgram && flags[flag] !== undefined) problems.push(`--${flag} means nothing to a program`);
  return problems;
};
