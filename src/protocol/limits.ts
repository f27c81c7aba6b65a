/**
 * Every bound of Holdfast, by name, with its unit last. Grep this file to see the whole safety envelope.
 * Contract bounds cite the document and section they come from; the others are ours.
 */

/** agent-event.txt, Constraints: bytes of UTF-8. */
export const CHANNEL_MAX_BYTES = 128;
export const TEXT_MAX_BYTES = 65_536;
export const MESSAGE_MAX_BYTES = 4_096;
export const DATA_MAX_BYTES = 65_536;
/** agent-event notes A.2: completion.final_text is cut like a message, at the text bound. */
export const FINAL_TEXT_MAX_BYTES = 65_536;
/** agent-event notes A.3: a longer session id is omitted, never cut. */
export const SESSION_ID_MAX_BYTES = 1_024;

/** One line of a child's output; a longer one becomes one truncated-line record. */
export const LINE_MAX_BYTES = 1024 * 1024;
/** One read of a spool; also the slice of work after which the ingest yields to other workers. */
export const SPOOL_READ_BYTES = 256 * 1024;
/** Lines of one read of a spool, however short they are: its records are one transaction. */
export const BATCH_MAX_LINES = 500;
/** The last bytes of stderr that a classifier may look at; they never leave it. */
export const STDERR_TAIL_BYTES = 4_096;
/** The state of a decoder that is committed with a spool's offset. */
export const DECODER_STATE_MAX_BYTES = 65_536;

/** One transaction of the log (architecture §4: small, batched, one synchronous function). */
export const TRANSACTION_MAX_RECORDS = 500;
export const COMMIT_QUEUE_MAX_RECORDS = 20_000;
/** One page of a reader. */
export const READ_PAGE_RECORDS = 500;
/** A page ends with the line that passes this. */
export const READ_PAGE_MAX_CHARS = 512 * 1024;

/** Mailbox of a worker: control events (exits, timers, stops) and user events are bounded apart. */
export const MAILBOX_USER_MAX = 256;
export const MAILBOX_CONTROL_MAX = 1_024;
/** Ends of agents that are carried on in one turn of the event loop, however many end at once. */
export const EXITS_PER_TURN_MAX = 64;

export const PROMPT_MAX_BYTES = 1024 * 1024;
export const MESSAGE_TO_AGENT_MAX_BYTES = 65_536;
export const NAME_MAX_BYTES = 64;
/** Names joined by "/", from the top of a tree down. */
export const PATH_MAX_BYTES = 512;
/** Supervisors below each other in one file. */
export const TREE_DEPTH_MAX = 8;
/** Supervisors and workers of one file. */
export const TREE_NODES_MAX = 2_000;
/** A holdfast.yaml, and each file that it includes; also all text that its variables become. */
export const TREE_FILE_MAX_BYTES = 1024 * 1024;
/** Files that one holdfast.yaml may read by `include`, and how deep they may include each other. */
export const TREE_INCLUDES_MAX = 256;
export const TREE_INCLUDE_DEPTH_MAX = 8;
/** Values of one file after its aliases are written out, and how deep they may nest. */
export const TREE_VALUES_MAX = 100_000;
export const TREE_NESTING_MAX = 64;
/** Mistakes of one file that are told at once. */
export const TREE_PROBLEMS_MAX = 100;
/** A child that is not ready within this has failed to start. */
export const READY_WITHIN_DEFAULT_MS = 60_000;
/** A condition for readiness outside the log (a file, a port) is looked at this often. */
export const READY_POLL_MS = 100;
/** One look at a port. */
export const PORT_PROBE_MAX_MS = 1_000;
/** Every tree is planned again after this, whatever has told it to. */
export const RECONCILE_PERIOD_MS = 5_000;
export const LABELS_MAX = 32;
/** What lists show of a command line or a prompt. */
export const TASK_MAX_CHARS = 200;
export const ARGV_MAX_BYTES = 1024 * 1024;
/** One argument: the kernel's MAX_ARG_STRLEN. */
export const ARG_MAX_BYTES = 131_072;
/** Decisions that `agent why` shows: the newest ones. */
export const WHY_RECORDS_MAX = 500;
/** `agent tree -f` draws no faster than this. */
export const TREE_REDRAW_MS = 100;
export const WORKERS_LIVE_MAX = 10_000;
/** Agents above an agent that agents have spawned (protocol-v1 notes 2.10, MaxDepth); and the most that may be allowed. */
export const DEPTH_DEFAULT = 3;
export const DEPTH_MAX = 64;
/** Workers that wait for a slot or for memory. */
export const QUEUE_MAX_WORKERS = 1_000;
/** Nothing starts while the machine has less: an agent CLI takes 100 to 300 MB, and the kernel's killer takes anybody. */
export const MEM_AVAILABLE_MIN_BYTES = 256 * 1024 * 1024;
/** Available memory is read no more often than this. */
export const MEMORY_READ_MS = 50;

export const REQUEST_MAX_BYTES = 2 * 1024 * 1024;
/** Unless HOLDFAST_MAX_CONNECTIONS says otherwise: of each a watcher costs about 20 KB; and the most that may be asked for. */
export const CONNECTIONS_DEFAULT = 12_000;
export const CONNECTIONS_MAX = 100_000;
/** Descriptors that connections leave for the log, spools and starts. */
export const DESCRIPTORS_KEPT = 256;
/** Clients that the kernel lets wait to be accepted. */
export const BACKLOG_MAX = 4_096;
export const REQUESTS_IN_FLIGHT_MAX = 256;
export const WATCHER_BUFFER_MAX_BYTES = 1024 * 1024;

/** Restart defaults (cli.md, Flags of spawn). */
export const RESTARTS_DEFAULT = 3;
export const RESTART_PERIOD_DEFAULT_MS = 60_000;
export const BACKOFF_MIN_DEFAULT_MS = 1_000;
export const BACKOFF_MAX_DEFAULT_MS = 60_000;
export const RESTARTS_MAX = 1_000_000;
export const GRACE_DEFAULT_MS = 10_000;
export const TIMEOUT_DEFAULT_MS = 30 * 60_000;
export const STALL_DEFAULT_MS = 10 * 60_000;
export const HEARTBEAT_DEFAULT_MS = 30_000;
/**
 * A tool's own limit; 0 is none. An agent's CLI bounds its tools itself and a build may take long, so by default only the
 * incarnation's wall clock bounds one.
 */
export const TOOL_TIMEOUT_DEFAULT_MS = 0;
/** A stalled worker is warned of for at most so long before somebody is asked, and the question stands at most so long. */
export const STALL_WARN_MAX_MS = 30_000;
export const STALL_ASK_MAX_MS = 120_000;
/** Calls of one incarnation that are remembered until their answer comes. */
export const TOOLS_IN_FLIGHT_MAX = 256;
/** The longest duration that may be asked for: a year. */
export const DURATION_MAX_MS = 366 * 24 * 3_600_000;

/** A launcher tells the agent's pid within this, or the start has failed. */
export const START_TIMEOUT_MS = 10_000;
/** A spawner that has not answered a launch by now has failed; what it still makes is ended. */
export const LAUNCH_MAX_MS = 30_000;
/** Recorded runs that a boot looks at side by side. */
export const BOOT_LOOKS_MAX = 64;
/** How often a boot looks at a run that cannot be looked at. */
export const BOOT_TRIES_MAX = 4;
/** Passes of the marker sweep before it says that something survives. */
export const SWEEP_PASSES_MAX = 20;
/** Raw spools are kept this long after the end of an incarnation. */
export const RUNS_KEPT_MS = 24 * 3_600_000;
export const CLEAN_PERIOD_MS = 3_600_000;
/** KILL is repeated after this while the kernel has not ended the agent (it may sit in an uninterruptible call). */
export const KILL_REPEAT_MS = 2_000;
/** The table of heartbeats is looked at this often. */
export const CLOCK_TICK_MS = 1_000;
/** Between two ticks: so much monotonic time means that the daemon was stopped (or its machine, where nothing tells them apart). */
export const STOPPED_MIN_MS = 5_000;
/** Between two ticks: so much more time since boot than on the monotonic clock means that the machine slept. /proc/uptime has steps of 10 ms. */
export const SUSPENDED_MIN_MS = 2_000;
/** A boot looks so far back for times that do not count in a timeout. */
export const GAPS_LOOKBACK_RECORDS = 100_000;

/** `sun_path` without its NUL on the strictest platform: macOS has 104 bytes, Linux 108. */
export const SOCKET_PATH_MAX_BYTES = 103;
/** A daemon that starts waits so long for the lock, and then so long for the winner to write its name. */
export const LOCK_WAIT_MS = 250;
export const LOCK_HOLDER_WAIT_MS = 500;
/** A client waits so long for the daemon that it started to answer, and looks this often. */
export const DAEMON_START_WAIT_MS = 10_000;
export const DAEMON_START_POLL_MS = 10;
/** A client that claimed the start and did not finish it within this has died. */
export const DAEMON_START_CLAIM_MS = 3_000;
/** A log of the daemon over this is put aside, once, at the next start. */
export const DAEMON_LOG_MAX_BYTES = 8 * 1024 * 1024;
/** A daemon that stops lets requests in flight finish for at most this long. */
export const DAEMON_DRAIN_MS = 5_000;
export const REQUEST_ID_MAX_CHARS = 128;
/** Watchers are woken for so long in one turn of the event loop. */
export const WAKE_SLICE_MS = 10;
/** Text joined for one write to a watcher. */
export const WATCHER_CHUNK_CHARS = 128 * 1024;
/** The event loop's delay is measured this finely, over windows of this length. */
export const LAG_RESOLUTION_MS = 20;
export const LAG_WINDOW_MS = 60_000;
/** A record of what has happened already is offered to a failing store again after this. */
export const STORE_RETRY_MS = 500;
/** The text that `agent output` joins from the log. */
export const OUTPUT_TEXT_MAX_BYTES = 16 * 1024 * 1024;

/** The longest answer that a client takes: a list of every worker there may be. */
export const REPLY_MAX_BYTES = 64 * 1024 * 1024;

/** Rows of one INSERT statement; measured, more are not faster. */
export const INSERT_ROWS = 8;
/** Newest lines kept in memory for live watchers: so many records (a power of two), and at most so many bytes. */
export const RECENT_LINES_MAX_RECORDS = 4_096;
export const RECENT_LINES_MAX_BYTES = 8 * 1024 * 1024;
/** A filtered read looks at so many records at most before it returns with what it has. */
export const READ_SCAN_MAX_RECORDS = 5_000;
/** Streams whose newest version is kept in memory. */
export const STREAMS_CACHED_MAX = 20_000;
/** A damaged log is told in so many sentences at most. */
export const CHECK_FINDINGS_MAX = 100;
/** Another process may hold the file for so long: a backup, or a checkpoint of an `agent db` command. */
export const STORE_BUSY_MAX_MS = 2_000;
/** Nesting of `data`. serde_json, with which the contract counts its bytes, reads 127 levels; a record and its envelope need some of them. */
export const DATA_MAX_DEPTH = 100;
/** A known secret shorter than this is not looked for in output. */
export const KNOWN_SECRET_MIN_CHARS = 6;

/** Runs are looked at so often where no file event tells. */
export const RUN_POLL_MS = 250;
/** Quiet runs that each look takes in turn: idle, and as long as events may have been lost because a look came this late. */
export const RUN_POLL_QUIET_RUNS = 16;
export const RUN_POLL_SLICE_RUNS = 64;
export const RUN_POLL_LATE_MS = 100;
/** The launcher of an adopted agent is nobody's child here: so often somebody looks whether it is there. */
export const LAUNCHER_LOOK_MS = 1_000;
/** Between the agent's pid and its exec: how often the start is looked at. */
export const EXEC_POLL_MS = 1;
/** A launcher writes `exit` within this after its agent's death, or is ended. */
export const LAUNCHER_END_MS = 5_000;
/** Descendants of all runs are recorded this often, and before each signal; where that would read more processes a second than this, more rarely. */
export const SNAPSHOT_PERIOD_MS = 5_000;
export const SNAPSHOT_PERIOD_MAX_MS = 30_000;
export const SNAPSHOT_READS_PER_S = 250;
/** A scan of the process table yields after this. */
export const SCAN_SLICE_MS = 5;
/** What the sweep has killed must be gone within this, or is reported as a survivor. */
export const SWEEP_KILL_WAIT_MS = 1_000;
/** What a program may be asked to look for in a `#!` line: the kernel's BINPRM_BUF_SIZE. */
export const SHEBANG_MAX_BYTES = 256;
/** A secret read from `@file:PATH`. */
export const SECRET_MAX_BYTES = 65_536;
/** `agent watch` and `logs`: the longest tail that may be asked for. */
export const TAIL_MAX_RECORDS = 100_000;
/** One slice of a raw spool over the socket, and how often its end is looked at under -f. */
export const RAW_SLICE_BYTES = 262_144;
export const RAW_POLL_MS = 200;
/** In the JSON modes the raw bytes go into one envelope, so there are at most so many. */
export const RAW_ENVELOPE_MAX_BYTES = 1024 * 1024;
/** A restart of the daemon takes seconds; a client that waits for the next one is told after this that nobody came. */
export const NEXT_DAEMON_WAIT_MS = 30_000;
export const NEXT_DAEMON_POLL_MS = 200;
/** `agent up` and `down` look so often whether the tree is there yet. */
export const TREE_POLL_MS = 100;
