/** The skills that are part of Holdfast. */
import type { BuiltinSkill } from "../skill.ts";
import { fsLs } from "./fs-ls.ts";
import { fsRead } from "./fs-read.ts";
import { httpOpenapi } from "./http-openapi.ts";
import { pluginAuth } from "./plugin-auth.ts";
import { pluginPagination } from "./plugin-pagination.ts";
import { textGrep } from "./text-grep.ts";
import { todoManage } from "./todo-manage.ts";

export const BUILTINS: readonly BuiltinSkill<unknown, unknown>[] = [
  fsLs,
  fsRead,
  httpOpenapi,
  pluginAuth,
  pluginPagination,
  textGrep,
  todoManage,
];
