/** Whether Claude Code is spoken with over its stdin: in a conversation, and where it asks for permissions. */
import type { WorkerSpec } from "../../protocol/worker.ts";

/** It asks its host before it uses a tool, instead of being told beforehand. */
export const asksPermission = ({ permission, permission_rules }: WorkerSpec): boolean =>
  permission === "ask" || permission_rules.length > 0;

export const converses = (spec: WorkerSpec): boolean => spec.interactive || asksPermission(spec);
