/** Whether Claude Code is spoken with over its stdin: in a conversation, and where it asks for permissions. */
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";

export const converses = (spec: WorkerSpec): boolean => spec.interactive || asksPermission(spec);
