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
/** agent-event notes A.2: stdout, and stderr, of a command that manages MCP servers. */
export const MCP_OUTPUT_MAX_BYTES = 65_536;
/** agent-event notes A.5: the name of a model, and one of the directories that are added to an agent's own; bytes of UTF-8, trimmed. */
export const MODEL_MAX_BYTES = 128;
export const ADD_DIR_MAX_BYTES = 1_024;
export const ADD_DIRS_MAX = 16;
/** A command that manages MCP servers, unless it is told otherwise; and how long its output is waited for after its exit. */
export const MCP_TIMEOUT_DEFAULT_MS = 60_000;
export const CAPTURE_DRAIN_MS = 1_000;
/** Adapters of users in one configuration, its size, and how long one of them may take to be loaded. */
export const USER_ADAPTERS_MAX = 64;
export const CONFIGURATION_MAX_BYTES = 65_536;
export const USER_ADAPTER_LOAD_MAX_MS = 5_000;
/** agent-event notes A.3: a longer session id is omitted, never cut. */
export const SESSION_ID_MAX_BYTES = 1_024;

/** One line of a child's output: an image that a tool has read, or a long answer, is one. The beginning of a longer one is used, and its length told. */
export const LINE_MAX_BYTES = 16 * 1024 * 1024;
/** That beginning: it names what an agent asks for, and the call of a tool that has ended. */
export const LINE_HEAD_MAX_BYTES = 4_096;
/** A line over this is read alone, and recorded before the next one of any worker: each takes several times its length in memory. */
export const LONG_LINE_BYTES = 1024 * 1024;
/** Values in a long line of JSON: about as many as a line of LONG_LINE_BYTES can hold. One with more is read by its beginning alone: it would hold everybody up. */
export const LONG_LINE_MAX_VALUES = 350_000;
/** One read of a spool; also the slice of work after which the ingest yields to other workers. */
export const SPOOL_READ_BYTES = 256 * 1024;
/** Lines of one read of a spool, however short they are: its records are one transaction, with room for those of others. */
export const BATCH_MAX_LINES = 400;
/** The same of a flood while other agents have output: they wait for what is read and written of it at once. */
export const BATCH_BESIDE_OTHERS_MAX_LINES = 64;
export const BATCH_BESIDE_OTHERS_MAX_BYTES = 64 * 1024;
/** An agent counts as one that has output for so long after its last. */
export const OTHERS_WRITE_MS = 1_000;
/** Beside others a flood rests after each batch for so many times what the batch took, but no longer than this. */
export const FLOOD_REST_TIMES = 7;
export const FLOOD_REST_MAX_MS = 50;
/** Ingested output is let go of in steps of at least so much: each is a process and a durable commit. */
export const RELEASE_STEP_BYTES = 8 * 1024 * 1024;
/** Holes begin and end at multiples of this, which is one of every file system's block. */
export const RELEASE_BLOCK_BYTES = 65_536;
/** The newest ingested output of a stream stays: for `agent logs --raw`, and for the classifiers that look at a tail. */
export const SPOOL_KEPT_BYTES = 1024 * 1024;
/** Unread output of a worker that was stopped: where it is more, only its end is read, so that a flood does not put off the end for an hour. */
export const OUTPUT_DRAIN_MAX_BYTES = 2 * 1024 * 1024;
/** Output of one run on the disk, beyond what is ingested and can be let go of: enough for an ingest that falls behind for a while. */
export const OUTPUT_QUOTA_DEFAULT_BYTES = 1024 ** 3;
/** An agent that is paused at its quota goes on when so much of it is left to read: just below it, it would be paused again each second. */
export const OUTPUT_RESUME_PART = 0.5;
/** The largest quota that may be asked for: 1 PiB. */
export const OUTPUT_QUOTA_MAX_BYTES = 1024 ** 5;
/** Nothing starts while the disk of the state directory has less: the log itself needs some to say how what runs ends. */
export const DISK_FREE_MIN_BYTES = 256 * 1024 * 1024;
/** One helper that punches a hole; and releases that wait for their turn: what is over that is asked for again at the next step. */
export const RELEASE_MAX_MS = 10_000;
export const RELEASES_WAITING_MAX = 256;
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

/** Events that wait for a worker's machine. One more than this breaks it, so that no event is lost in silence. */
export const MAILBOX_MAX_EVENTS = 1_024;
/** Beyond this many, a further stop, pause or unpause is not put into a worker's mailbox: the others say the same. */
export const MAILBOX_MAX_REPEATABLE = 256;
/** Ends of agents that are carried on in one turn of the event loop, however many end at once. */
export const EXITS_PER_TURN_MAX = 64;

export const PROMPT_MAX_BYTES = 1024 * 1024;
export const MESSAGE_TO_AGENT_MAX_BYTES = 65_536;
/** Messages to one agent that it has not got or not acknowledged: a queue that nobody reads is not filled for ever. */
export const MESSAGES_OPEN_MAX = 256;
/** Requests for permission of one worker that wait for an answer; one more is denied at once. */
export const APPROVALS_OPEN_MAX = 64;
/** The agent's words for what it wants to do. */
export const APPROVAL_TITLE_MAX_BYTES = 1_024;
/** The tool's input, as JSON; more than that is not shown. */
export const APPROVAL_INPUT_MAX_BYTES = 16_384;
/** How long a request for permission waits for a person, unless the worker's spec says otherwise. */
export const APPROVAL_WITHIN_DEFAULT_MS = 600_000;
export const APPROVALS_PAGE_MAX = 1_000;
export const PERMISSION_RULES_MAX = 64;
/** Tools whose refused calls are counted by name, of one worker. */
export const DENIED_TOOLS_MAX = 16;
/** One rule: the tool with its pattern. */
export const PERMISSION_RULE_MAX_BYTES = 512;
/** How long the output of an agent waits for the record of a message that is just being written to it. */
export const DELIVERY_RECORD_MAX_MS = 1_000;
/** How long an agent that is stopped may take to end its turn by its own protocol, before it gets the signal. */
export const CANCEL_BY_PROTOCOL_MAX_MS = 1_000;
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
/** The part that lists show of a command line or a prompt. */
export const TASK_MAX_CHARS = 200;
export const ARGV_MAX_BYTES = 1024 * 1024;
/** One argument: the kernel's MAX_ARG_STRLEN. */
export const ARG_MAX_BYTES = 131_072;
/** Decisions that `agent why` shows: the newest ones. */
export const WHY_RECORDS_MAX = 500;
/** Turns that `agent info` lists: the newest ones. */
export const TURNS_SHOWN_MAX = 500;
/** Findings about its run directories that `agent info` lists: the newest ones. */
export const RUN_FINDINGS_SHOWN_MAX = 50;
/** Models of one turn that are told apart; what others took counts for an unnamed one. */
export const MODELS_PER_TURN_MAX = 16;
/** A file of prices (HOLDFAST_PRICES), the entries in it, the characters of a name in it, and dollars for a million tokens. */
export const PRICES_FILE_MAX_BYTES = 1024 * 1024;
export const PRICES_MAX = 10_000;
export const MODEL_PATTERN_MAX_CHARS = 128;
export const PRICE_MAX_USD = 1e6;
/** Rows of `agent usage`: of days the newest, of all else those that cost most. */
export const USAGE_ROWS_MAX = 1_000;
/** Models without a price that `agent usage` names. */
export const USAGE_UNPRICED_NAMED_MAX = 16;
/** Below a worker, so many are added up for `agent info`; what is more is for `agent usage --subtree`. */
export const SUBTREE_SUMMED_MAX_WORKERS = 1_000;
/** Messages in one page of `agent messages`: unless it is asked for another number, and at most. */
export const MESSAGES_PAGE_DEFAULT = 100;
export const MESSAGES_PAGE_MAX = 1_000;
/** `agent tree -f` draws no faster than this. */
export const TREE_REDRAW_MS = 100;

/** One call of git that looks, and one that checks out a whole tree. */
export const GIT_MAX_MS = 60_000;
export const GIT_CHECKOUT_MAX_MS = 600_000;
/** Between TERM and KILL of a git that takes too long, or that nobody waits for any more. */
export const GIT_GRACE_MS = 2_000;
/** Output of a call of git, but for a diff. */
export const GIT_OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Calls of git at once: a fleet that starts would otherwise check out a hundred trees beside each other. */
export const GIT_AT_ONCE_MAX = 4;
/** While its worktree is made, it is looked whether the worker shall stop. */
export const WORKTREE_STOP_LOOK_MS = 200;
/** A try of a sandbox, before each start in one. */
export const SANDBOX_PROBE_MAX_MS = 10_000;
/** Directories that `--sandbox-writable` may name. */
export const SANDBOX_WRITABLE_MAX = 64;
/** git's own names of branches have no bound; a file's name has. */
export const BRANCH_MAX_BYTES = 200;
/** The diff of `agent changes`; of a larger one there is the summary alone. */
export const CHANGES_DIFF_MAX_BYTES = 16 * 1024 * 1024;
/** Files that `agent changes` names; more of them are counted. */
export const CHANGES_FILES_MAX = 2_000;
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
/** How long what a client still writes is read and dropped after it was turned away, so that it reads why; and of how many at once. */
export const FAREWELL_MS = 1_000;
export const FAREWELLS_MAX = 256;
/** Nesting of a request: beyond it somebody wants to exhaust the stack of whoever walks it. */
export const REQUEST_MAX_DEPTH = 128;
/** A request line that has not ended after this is held by nobody who means it. */
export const REQUEST_LINE_MAX_MS = 30_000;
/** Requests that cannot even be read, of one connection within a period; then it is closed. Good requests are not counted. */
export const REQUEST_MISTAKES_MAX = 1_000;
export const REQUEST_MISTAKES_PERIOD_MS = 10_000;
export const TOKEN_MAX_CHARS = 128;
/** Unless HOLDFAST_MAX_CONNECTIONS says otherwise: of each a watcher costs about 20 KB; and the most that may be asked for. */
export const CONNECTIONS_DEFAULT = 12_000;
export const CONNECTIONS_MAX = 100_000;
/** Once there are no more places, a connection on which nothing was asked or answered for so long gives its place to a new one. */
export const CONNECTION_IDLE_MIN_MS = 1_000;
/** Descriptors that connections leave for the log, spools and starts. */
export const DESCRIPTORS_KEPT = 256;
/** Clients that the kernel lets wait to be accepted. */
export const BACKLOG_MAX = 4_096;
export const REQUESTS_IN_FLIGHT_MAX = 256;
/** The share of a turn of the daemon's loop, for requests of all connections. */
export const REQUESTS_SLICE_MS = 5;
export const WATCHER_BUFFER_MAX_BYTES = 1024 * 1024;

/** Restart defaults (cli.md, Flags of spawn). */
export const RESTARTS_DEFAULT = 3;
export const RESTART_PERIOD_DEFAULT_MS = 60_000;
export const BACKOFF_MIN_DEFAULT_MS = 1_000;
export const BACKOFF_MAX_DEFAULT_MS = 60_000;
export const RESTARTS_MAX = 1_000_000;
/** A provider's rate limit: waits in a row before a worker gives up; an incarnation that ran for so long has got something done. */
export const RATE_LIMIT_WAITS_MAX = 8;
export const RATE_LIMIT_DONE_MS = 10 * 60_000;
/** If the provider does not say when: the first wait, and the longest. */
export const RATE_LIMIT_BACKOFF_MIN_MS = 30_000;
export const RATE_LIMIT_BACKOFF_MAX_MS = 30 * 60_000;
/** If it says when: at most a week and a day; and so much later at most, so that a hundred agents do not come back at once. */
export const RATE_LIMIT_WAIT_MAX_MS = 8 * 24 * 3_600_000;
export const RATE_LIMIT_JITTER_MAX_MS = 60_000;
/** A time of day that passed less than this ago is that one, and not tomorrow's: it is told to the minute, and a CLI needs some to end. */
export const RATE_LIMIT_PAST_MS = 10 * 60_000;
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
/** A command that waits for an agent tells of a permission that is open for so long: a rule has answered by then. */
export const APPROVAL_TOLD_AFTER_MS = 1_000;
/** An agent of a kind that may not see the end of its input is ended so long after it, out of a turn. */
export const EXIT_AFTER_END_MS = 10_000;
/**
 * The input of an agent with one prompt is ended so long after its answer at the latest, where something that it began runs on in
 * the background: as long as Claude Code itself waits for its sub-agents (CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS).
 */
export const BACKGROUND_WAIT_MAX_MS = 10 * 60_000;
/** An agent with one prompt that has answered it ends within this; it is not paused in its last breath, though its budget is spent. */
export const LAST_BREATH_MS = 2_000;
/** Calls of one incarnation that are remembered until their answer comes. */
export const TOOLS_IN_FLIGHT_MAX = 256;
/** The longest duration that may be asked for: a year. */
export const DURATION_MAX_MS = 366 * 24 * 3_600_000;

/** A launcher tells the agent's pid within this, or the start has failed. */
export const START_TIMEOUT_MS = 10_000;
/** A spawner that has not answered a launch by now has failed; what it still makes is ended. */
export const LAUNCH_MAX_MS = 30_000;
/** A launch for which the machine has no descriptor or no process left is tried again after this. */
export const SHORTAGE_RETRY_MS = 500;
/** Recorded runs that a boot looks at side by side. */
export const BOOT_LOOKS_MAX = 64;
/** How often a boot looks at a run that cannot be looked at. */
export const BOOT_TRIES_MAX = 4;
/** How often a signal is sent that could not be: without it an agent would not know that it is stopped, until it is killed. */
export const SIGNAL_TRIES_MAX = 3;
/** Passes of the marker sweep before it says that something survives. */
export const SWEEP_PASSES_MAX = 20;
/** A process in the middle of an exec shows no environment: how often it is looked at, and the time between two looks. */
export const EXEC_LOOKS_MAX = 20;
export const EXEC_WAIT_MS = 10;
/** Passes of a pause over what an agent forks while it is being stopped; the n-th waits n ms for the signals to be heard. */
export const PAUSE_PASSES_MAX = 20;
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

/** `sun_path` without its NUL on the strictest platform: macOS has 104 bytes, Linux 108. */
export const SOCKET_PATH_MAX_BYTES = 103;
/** A daemon that starts waits so long for the lock, and then so long for the winner to write its name. */
export const LOCK_WAIT_MS = 250;
export const LOCK_HOLDER_WAIT_MS = 2_000;
/** The daemon looks this often whether its socket, lock and files are still where they belong, and makes again what is gone. */
export const FILES_LOOK_MS = 1_000;
/** A client waits so long for a daemon that lives and has no socket: it makes it again, or is stopping. */
export const SOCKET_AGAIN_WAIT_MS = 3_000;
/** A client waits so long for the daemon that it started to answer, and looks this often. */
export const DAEMON_START_WAIT_MS = 10_000;
export const DAEMON_START_POLL_MS = 10;
/** `agent daemon stop` waits so long for the process to be gone after its answer: closing a long log takes its time. */
export const DAEMON_GONE_WAIT_MS = 10_000;
/** A client that claimed the start and did not finish it within this has died. */
export const DAEMON_START_CLAIM_MS = 3_000;
/** A log of the daemon over this is put aside, once. */
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

/** Free disk that a daemon needs to take over: its files, and a write-ahead log until SQLite empties it by itself. */
export const START_ROOM_BYTES = 5 * 1024 * 1024;
/** A daemon that is to take over has loaded and read the log's schema within this, or nothing is changed. */
export const TAKE_OVER_READY_MS = 20_000;
/** It has the lock and answers within this after that, or the old version is started again. */
export const TAKE_OVER_WAIT_MS = 30_000;
/** The daemon's loop beats this often; it is blocked when so many beats are missed, and so is its tick. */
export const BEAT_PERIOD_MS = 500;
export const BEATS_MISSED_MAX = 3;
/** The watchdog's knowledge of the loop's last beat, and the memory of its thread. */
export const WATCHDOG_FACTS_MAX_BYTES = 4_096;
export const WATCHDOG_HEAP_MAX_MIB = 16;
/** A daemon that has not answered `daemon/status` by now does not answer. */
export const STATUS_ANSWER_MAX_MS = 3_000;
/** Defects that are told in full within a period, and that the log takes from one daemon: a timer that throws must not fill the disk. */
export const DEFECTS_TOLD_MAX = 60;
export const DEFECTS_TOLD_PERIOD_MS = 60_000;
export const DEFECTS_RECORDED_MAX = 100;

/** The longest answer that a client takes: a list of every worker there may be. */
export const REPLY_MAX_BYTES = 64 * 1024 * 1024;

/** Rows of one INSERT statement; measured, more are not faster. */
export const INSERT_ROWS = 8;
/** Newest lines kept in memory for live watchers: so many records (a power of two), and at most so many bytes. */
export const RECENT_LINES_MAX_RECORDS = 4_096;
export const RECENT_LINES_MAX_BYTES = 8 * 1024 * 1024;
/** Workers that are asked for, in memory: rows with their ends, and what was asked for (a prompt may be a megabyte). */
export const WORKER_ROWS_KEPT_MAX_CHARS = 4 * 1024 * 1024;
export const SPECS_KEPT_MAX_CHARS = 4 * 1024 * 1024;
/** A filtered read looks at so many records at most before it returns with what it has. */
export const READ_SCAN_MAX_RECORDS = 5_000;
/** Streams whose newest version is kept in memory; those of ended workers are not. */
export const STREAMS_CACHED_MAX = 20_000;
/** Histories of a log that was put back from backups: cursors of earlier ones are refused. */
export const EPOCHS_KEPT_MAX = 64;
/** Records that a boot folds again to find projection rows that were edited: streams of each sort, and records of all and of one. */
export const BOOT_LOOK = { streams: 100, records: 2_000, stream_records: 500 } as const;
/** The same of `agent doctor`, which keeps nobody waiting but who asks. */
export const DOCTOR_LOOK = { streams: 1_000, records: 20_000, stream_records: 5_000 } as const;
/** A damaged log is told in so many sentences at most. */
export const CHECK_FINDINGS_MAX = 100;
/** Another process may hold the file for so long while it is opened: a backup, or a checkpoint of an `agent db` command. */
export const STORE_BUSY_MAX_MS = 2_000;
/** The same afterwards: the whole daemon waits in that call, and what is refused is offered again. */
export const STORE_BUSY_OPEN_MS = 50;
/** A write-ahead log over this is emptied into the database on the tick, and its file is cut to this. */
export const WAL_KEPT_BYTES = 64 * 1024 * 1024;
/** A reader of another process may hold it up to this; then output waits in its spools, and only lifecycle records are written. */
export const WAL_MAX_BYTES = 512 * 1024 * 1024;
/** A log that SQLite calls corrupt is looked at again before that is said, where it is no larger than this; once in this time. */
export const DAMAGE_LOOK_MAX_BYTES = 64 * 1024 * 1024;
export const DAMAGE_LOOK_PERIOD_MS = 10_000;
/** Room that is kept beside the log for what is decided on a full disk: a stop and its end take about 4 KB of it. */
export const RESERVE_BYTES = 2 * 1024 * 1024;
/** It is made where so much is free. */
export const RESERVE_FREE_MIN_BYTES = 3 * RESERVE_BYTES;
/** Records that a full disk keeps out of the log, in memory: of a stop about 4 KB, and the newest output of an agent that was stopped. */
export const HELD_MAX_BYTES = 256 * 1024 * 1024;
/** Once so much is held, what agents printed is held no more, but for how much it was: stops go before it. */
export const HELD_OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** It is recorded once so much is free; tried in any case every so often, because the free bytes that are told are not all. */
export const HELD_FREE_MIN_BYTES = 1024 * 1024;
export const HELD_RETRY_MS = 10_000;
/** Unread output of a worker that is stopped on a full disk: only the end of it is read. */
export const HELD_DRAIN_MAX_BYTES = 64 * 1024;
/** Output of ended incarnations is kept in the log for so long, then in archives; lifecycle, usage and budgets stay. */
export const RETENTION_DEFAULT_MS = 30 * 24 * 3_600_000;
/** A log over its bound (HOLDFAST_RETENTION_SIZE) is brought down to this part of it: just below, an archive of some lines would be made each hour. */
export const RETENTION_SIZE_PART = 0.9;
/** The least that may be asked for: below it a log without any output is over it. */
export const RETENTION_SIZE_MIN_BYTES = 16 * 1024 * 1024;
/** The daemon looks for output that is old enough this often. */
export const GC_PERIOD_MS = 3_600_000;
/** Records removed in one transaction, and pages given back in one; a few milliseconds each, so that the tick is not late. */
export const GC_SLICE_RECORDS = 200;
export const GC_SLICE_PAGES = 64;
/** Streams whose rows a rebuild puts right in one transaction. */
export const MEND_SLICE_STREAMS = 100;
/** Between two of them whoever else has something to write comes first. */
export const GC_PAUSE_MS = 5;
/** One archive: so many records, and so much text before it is compressed, at most. */
export const ARCHIVE_MAX_RECORDS = 100_000;
export const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
/** Text that is compressed at once. */
export const ARCHIVE_CHUNK_CHARS = 1024 * 1024;
/** Pages of a deleted database that are written back in one turn of the event loop. */
export const WRITE_BACK_STEP_PAGES = 256;
/** Nesting of `data`. serde_json, with which the contract counts its bytes, reads 127 levels; a record and its envelope need some of them. */
export const DATA_MAX_DEPTH = 100;
/** A known secret shorter than this is not looked for in output. */
export const KNOWN_SECRET_MIN_CHARS = 6;
/** A known secret in base64 or hex that is shorter than this is not looked for. */
export const KNOWN_ENCODED_MIN_CHARS = 8;
/** UTF-16 units of a value behind a secret's name that are masked at most; what goes on after them is no one value. */
export const SECRET_VALUE_MAX_UNITS = 65_536;

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
/** A run that dies with its daemon waits so long for the next one; whole seconds, because its helper is a shell. */
export const LIFELINE_RENEW_MS = 5_000;
/** Runs that nobody knows are looked for at boot and this often: a look reads every environment of the machine. */
export const ORPHAN_PERIOD_MS = 60_000;
/** And once more after this, before anything is done to them: longer than an end takes to be recorded. */
export const ORPHAN_CONFIRM_MS = 5_000;
/** The kernel's log is read as far as this when a process was killed for memory. */
export const KERNEL_LOG_MAX_RECORDS = 20_000;
/** The kernel's period for cpu.max: the quota is a share of it. */
export const CPU_PERIOD_US = 100_000;
/** Bounds of `--pids` and `--cpu`; the kernel's own bounds are tighter on most machines. */
export const PIDS_MAX = 4_194_304;
export const CPUS_MIN = 0.01;
export const CPUS_MAX = 8_192;
/** Less memory than this ends the launcher itself. */
export const MEMORY_LIMIT_MIN_BYTES = 8 * 1024 * 1024;
/** A launcher whose agent has left processes stays their parent so long, for a sweep to find them. */
export const LAUNCHER_LINGER_MS = 60_000;
/** An agent whose launcher has not named it within this is looked for in the process table. */
export const PID_FILE_WAIT_MS = 1_000;
/** A launcher writes `exit` within this after its agent's death, or is ended. */
export const LAUNCHER_END_MS = 5_000;
/** Bytes that are read of a small file of a run directory or a state directory, where an agent may have put anything. */
export const SMALL_FILE_MAX_BYTES = 64 * 1024;
/** Findings about run directories that one daemon tells and records; after that it only leaves the files alone. */
export const RUN_FINDINGS_MAX = 10_000;
/** Bytes that are read of an agent's stdin file beyond what the log accounts for: more than one message ever takes there. */
export const STDIN_READ_MAX_BYTES = 8 * 1024 * 1024;
/** Bytes that are read of a launch spec or a message that waits for its delivery. */
export const SPEC_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** Descendants of all runs are recorded this often, and before each signal; where that would read more processes a second than this, more rarely. */
export const SNAPSHOT_PERIOD_MS = 5_000;
export const SNAPSHOT_PERIOD_MAX_MS = 30_000;
export const SNAPSHOT_READS_PER_S = 250;
/** A scan of the process table yields after this. */
export const SCAN_SLICE_MS = 5;
/** So many processes above one are looked at for what ties it to a run; a process with more of them belongs to nobody known. */
export const LINEAGE_MAX = 256;
/** The start of a process and the time of its connection may disagree by so much: they are told by two clocks. */
export const STAT_CLOCK_SLACK_S = 5;
/** The marker of the run that a client is part of: store, worker and incarnation. */
export const RUN_MARKER_MAX_CHARS = 256;
/** Agents that the refusal of an empty log names; more of them are counted. */
export const LOST_RUNS_NAMED_MAX = 5;
/** How often a kill of all looks for what was started while it killed the others. */
export const KILL_ALL_ROUNDS_MAX = 32;
/** Workers that a daemon which stops them all stops at the same time: their graces pass together. */
export const SHUTDOWN_STOPS_MAX = 256;
/** A process that the sweep has killed must be gone within this, or is reported as a survivor. */
export const SWEEP_KILL_WAIT_MS = 1_000;
/** The interpreter that a program may name in a `#!` line: the kernel's BINPRM_BUF_SIZE. */
export const SHEBANG_MAX_BYTES = 256;
/** A secret read from `@file:PATH`. */
export const SECRET_MAX_BYTES = 65_536;
/** `agent watch` and `logs`: the longest tail that may be asked for. */
export const TAIL_MAX_RECORDS = 100_000;
/** One slice of a raw spool over the socket, and how often its end is looked at under -f. */
export const RAW_SLICE_BYTES = 262_144;
export const RAW_POLL_MS = 200;
/** Raw bytes stay inline as base64, as many as have room: what the rest of such a reply takes, and what is sent whatever the room. */
export const RAW_REPLY_REST_BYTES = 1_024;
export const RAW_INLINE_MIN_BYTES = 768;
/** With `-o json` the raw bytes go into one envelope, so there are at most so many. */
export const RAW_ENVELOPE_MAX_BYTES = 1024 * 1024;
/** A restart of the daemon takes seconds; a client that waits for the next one is told after this that nobody came. */
export const NEXT_DAEMON_WAIT_MS = 30_000;
export const NEXT_DAEMON_POLL_MS = 200;
/** `agent up` and `down` look so often whether the tree is there yet. */
export const TREE_POLL_MS = 100;

/** protocol-v1.txt, Artifactization and Security invariants: data over this moves to an artifact; what is over the second is refused. */
export const INLINE_MAX_BYTES = 32 * 1024;
export const CAPTURE_MAX_BYTES = 1024 * 1024;
/** protocol-v1.txt, Preview bounds: "under 1KB", as JSON. */
export const PREVIEW_MAX_BYTES = 1_000;
/** Parts of a preview: keys that are named, and bytes of one text or key of it. */
export const PREVIEW_KEYS_MAX = 16;
export const PREVIEW_TEXT_MAX_BYTES = 96;
/** One artifact: it is read whole to be verified. */
export const CAS_OBJECT_MAX_BYTES = 64 * 1024 * 1024;
/** All artifacts of a state directory: one that is used as a dump must not fill the disk of the log. */
export const CAS_MAX_BYTES = 4 * 1024 ** 3;
export const CAS_OBJECTS_MAX = 20_000;
/** Bytes of them that replies take up to so many: the rest is for final answers, which nobody can ask for once more. */
export const CAS_REPLIES_MAX_BYTES = 2 * 1024 ** 3;
export const CAS_REPLIES_OBJECTS_MAX = 10_000;
/** The daemon's own count of them is trusted for so long; others put beside it. And so often room is made where there is none. */
export const CAS_COUNTED_AGAIN_MS = 10 * 60_000;
/** An artifact that nobody names is kept so long after it was put (protocol-v1 notes 1.1). */
export const CAS_KEPT_MS = 30 * 24 * 3_600_000;
/** And never removed before this, whatever is asked: a record that names it may wait for a full disk. */
export const CAS_FRESH_MS = 3_600_000;
/** One envelope or line that a validator reads: more than the 1,024 KB that may be captured, and than our largest answer. */
export const ENVELOPE_MAX_BYTES = 4 * 1024 * 1024;
/** Nesting of one that is validated: as of a request. */
export const ENVELOPE_MAX_DEPTH = 128;
/** Findings that a validator keeps; the rest is counted. */
export const FINDINGS_MAX = 100;
/** Members down to this depth have their line told; what is deeper has that of the member above it. */
export const LINES_KNOWN_DEPTH = 3;
/** In test mode: newest answered requests of a connection whose ids are remembered, so that a second answer is seen. */
export const ANSWERED_IDS_MAX = 10_000;
/** protocol-v1.txt, Preview bounds: a preview is under this. */
export const PREVIEW_UNDER_BYTES = 1024;
/** A command that prints nothing for so long says that it is still there (response-envelope notes B.3, F-053). */
export const PRINTED_HEARTBEAT_MS = 10_000;
/** One page of `agent list` where no other is asked for: some megabytes of JSON. */
export const LIST_PAGE_MAX_WORKERS = 5_000;
/** Keys whose first answers a daemon keeps beside the log: a day of one request every ten seconds. */
export const IDEMPOTENCY_KEYS_MAX = 10_000;
/** How long `close` of the library lets watches read to the end of the log. */
export const WATCHES_DRAIN_MAX_MS = 1_000;
/** The oldest Node that everything here runs on: major, minor. `bin/agent` has a copy, since it loads nothing before it has looked. */
export const NODE_MIN = [22, 19] as const;
/** How far the clock of `openForTest` goes at a time. */
export const TEST_CLOCK_STEP_MS = 1_000;
/** Turns of the loop without a request to a file, after which a runtime of `openForTest` is at rest; and the most that it waits for that. */
export const TEST_QUIET_TURNS = 60;
export const TEST_SETTLE_TURNS_MAX = 20_000;
/** How long `open` of the library waits for the ends of runs that ended meanwhile: what they printed is read first. */
export const OPEN_SETTLE_MAX_MS = 10_000;
