/** The skills that are part of Holdfast. */
import type { BuiltinSkill } from "../skill.ts";
import { fsLs } from "./fs-ls.ts";
import { fsRead } from "./fs-read.ts";
import { textGrep } from "./text-grep.ts";
import { todoManage } from "./todo-manage.ts";

export const BUILTINS: readonly BuiltinSkill<unknown, unknown>[] = [fsLs, fsRead, textGrep, todoManage];
