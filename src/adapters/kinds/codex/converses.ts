/** Whether codex is spoken with: in a conversation, where it asks for permissions, and to branch a session. */

import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";

/** `codex exec` can do none of it; all else it does with less. */
export const converses = (spec: WorkerSpec): boolean =>
  spec.interactive || asksPermission(spec) || agentOptions(spec).fork;
