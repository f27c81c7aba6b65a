/** A workspace of its own for each test of a skill, and a context as the runtime gives one. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { BuiltinSkill, SkillContext } from "../../../src/skills/skill.ts";

const freshDirectory = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-skill-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** `outside` has a file that no skill may read. */
export const freshContext = (
  given: Partial<SkillContext> = {},
): SkillContext & { readonly outside: string } => {
  const top = freshDirectory();
  for (const name of ["workspace", "state", "outside"]) mkdirSync(join(top, name));
  return {
    workspace: join(top, "workspace"),
    state: join(top, "state"),
    outside: join(top, "outside"),
    signal: new AbortController().signal,
    reach: () => Promise.resolve(),
    fetch: () => Promise.reject(new Error("This skill has no network.")),
    secret: () => undefined,
    ...given,
  };
};

/** Checks the input and the output by the skill's own schemas. */
export const running =
  <I, O>(skill: BuiltinSkill<I, O>) =>
  async (input: unknown, context: SkillContext): Promise<O> => {
    const output = await skill.run(skill.input.parse(input), context);
    return skill.output.parse(output);
  };
