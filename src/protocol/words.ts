/** Words in requests that a client checks before it sends them. The client loads this file, so it imports nothing. */

/** The groupings of `agent usage`; the key of a label is as long as any name. */
export const USAGE_BY = /^(?:day|kind|model|worker|label:.{1,64})$/su;

/** Orders of `agent list`; with a minus the other way round. */
const SORTED_BY = ["created", "name", "kind", "status", "restarts", "cost", "ended"] as const;
export type ListSort = (typeof SORTED_BY)[number] | `-${(typeof SORTED_BY)[number]}`;
export const LIST_SORTS: readonly ListSort[] = SORTED_BY.flatMap((by) => [by, `-${by}`] as const);

/** Statuses on the wire: protocol-v1 notes 2.6. */
export const WORKER_STATUSES = [
  "pending",
  "starting",
  "running",
  "stopping",
  "completed",
  "failed",
  "cancelled",
] as const;
/** The kind of a worker that runs a plain program instead of an agent. */
export const PROGRAM_KIND = "command";

/** The namespace of the blackboard where none is given. */
export const NAMESPACE_DEFAULT = "default";

/** `backend_kind` of the runtime whose runs are processes of this machine, and of records that name none. */
export const SUBPROCESS = "subprocess";

/** The name of the built-in runtime, which runs every worker that names none. */
export const RUNTIME_DEFAULT = "process";

/** Tool profiles, the widest first: which skills an agent may run. */
export const PROFILE_NAMES = ["overseer", "worker", "companion"] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** Signature algorithms of a Weblisk identity; the first one is the default (weblisk.txt, Identity and Algorithm Agility). */
export const SIGNING_ALGORITHMS = ["Ed25519", "ML-DSA-65"] as const;
export type AlgorithmName = (typeof SIGNING_ALGORITHMS)[number];

/** The text that a signature covers: JSON.stringify of the members in the document's order, or canonical JSON; `auto` accepts both. */
export const ACCEPTED_PROFILES = ["auto", "literal", "jcs"] as const;
export type AcceptedProfile = (typeof ACCEPTED_PROFILES)[number];
export type SigningProfile = Exclude<AcceptedProfile, "auto">;

/** The rights that an agent of ours needs of a sender, and asks for elsewhere, where nobody says others. */
export const AGENT_CAPABILITIES = ["file:read", "file:write", "llm:chat"] as const;

/** How far a federated hub is trusted, the lowest tier first (weblisk.txt, Trust Tiers). */
export const PEER_TIERS = ["anonymous", "known", "verified", "trusted"] as const;
export type PeerTier = (typeof PEER_TIERS)[number];
/** `in`: the peer asks; `out`: this hub asks the peer. */
/** Classes of a change that a hub tells of itself (weblisk notes 5, Fingerprint). The last two cost its peer's trust in it. */
export const PEER_CHANGES = ["benign", "notable", "breaking", "critical"] as const;
export type PeerChangeClass = (typeof PEER_CHANGES)[number];

export const TASK_DIRECTIONS = ["in", "out"] as const;
export type TaskDirection = (typeof TASK_DIRECTIONS)[number];

/** Reserved commands of protocol-v1.txt that a built-in skill answers. */
export const BUILTIN_COMMANDS = [
  "http/openapi",
  "fs/ls",
  "fs/read",
  "text/grep",
  "todo/manage",
  "plugin/auth",
  "plugin/pagination",
] as const;
export type BuiltinCommand = (typeof BUILTIN_COMMANDS)[number];
/** The board where none is given. */
export const BOARD_DEFAULT = "default";
/** Lanes of a board: protocol-v1 notes 2.7. */
export const CARD_LANES = ["Todo", "Claimed", "Running", "RetryQueued", "Blocked", "Review", "Done"] as const;
export type CardLane = (typeof CARD_LANES)[number];
/** The lane of a card whose worker has completed. */
export const COMPLETED_LANES = ["Done", "Review"] as const;
export type CompletedLane = (typeof COMPLETED_LANES)[number];

/** Whether a worker in this state has ended for good: only a start by name revives it. */
export const isEnded = (state: string): boolean =>
  state === "completed" || state === "failed" || state === "cancelled" || state === "parked";
