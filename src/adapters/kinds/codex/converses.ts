/** Whether codex has a dialogue: in a conversation, to ask for permissions, to branch a session, and to answer by a schema. */

import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";

/** `codex exec` can do none of these, except that it takes a schema from a file. It does everything else, with less effort. */
export const converses = (spec: WorkerSpec): boolean =>
  spec.interactive || asksPermission(spec) || agentOptions(spec).fork || spec.output_schema !== undefined;
