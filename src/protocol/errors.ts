/**
 * The one error catalogue: one row for each error, with its name in each contract.
 *
 * `code` is the ResponseEnvelope `error.code` (stable; agents branch on it). `v1` is the Protocol v1 code. `exit` is the
 * process exit code (ResponseEnvelope notes B.2, generation G1). `http` is the HTTP status. `retryable` says whether the
 * same call may be repeated unchanged. `effects` says what may already have happened. `next` is the caller's next step.
 * `restart` says whether a restart can help a worker that failed with the error.
 */

import { isShortOfDescriptors } from "../base/system-errors.ts";
import { type ErrorRow, type Redirect, row } from "./error-row.ts";

export type { ErrorRow };

export const ERROR_CATALOGUE = {
  // 3: bad argument; nothing was done
  INVALID_REQUEST: row(
    ["EARG", 3, 400, true, "none"],
    "Correct the arguments; `agent <command> --help` lists them.",
    "never",
  ),
  INVALID_AGENT_KIND: row(["EARG", 3, 400, true, "none"], "Use a kind that `agent capabilities` lists."),
  UNKNOWN_COMMAND: row(["EARG", 3, 404, true, "none"], "Use a command that `agent --help` lists."),
  UNSUPPORTED_CAPABILITY: row(
    ["EARG", 3, 400, true, "none"],
    "See what the kind can do with `agent capabilities KIND`.",
  ),
  ENVELOPE_INVALID: row(
    ["EENVELOPE", 3, 400, true, "none"],
    "Send one JSON request a line; see docs/architecture.md, The wire.",
  ),
  PARSE_ERROR: row(["EPARSE", 3, 400, true, "none"], "Send valid JSON in UTF-8."),
  REQUEST_TOO_LARGE: row(
    ["EARG", 3, 413, true, "none"],
    "Send a smaller request; put long prompts in a file.",
  ),
  CURSOR_UNKNOWN: row(
    ["EARG", 3, 409, true, "none"],
    "Read the log from its beginning with `--from 0`, or leave the cursor out to see only new records.",
  ),
  PAGE_UNKNOWN: row(
    ["EARG", 3, 400, true, "none"],
    "Give --cursor as the last page printed it, or leave it out for the first page.",
  ),
  AMBIGUOUS_ID: row(["EARG", 3, 400, true, "none"], "Give more characters of the id, or the whole name."),
  // 4: precondition
  BINARY_NOT_FOUND: row(
    ["ENOTFOUND", 4, 412, false, "none"],
    "Install the program, or name it with its *_BINARY variable; `agent doctor` shows what is missing.",
  ),
  BINARY_NOT_EXECUTABLE: row(
    ["EIO", 4, 412, false, "none"],
    "Make the file executable with `chmod +x`, or give another program.",
  ),
  CWD_NOT_FOUND: row(
    ["ENOTFOUND", 4, 412, false, "none"],
    "Create the directory, or give another one with --cwd.",
  ),
  ARGUMENTS_TOO_LONG: row(
    ["EARG", 4, 413, false, "none"],
    "Pass long text by --prompt-file or stdin instead of an argument.",
    "never",
  ),
  EXEC_FAILED: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "Check that the file is a program for this machine (or has a valid #! line).",
  ),
  SECRET_UNAVAILABLE: row(
    ["EAUTH", 4, 412, false, "none"],
    "Set the variable or create the file that the reference names, then `agent restart` the worker.",
  ),
  SUPERVISOR_DOWN: row(["ESKILLDOWN", 4, 503, true, "none"], "Start the daemon with `agent daemon start`."),
  AGENTS_RUNNING: row(["EPOLICY", 4, 409, false, "none"], "Add --keep-agents or --kill-agents."),
  OPENAPI_INVALID: row(
    ["EOPENAPI", 4, 412, false, "none"],
    "Correct the OpenAPI document, or give an operationId that it has.",
    "never",
  ),
  STDIN_CLOSED: row(
    ["EPOLICY", 4, 409, false, "none"],
    "Spawn the worker with --interactive to keep its stdin open.",
  ),
  INPUT_REQUIRED: row(
    ["EARG", 4, 412, false, "none"],
    "Give the missing input as an argument or on stdin.",
    "never",
  ),
  RUNTIME_TOO_OLD: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "Install Node 22.19 or newer, or run `npm ci` in the clone to get the bundled one.",
  ),
  LIMITS_UNAVAILABLE: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "Run the daemon as a systemd unit with Delegate=yes (`agent doctor` says what is missing), or leave the limits out.",
  ),
  WORKTREE_UNAVAILABLE: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "Give a --cwd inside a git repository that has a commit, or leave --worktree out.",
  ),
  SANDBOX_UNAVAILABLE: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "See what `agent doctor` says about the sandbox, or leave --sandbox out.",
  ),
  DOCTOR_CHECKS_FAILED: row(
    ["ERUNTIME", 4, 412, false, "none"],
    "Fix what the checks name, then run `agent doctor` again.",
  ),
  // 5: not found
  WORKER_NOT_FOUND: row(["ENOTFOUND", 5, 404, false, "none"], "List the workers with `agent list --all`."),
  RUNTIME_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "See the runtimes with `agent daemon status`; `runtimes:` in config.yaml names more.",
  ),
  MESSAGE_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "List the messages of a mailbox with `agent mailbox list`; an acknowledged one is gone.",
  ),
  OUTPUT_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "Wait for the worker with `agent wait`, or read its records with `agent logs`.",
  ),
  ARTIFACT_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "See the artifacts with `agent cas list`; one that is not pinned and that no record names is removed after a while.",
  ),
  ITEM_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "See the items of a namespace with `agent bb list --ns NS`; one that is done or past its time to live is gone.",
  ),
  CARD_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "See the cards of a board with `agent board list`.",
  ),
  FILE_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "List the files of the workspace with `agent run fs/ls`.",
  ),
  SCHEDULE_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "See all schedules with `agent schedule list`.",
  ),
  TOKEN_NOT_FOUND: row(["ENOTFOUND", 5, 404, false, "none"], "See all tokens with `agent token list`."),
  PEER_NOT_FOUND: row(["ENOTFOUND", 5, 404, false, "none"], "See all peers with `agent peer list`."),
  RETENTION_EXPIRED: row(
    ["ENOTFOUND", 5, 410, false, "none"],
    "Give the task again, with a new id: its answer was kept as long as was agreed.",
  ),
  HTTP_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "Correct the parameters: the server has nothing there.",
  ),
  SKILL_NOT_FOUND: row(["ENOTFOUND", 5, 404, false, "none"], "List the skills with `agent skills list`."),
  SESSION_NOT_FOUND: row(
    ["ENOTFOUND", 5, 404, false, "none"],
    "Start without --session; the provider no longer knows it.",
  ),
  // 6: conflict
  ALREADY_EXISTS: row(
    ["EARG", 6, 409, false, "none"],
    "Choose another --name, or kill the worker that has it.",
  ),
  LEASE_LOST: row(["EPOLICY", 6, 409, false, "none"], "Poll again: what you held may be with somebody else."),
  ITEM_CLAIMED: row(
    ["EPOLICY", 6, 409, false, "none"],
    "Claim another item, or wait until the lease of this one is over; `agent bb watch` tells of it.",
  ),
  SESSION_IN_USE: row(
    ["EARG", 6, 409, false, "none"],
    "Talk to the worker that has the session, wait for its end, or branch the session with `agent fork`.",
  ),
  LOCK_HELD: row(
    ["EIO", 6, 423, false, "none"],
    "Another daemon owns this state directory; use it, or choose another HOLDFAST_HOME.",
  ),
  INVALID_STATE: row(["EPOLICY", 6, 409, false, "none"], "See the worker's state with `agent info`."),
  VERSION_CONFLICT: row(
    ["EARG", 6, 409, false, "none"],
    "Read the stream again and append after its newest version.",
  ),
  // 7, 8
  PERMISSION_DENIED: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Do what the message says, or check the owner and mode of the file or directory that it names.",
    "never",
  ),
  // Denials of a spawn (protocol-v1 notes 2.10); each carries its contract's reason code in details.reason_code
  DEPTH_LIMIT_EXCEEDED: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Do the work in the agent that asks, or raise HOLDFAST_MAX_DEPTH of the daemon.",
  ),
  LOCAL_LIMIT_EXCEEDED: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Do the work in the agent that asks, or spawn the worker that the message names with looser limits.",
  ),
  POLICY_VIOLATION: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Ask only for what the policy in the message allows.",
  ),
  PEER_UNTRUSTED: row(
    ["EPOLICY", 7, 403, false, "none"],
    "See the tier of the hub in `agent peer show`: a handshake makes it known, and good tasks verify it.",
    "never",
  ),
  CAPABILITY_DENIED: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Ask for a capability that the other hub shares; `agent peer show` lists them.",
  ),
  BOUNDARY_VIOLATION: row(
    ["EPOLICY", 7, 403, false, "none"],
    "Send only what the data boundary of the peer allows; `agent peer show` has it.",
  ),
  NOT_AUTHORISED: row(
    ["EAUTH", 8, 401, false, "none"],
    "Present the token of daemon.token in the state directory, in meta.token of the first request.",
  ),
  SKILL_UNAUTHORISED: row(
    ["EAUTH", 8, 401, false, "none"],
    "Give the skill the credentials that its manifest names as secrets.",
  ),
  TOKEN_MISSING: row(
    ["EAUTH", 8, 401, false, "none"],
    "Log the agent's CLI in, or pass its key with --inherit-env.",
    "never",
  ),
  TOKEN_INVALID: row(
    ["EAUTH", 8, 401, false, "none"],
    "Get new credentials for the agent's provider.",
    "never",
  ),
  TOKEN_EXPIRED: row(
    ["EAUTH", 8, 401, true, "none"],
    "Refresh the credentials and repeat the call once.",
    "never",
  ),
  // 10: time
  TIMEOUT: row(["ETIMEOUT", 10, 408, false, "partial"], "Give more time with --timeout, or smaller work."),
  DEADLINE_PASSED: row(
    ["ETIMEOUT", 10, 408, false, "partial"],
    "Spawn it again with a later --deadline, or with none.",
  ),
  IDLE_TIMEOUT: row(
    ["ETIMEOUT", 10, 408, false, "partial"],
    "Give more time with --stall, or look at its last records with `agent logs`.",
  ),
  // 11, 12: provider and runtime
  RATE_LIMITED: row(["ERATELIMIT", 11, 429, true, "none"], "Wait until the provider's limit resets."),
  UNAVAILABLE: row(["ERUNTIME", 12, 503, true, "none"], "Try again later."),
  SKILL_DOWN: row(
    ["ESKILLDOWN", 12, 503, true, "none"],
    "Wait until the skill may be tried again; see why it failed with `agent logs JOB`.",
  ),
  SUPERVISOR_GAVE_UP: row(
    ["ESKILLDOWN", 12, 503, false, "partial"],
    "See why with `agent logs`, fix the cause, then `agent restart` the worker.",
  ),
  UPGRADE_FAILED: row(["ERUNTIME", 1, 500, false, "partial"], "See daemon.log in the state directory."),
  DAEMON_UNHEALTHY: row(
    ["ESKILLDOWN", 12, 503, true, "none"],
    "See daemon.log in the state directory; a restart of the daemon keeps the agents.",
  ),
  RESOURCE_EXHAUSTED: row(
    ["ERATELIMIT", 11, 429, true, "none"],
    "Wait until some workers end, or kill some; `agent list` shows them.",
  ),
  QUEUE_FULL: row(["ERATELIMIT", 11, 429, true, "none"], "Send more slowly."),
  // 2: it ran, and failed
  AGENT_FAILED: row(["ERUNTIME", 2, 500, false, "partial"], "Look at its records with `agent logs`."),
  TASK_FAILED: row(
    ["ERUNTIME", 2, 500, false, "partial"],
    "Ask the operator of the agent that did it; a new worker is a new task.",
    "never",
  ),
  OUT_OF_MEMORY: row(
    ["ERUNTIME", 2, 507, false, "partial"],
    "Give the machine, or the worker, more memory, or run fewer agents at once (HOLDFAST_MAX_RUNNING).",
  ),
  PARTIAL_FAILURE: row(["ERUNTIME", 2, 207, false, "partial"], "See the result of each id in `data`."),
  MAX_TURNS: row(["EPOLICY", 2, 500, false, "partial"], "Allow more turns with --budget turns=N.", "never"),
  BUDGET_EXCEEDED: row(
    ["EPOLICY", 2, 500, false, "partial"],
    "Allow more with --budget, or with `agent answer ID continue` where it asks.",
    "never",
  ),
  HTTP_CLIENT_ERROR: row(
    ["EARG", 2, 502, false, "partial"],
    "Correct the parameters or the body as the server's answer says.",
  ),
  HTTP_SERVER_ERROR: row(["ERUNTIME", 2, 502, false, "partial"], "Try again later; the server failed."),
  PAGINATION_FAILED: row(
    ["EPAGINATION", 2, 502, false, "partial"],
    "Give pagination with the strategy and the fields of this server.",
  ),
  REFUSED: row(["EPOLICY", 2, 500, false, "partial"], "Change the prompt; the model refused it."),
  PROVIDER_ERROR: row(["ERUNTIME", 2, 502, false, "partial"], "Try again; the provider failed."),
  PROVIDER_BAD_REQUEST: row(
    ["EARG", 2, 502, false, "partial"],
    "Check the model's name and the agent's own settings.",
    "never",
  ),
  NO_TERMINAL_EVENT: row(
    ["ERUNTIME", 2, 502, false, "partial"],
    "Look at its raw output with `agent logs --raw`.",
  ),
  OUTPUT_TOO_LARGE: row(
    ["EOUTPUT_TOO_LARGE", 2, 507, false, "partial"],
    "Let the agent print less, allow more with --output-quota, or let it wait with --on-output-quota pause.",
    "never",
  ),
  SKILL_FAILED: row(["ERUNTIME", 2, 500, false, "partial"], "Look at its logs with `agent logs JOB`."),
  SKILL_ENVELOPE_INVALID: row(
    ["EENVELOPE", 2, 502, false, "partial"],
    "Let the skill print exactly one Protocol v1 envelope on stdout; logs go to stderr.",
  ),
  SKILL_OUTPUT_UNREADABLE: row(
    ["EPARSE", 2, 502, false, "partial"],
    "Let the skill print JSON in UTF-8 on stdout; logs go to stderr.",
  ),
  SKILL_OUTPUT_TOO_LARGE: row(["EOUTPUT_TOO_LARGE", 2, 507, false, "partial"], "Ask the skill for less."),
  // 1: general
  WORKER_CANCELLED: row(
    ["ECANCELED", 1, 499, false, "partial"],
    "Start it again with `agent restart` if it should run.",
  ),
  WORKER_FAILED: row(["ERUNTIME", 1, 500, false, "partial"], "Look at its records with `agent logs`."),
  WORKER_LOST: row(
    ["ERUNTIME", 1, 500, false, "partial"],
    "Start it again with `agent restart`; nobody saw how it ended.",
  ),
  SUPERVISOR_DIED: row(
    ["ESKILLDOWN", 1, 500, false, "partial"],
    "Start it again with `agent restart`; with --on-supervisor-death survive, it would have lived on.",
  ),
  ARTIFACT_DAMAGED: row(
    ["EIO", 1, 500, false, "none"],
    "Put the same content again with `agent cas put`: the damaged file is set aside, not lost.",
  ),
  ARTIFACTS_FULL: row(
    ["EIO", 1, 507, false, "none"],
    "Remove old artifacts with `agent cas gc --older-than 1d`, or unpin some.",
  ),
  CAPTURE_TOO_LARGE: row(
    ["EOUTPUT_TOO_LARGE", 1, 413, false, "partial"],
    "Ask for less, or raise HOLDFAST_MAX_CAPTURE; `-o text` and `-o json` have no such limit.",
  ),
  FILE_FAILED: row(["EIO", 1, 500, false, "none"], "Check the file and the disk that it is on."),
  STORE_FAILED: row(["EIO", 1, 500, false, "none"], "Run `agent doctor` and `agent db check`."),
  STORE_CORRUPT: row(
    ["EIO", 1, 500, false, "none"],
    "Keep the file, run `agent db check`, then `agent db rebuild`.",
  ),
  DISK_FULL: row(["EIO", 1, 507, false, "none"], "Free some space on the disk of the state directory."),
  INTERNAL: row(
    ["ERUNTIME", 1, 500, false, "partial"],
    "Please report this, with the daemon.log of the state directory.",
  ),
  // 13: it has another name
  COMMAND_RENAMED: row(["EARG", 13, 308, true, "none"], "Use the command in `redirect` from now on."),
  COMMAND_MISTYPED: row(["EARG", 13, 308, true, "none"], "Use the command in `redirect`."),
  // 130: the person stopped it
  CANCELLED: row(["ECANCELED", 130, 499, false, "partial"], "Run the command again."),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export interface ErrorDetails {
  /** All mistakes that validation found, one sentence an item. */
  readonly problems?: readonly string[];
  /** The words of a provider, a program or an earlier step. */
  readonly detail?: string;
  /** More specific than the catalogue's `next`. */
  readonly suggestion?: string;
  /** The same step on the command line, if `suggestion` is one for a program. */
  readonly suggestion_cli?: string;
  readonly retry_after_s?: number;
  /** protocol-v1.txt, Retry transparency: the number of tries before this error, and the wait between them. */
  readonly attempts?: number;
  readonly backoff?: string;
  /** The command to call instead, word for word. */
  readonly redirect?: Redirect;
  readonly phase?: "validation" | "execution" | "cleanup";
  /** Machine-readable facts; bounded, redacted. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Each command is bundled separately, with its own copy of the class below. The brand makes `instanceof` work across them. */
const BRAND = Symbol.for("holdfast.error");

/** The error of every layer. `message` is one clear sentence; `code` names a row of the catalogue. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  /** For `Effect.catchTag`. */
  readonly _tag = "HoldfastError";
  static override [Symbol.hasInstance](value: unknown): value is HoldfastError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
  get [BRAND](): true {
    return true;
  }
  readonly code: ErrorCode;
  readonly info: ErrorDetails;
  constructor(code: ErrorCode, message: string, info: ErrorDetails = {}) {
    super(message, info.cause === undefined ? undefined : { cause: info.cause });
    this.code = code;
    this.info = info;
  }
  get row(): ErrorRow {
    return ERROR_CATALOGUE[this.code];
  }
  get suggestion(): string {
    return this.info.suggestion ?? this.row.next;
  }
  /** The next step on the command line: `suggestion`, unless that is one for a program. */
  get suggestion_cli(): string {
    return this.info.suggestion_cli ?? this.suggestion;
  }
  /** JSON leaves out an Error's message otherwise. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, suggestion } = this;
    const { details, problems, suggestion_cli } = this.info;
    return {
      name,
      code,
      message,
      suggestion,
      ...(suggestion_cli === undefined ? {} : { suggestion_cli }),
      ...(problems === undefined ? {} : { problems }),
      ...(details === undefined ? {} : { details }),
    };
  }
}

/** Whether no daemon was reached, so that the same call may succeed a moment later. */
export const isUnreached = ({ code }: Pick<HoldfastError, "code">): boolean =>
  code === "UNAVAILABLE" || code === "SUPERVISOR_DOWN";

/** Details of an error of a daemon's cluster: another node, or the database, gives no answer. The daemon itself does. */
export const OF_CLUSTER = { of: "cluster" } as const;

export const isOfCluster = ({ info }: Pick<HoldfastError, "info">): boolean =>
  info.details?.of === OF_CLUSTER.of;

/** The same error with the number of tries before it and the milliseconds between them (protocol-v1.txt, Retry transparency). */
export const afterTries = (
  { code, message, info }: HoldfastError,
  attempts: number,
  every_ms: number,
): HoldfastError => new HoldfastError(code, message, { ...info, attempts, backoff: `fixed ${every_ms}ms` });

/** Wraps any thrown value; a HoldfastError passes unchanged. */
export const asHoldfastError = (cause: unknown): HoldfastError =>
  cause instanceof HoldfastError
    ? cause
    : isShortOfDescriptors(cause)
      ? new HoldfastError("UNAVAILABLE", "Too many files are open in the daemon.", { cause })
      : new HoldfastError("INTERNAL", cause instanceof Error ? cause.message : String(cause), { cause });
