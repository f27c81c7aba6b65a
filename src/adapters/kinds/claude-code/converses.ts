/** Whether Claude Code has a dialogue over its stdin: in a conversation, and to ask for permissions. */
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";

export const converses = (spec: WorkerSpec): boolean => spec.interactive || asksPermission(spec);
