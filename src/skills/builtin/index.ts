/** The skills that are part of Holdfast. */
import type { BuiltinSkill } from "../skill.ts";
import { fsLs } from "./fs-ls.ts";

export const BUILTINS: readonly BuiltinSkill<unknown, unknown>[] = [fsLs];
