/** Whether codex has a dialogue: in a conversation, to ask for permissions, and to branch a session. */

import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";

/** `codex exec` can do none of these. It does everything else, with less effort. */
export const converses = (spec: WorkerSpec): boolean =>
  spec.interactive || asksPermission(spec) || agentOptions(spec).fork;
