/** The facts of kind `command`: any program. */
import { ARG_MAX_BYTES, ARGV_MAX_BYTES } from "../../../base/limits.ts";
import { extensionProblems } from "../../../protocol/extensions.ts";
import { PROGRAM_KIND } from "../../../protocol/words.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";
import type { KindFacts } from "../../facts.ts";

const validate = (spec: WorkerSpec): readonly string[] => {
  const problems = [...extensionProblems(spec, [])];
  if (spec.argv.length === 0 || spec.argv[0] === "") {
    problems.push(
      'A command needs a program: give it after `--`, as in `agent spawn -- sh -c "echo hello"`.',
    );
  }
  if (spec.argv.some((arg) => arg.includes("\0")))
    problems.push("An argument of the command contains a NUL character.");
  if (spec.argv.some((arg) => Buffer.byteLength(arg) >= ARG_MAX_BYTES)) {
    problems.push(
      `An argument exceeds ${ARG_MAX_BYTES - 1} bytes, the kernel's limit: pass long text on stdin.`,
    );
  }
  if (spec.argv.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0) > ARGV_MAX_BYTES) {
    problems.push(`The arguments together exceed ${ARGV_MAX_BYTES} bytes: pass long text on stdin.`);
  }
  if (asksPermission(spec))
    problems.push("A command asks for no permission: leave out --permission ask and tool rules.");
  if (spec.model !== undefined) problems.push("A command has no model: leave out --model.");
  if (spec.session !== undefined) problems.push("A command has no session: leave out --session.");
  if (spec.fork) problems.push("A command has no session to fork: leave out --fork.");
  if (spec.budget.usd !== undefined || spec.budget.tokens !== undefined || spec.budget.turns !== undefined) {
    problems.push(
      "A command reports no turns, tokens or dollars: only --budget wall=DURATION, restarts=N and output=SIZE bound it.",
    );
  }
  return problems;
};

export const facts = {
  kind: PROGRAM_KIND,
  aliases: [],
  summary: "Any program: its lines are text, its exit code is the outcome.",
  usage: "the default when -- is given",
  limits: [
    "It has no protocol: each line is text, and only the exit code says whether the run succeeded.",
    "It has no session, no turns, no usage and no final text.",
  ],
  capabilities: ["agent_api.run", "agent_api.events", "agent_api.events.live", "agent_api.control.cancel.v1"],
  binary: null,
  no_program: {
    on_command_line: "kind command needs a program after --, as in: agent spawn -- sleep 60",
    in_file: "is a command and needs a program, as in argv: [sleep, 60]",
  },
  credentials: [],
  default_restart: "temporary",
  needs_prompt: false,
  dialogue: "text",
  is_unbounded: true,
  validate,
} as const satisfies KindFacts;
