/** A worktree, as answers show it. */
import * as z from "zod";
import type { WorkerWorkspace } from "../workspace.ts";

export const workspace: z.ZodType<WorkerWorkspace> = z.object({
  path: z.string(),
  cwd: z.string(),
  branch: z.string(),
  base_commit: z.string(),
  repository: z.string(),
  git_dir: z.string(),
});
