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
/** agent-event notes A.2: stdout of a command that manages MCP servers, and as much of stderr. */
export const MCP_OUTPUT_MAX_BYTES = 65_536;
/** agent-event notes A.5: the name of a model, trimmed; bytes of UTF-8. */
export const MODEL_MAX_BYTES = 128;
/** The JSON Schema of an answer: bytes of its JSON. It is an argument of some CLIs, and a part of the decoder state of codex. */
export const OUTPUT_SCHEMA_MAX_BYTES = 16_384;
/** agent-event notes A.5: the path of one directory that is added to an agent's own; bytes of UTF-8. */
export const ADD_DIR_MAX_BYTES = 1_024;
/** agent-event notes A.5: directories that are added to an agent's own. */
export const ADD_DIRS_MAX = 16;
/** How long a command that manages MCP servers may run without `--timeout`. */
export const MCP_TIMEOUT_DEFAULT_MS = 60_000;
/** After a captured command exits, its output is read for at most this long. */
export const CAPTURE_DRAIN_MS = 1_000;
/** A case of the conformance kit for runtimes waits this long for a run, and looks this often. */
export const CONFORMANCE_WAIT_MS = 20_000;
export const CONFORMANCE_POLL_MS = 5;
/** Runtimes beside the built-in one; and the length of a runtime's name, in characters. */
export const USER_RUNTIMES_MAX = 16;
export const RUNTIME_NAME_MAX_CHARS = 64;
/** One frame of a bridge, either way: a start has a prompt and an environment. And how long a frame that has begun may take. */
export const BRIDGE_FRAME_MAX_BYTES = 4 * 1024 * 1024;
export const BRIDGE_FRAME_MAX_MS = 10_000;
/** Bytes to a bridge that does not read. */
export const BRIDGE_UNSENT_MAX_BYTES = 32 * 1024 * 1024;
/** Requests to a bridge that wait for their answers: one for the output of each run, and others. */
export const BRIDGE_REQUESTS_MAX = 12_000;
/** How long a bridge has for an answer. */
export const BRIDGE_ANSWER_MS = 10_000;
/** How long a bridge may wait for news of a run before it answers that there is none. */
export const BRIDGE_AWAIT_MS = 60_000;
/** Bytes of each stream in one answer, before base64. */
export const BRIDGE_CHUNK_MAX_BYTES = 65_536;
/** Frames on one connection that answer nothing: late, repeated, or not asked for. Beyond it the connection is closed. */
export const BRIDGE_STRAYS_MAX = 1_000;
/** How often the states of all runs are asked; how many runs one request names; and how old a state may be that counts. */
export const BRIDGE_STATE_PERIOD_MS = 5_000;
export const BRIDGE_STATE_RUNS_MAX = 500;
export const BRIDGE_STATE_STALE_MS = 15_000;
/** Pages of `runtime.get_children` that one look at a bridge reads. */
export const BRIDGE_PAGES_MAX = 100;
/** The delay of a new connection after a failed one. */
export const BRIDGE_RECONNECT_MIN_MS = 100;
export const BRIDGE_RECONNECT_MAX_MS = 5_000;
/** How long a request waits for a bridge that has just gone, and for one that the daemon starts. */
export const BRIDGE_UP_MS = 3_000;
export const BRIDGE_START_MS = 15_000;
/** How long a start may wait for its answer over lost connections: less than LAUNCH_MAX_MS. */
export const BRIDGE_LAUNCH_MS = 20_000;
/** A name that a bridge gives: of itself, of a life of it, of a run. */
export const BRIDGE_NAME_MAX_CHARS = 256;
/** The text of a bridge's refusal; more is cut. */
export const BRIDGE_MESSAGE_MAX_CHARS = 1_024;
/** Words in the command of a bridge, and the log of a bridge that the daemon starts. */
export const BRIDGE_COMMAND_MAX_WORDS = 64;
/** Workers in a tree that `agent init` writes. */
export const INIT_WORKERS_MAX = 100;
/** How many directories upwards the configuration of a repository is searched. */
export const REPOSITORY_LEVELS_MAX = 64;
/** The name of a model. */
export const MODEL_MAX_CHARS = 128;
/** User adapters in one `config.yaml`. */
export const USER_ADAPTERS_MAX = 64;
/** The size of `config.yaml`. */
export const CONFIGURATION_MAX_BYTES = 65_536;
/** How long the loading of one user adapter may take. */
export const USER_ADAPTER_LOAD_MAX_MS = 5_000;
/** agent-event notes A.3: a longer session id is omitted, never cut. */
export const SESSION_ID_MAX_BYTES = 1_024;

/** One line of an agent's output; an image that a tool reads, or a long answer, is one line. A longer line is recorded by its length, and only its beginning is used. */
export const LINE_MAX_BYTES = 16 * 1024 * 1024;
/** The beginning of an over-long line that is still read: it names the request of the agent, or the tool call that has ended. */
export const LINE_HEAD_MAX_BYTES = 4_096;
/** A line longer than this is read alone, and is recorded before the next such line of any worker, because each takes several times its length in memory. */
export const LONG_LINE_BYTES = 1024 * 1024;
/** JSON values in a line over LONG_LINE_BYTES. Only the beginning of a line with more values is read, because parsing all of it would block every worker. */
export const LONG_LINE_MAX_VALUES = 350_000;
/** One read of a spool. After each read the ingest yields to other workers. */
export const SPOOL_READ_BYTES = 256 * 1024;
/** Lines in one read of a spool. Their records go into one transaction and leave room in it for other workers. */
export const BATCH_MAX_LINES = 400;
/** Lines in one read of a flooding spool while other agents also write output. */
export const BATCH_BESIDE_OTHERS_MAX_LINES = 64;
/** Bytes in one read of a flooding spool while other agents also write output: those agents wait for each batch. */
export const BATCH_BESIDE_OTHERS_MAX_BYTES = 64 * 1024;
/** An agent counts as writing for this long after its last output. */
export const OTHERS_WRITE_MS = 1_000;
/** While other agents write, a flood rests after each batch for this many times the duration of the batch. */
export const FLOOD_REST_TIMES = 7;
/** The longest rest of a flood after one batch. */
export const FLOOD_REST_MAX_MS = 50;
/** Disk space of ingested output is freed in steps of at least this size, because each step costs a process and a durable commit. */
export const RELEASE_STEP_BYTES = 8 * 1024 * 1024;
/** A hole in a spool begins and ends at a multiple of this: a multiple of the block size of every file system. */
export const RELEASE_BLOCK_BYTES = 65_536;
/** The newest ingested output of each stream stays on disk, for `agent logs --raw` and for classifiers that look at the tail. */
export const SPOOL_KEPT_BYTES = 1024 * 1024;
/** Unread output that is read after a worker was stopped. If there is more, only its end is read, so that a flood does not delay the end of the worker. */
export const OUTPUT_DRAIN_MAX_BYTES = 2 * 1024 * 1024;
/** Disk space for the output of one run that is not ingested yet or cannot be freed: enough for an ingest that falls behind for a while. */
export const OUTPUT_QUOTA_DEFAULT_BYTES = 1024 ** 3;
/** An agent that was paused at its output quota resumes when its unread output has shrunk to this part of the quota. Just below the quota it would pause again each second. */
export const OUTPUT_RESUME_PART = 0.5;
/** The largest output quota that a user can set: 1 PiB. */
export const OUTPUT_QUOTA_MAX_BYTES = 1024 ** 5;
/** No worker starts while the disk of the state directory has less free space: the log needs space to record how running workers end. */
export const DISK_FREE_MIN_BYTES = 256 * 1024 * 1024;
/** How long the helper process that punches one hole may take. */
export const RELEASE_MAX_MS = 10_000;
/** Releases of disk space that wait for their turn. A refused release is tried again with the next step. */
export const RELEASES_WAITING_MAX = 256;
/** The last bytes of stderr that a classifier may look at. The classifier never passes them on. */
export const STDERR_TAIL_BYTES = 4_096;
/** The state of a decoder, which is committed together with the offset of its spool. */
export const DECODER_STATE_MAX_BYTES = 65_536;

/** Records in one transaction of the log (architecture §4: small, batched, one synchronous function). */
export const TRANSACTION_MAX_RECORDS = 500;
/** Ordinary records that wait to be written to the log. */
export const COMMIT_QUEUE_MAX_RECORDS = 20_000;
/** Records in one page that a reader takes from the log. */
export const READ_PAGE_RECORDS = 500;
/** A page ends with the line that passes this length. */
export const READ_PAGE_MAX_CHARS = 128 * 1024;

/** Events that wait for the machine of one worker. One more event breaks the machine, so that no event is lost in silence. */
export const MAILBOX_MAX_EVENTS = 1_024;
/** At this many waiting events, a further stop, pause or unpause is dropped: the mailbox already holds the same request. */
export const MAILBOX_MAX_REPEATABLE = 256;
/** Ends of agents that are handled in one turn of the event loop. */
export const EXITS_PER_TURN_MAX = 64;

/** The prompt of one worker. */
export const PROMPT_MAX_BYTES = 1024 * 1024;
/** One message to an agent. */
export const MESSAGE_TO_AGENT_MAX_BYTES = 65_536;
/** Messages to one agent that are not delivered or not acknowledged yet. */
export const MESSAGES_OPEN_MAX = 256;
/** Permission requests of one worker that wait for an answer. The next one is denied at once. */
export const APPROVALS_OPEN_MAX = 64;
/** An agent's own description of what it asks permission for. */
export const APPROVAL_TITLE_MAX_BYTES = 1_024;
/** The input of a tool in a permission request, as JSON. A larger input is not shown. */
export const APPROVAL_INPUT_MAX_BYTES = 16_384;
/** How long a permission request waits for a person, unless the worker's spec says otherwise. */
export const APPROVAL_WITHIN_DEFAULT_MS = 600_000;
/** Permission requests in one page of `agent approvals`. */
export const APPROVALS_PAGE_MAX = 1_000;
/** The message of one step in `agent jobs tail`. */
export const JOB_MESSAGE_MAX_BYTES = 1_024;
/** Jobs in one page of `agent jobs list` without `--limit`. */
export const JOBS_PAGE_DEFAULT = 100;
/** Jobs in one page of `agent jobs list`. */
export const JOBS_PAGE_MAX = 1_000;
/** Open holds in one page of `agent inbox`. */
export const INBOX_PAGE_MAX = 1_000;
/** The cursors of questions of the cluster begin here. No log comes to so many records. */
export const INBOX_PLACES_FROM = 100_000_000_000_000;
/** Open holds that the inbox reads from the log at once. */
export const HOLDS_READ_AT_ONCE = 256;
/** Permission rules of one worker. */
export const PERMISSION_RULES_MAX = 64;
/** Tools of one worker whose denied calls are counted by name. */
export const DENIED_TOOLS_MAX = 16;
/** One permission rule: the tool and its pattern. */
export const PERMISSION_RULE_MAX_BYTES = 512;
/** While a message is written to an agent, the agent's output waits for the record of the message, at most this long. */
export const DELIVERY_RECORD_MAX_MS = 1_000;
/** Before a stopped agent gets the signal, it may end its turn by its own protocol for this long. */
export const CANCEL_BY_PROTOCOL_MAX_MS = 1_000;
/** The name of a worker, a supervisor or a label. */
export const NAME_MAX_BYTES = 64;
/** The path of a node: names joined by "/", from the top of a tree down. */
export const PATH_MAX_BYTES = 512;
/** Levels of supervisors in one tree. */
export const TREE_DEPTH_MAX = 8;
/** Supervisors and workers in one tree. */
export const TREE_NODES_MAX = 2_000;
/** A holdfast.yaml, each file that it includes, and the text that all its variables expand to. */
export const TREE_FILE_MAX_BYTES = 1024 * 1024;
/** Files that one holdfast.yaml may include. */
export const TREE_INCLUDES_MAX = 256;
/** How deep included files may include others. */
export const TREE_INCLUDE_DEPTH_MAX = 8;
/** Values in one file after its aliases are expanded. */
export const TREE_VALUES_MAX = 100_000;
/** How deep the values of one file may nest. */
export const TREE_NESTING_MAX = 64;
/** Mistakes of one file that are reported at once. */
export const TREE_PROBLEMS_MAX = 100;
/** A child that is not ready within this has failed to start. */
export const READY_WITHIN_DEFAULT_MS = 60_000;
/** A readiness condition outside the log (a file, a port) is checked this often. */
export const READY_POLL_MS = 100;
/** One attempt to connect to a port. */
export const PORT_PROBE_MAX_MS = 1_000;
/** Every tree is planned again this often, even if nothing has changed. */
export const RECONCILE_PERIOD_MS = 5_000;
/** Labels of one worker. */
export const LABELS_MAX = 32;
/** The beginning of a command line or a prompt that lists show. */
export const TASK_MAX_CHARS = 200;
/** The arguments and the environment of one process together. */
export const ARGV_MAX_BYTES = 1024 * 1024;
/** One argument: the kernel's MAX_ARG_STRLEN. */
export const ARG_MAX_BYTES = 131_072;
/** Decisions that `agent why` shows: the newest ones. */
export const WHY_RECORDS_MAX = 500;
/** Turns that `agent info` lists: the newest ones. */
export const TURNS_SHOWN_MAX = 500;
/** Findings about a worker's run directories that `agent info` lists: the newest ones. */
export const RUN_FINDINGS_SHOWN_MAX = 50;
/** Models whose usage is counted apart in one turn. The usage of further models counts for an unnamed one. */
export const MODELS_PER_TURN_MAX = 16;
/** A file of prices (HOLDFAST_PRICES). */
export const PRICES_FILE_MAX_BYTES = 1024 * 1024;
/** Entries in a file of prices, and names in one entry. */
export const PRICES_MAX = 10_000;
/** The name of a model in a file of prices. */
export const MODEL_PATTERN_MAX_CHARS = 128;
/** The highest price of a million tokens. */
export const PRICE_MAX_USD = 1e6;
/** Models whose price of a day is cached: agents can invent any number of names. */
export const PRICES_REMEMBERED_MAX = 256;
/** Rows of `agent usage`: the newest days, or the costliest rows of any other grouping. */
export const USAGE_ROWS_MAX = 1_000;
/** Models without a price that `agent usage` names. */
export const USAGE_UNPRICED_NAMED_MAX = 16;
/** `agent info` sums the usage of at most this many workers below one; `agent usage --subtree` sums all. */
export const SUBTREE_SUMMED_MAX_WORKERS = 1_000;
/** Items of one namespace of the blackboard, and namespaces with items. A further post is refused. */
export const BB_ITEMS_MAX = 10_000;
export const BB_NAMESPACES_MAX = 1_000;
/** One item of the blackboard: its title, its text, its data as JSON, its tags and the artifacts that it names. */
export const BB_TITLE_MAX_BYTES = 1_024;
export const BB_BODY_MAX_BYTES = 32 * 1024;
export const BB_DATA_MAX_BYTES = 32 * 1024;
export const BB_TAGS_MAX = 16;
export const BB_TAG_MAX_CHARS = 64;
export const BB_ARTIFACTS_MAX = 16;
/** The time to live of an item, and the lease of a claim: the default, the shortest and the longest (protocol-v1 notes 1.3). */
export const BB_TTL_DEFAULT_MS = 24 * 3_600_000;
export const BB_TTL_MIN_MS = 1_000;
export const BB_TTL_MAX_MS = 365 * 24 * 3_600_000;
export const BB_LEASE_DEFAULT_MS = 300_000;
export const BB_LEASE_MIN_MS = 1_000;
export const BB_LEASE_MAX_MS = 24 * 3_600_000;
/** Items in one page of a list or a search: the default and the most. */
export const BB_PAGE_DEFAULT = 100;
export const BB_PAGE_MAX = 1_000;
/** The text of a search of the blackboard. */
export const BB_SEARCH_MAX_CHARS = 1_024;
/** An item is checked this often, however far its deadline is, because no timer counts longer. */
export const BB_LOOK_MAX_MS = 24 * 3_600_000;
/** Watches of the blackboard that are open at once. */
export const BB_WATCHERS_MAX = 1_000;
/** Agents of one `agent spawn-many`, and the reason that is given for it. */
export const SPAWN_MANY_MAX = 64;
export const SPAWN_REASON_MAX_CHARS = 1_024;
/** Roles in one `config.yaml`. */
export const ROLES_MAX = 64;
/** The file of `agent spawn-many`. */
export const SPAWN_MANY_FILE_MAX_BYTES = 1024 * 1024;
/** Workers that one request prunes; `agent prune` repeats the request until none is left. */
export const PRUNED_MAX = 500;
/** The text of `agent search`, the workers and types that it names, and the records in one page: the default and the most. */
export const SEARCH_TEXT_ASKED_MAX_CHARS = 1_024;
export const SEARCH_NAMES_MAX = 64;
export const SEARCH_PAGE_DEFAULT = 50;
export const SEARCH_PAGE_MAX = 500;
/** The text of one record: the part that the index of words takes, and the part that an answer shows. */
export const SEARCH_TEXT_MAX_CHARS = 32 * 1024;
export const SEARCH_EXCERPT_MAX_CHARS = 240;
/** The part of an excerpt before its first match. */
export const SEARCH_EXCERPT_BEFORE_CHARS = 60;
/** New records that a search indexes on the daemon's loop; a thread indexes more of them. */
export const SEARCH_INDEXED_INLINE_MAX_RECORDS = 500;
/** Records in one transaction of the index of words. */
export const SEARCH_INDEX_SLICE_RECORDS = 5_000;
/** Records that a search reads before it lets the loop go on: at first, and at least. A quick slice doubles the next one. */
export const SEARCH_SLICE_RECORDS = 50_000;
export const SEARCH_SLICE_MIN_RECORDS = 5_000;
/** A slice that took less than the first is quick, and one that took more than the second is slow. */
export const SEARCH_SLICE_QUICK_MS = 2;
export const SEARCH_SLICE_SLOW_MS = 8;
/** The precision of the recorded time of the last search. */
export const SEARCH_NOTED_MS = 3_600_000;
/** The index of words is removed if nobody has searched for this long. The next search builds it anew. */
export const SEARCH_INDEX_KEPT_MS = 7 * 24 * 3_600_000;
/** Schedules of one daemon. A further one is refused. */
export const SCHEDULES_MAX = 1_000;
/** A cron line. */
export const CRON_MAX_CHARS = 256;
/** The clock of a time zone goes forward by no more than this at once. */
export const ZONE_GAP_MAX_MS = 3 * 3_600_000;
/** The name of a schedule. The name of each of its workers is this name, followed by the time of the run. */
export const SCHEDULE_NAME_MAX_BYTES = NAME_MAX_BYTES - 17;
/** A run that begins no later than this after its time, and before the next one, is on time and not missed. */
export const SCHEDULE_ON_TIME_MS = 60_000;
/** Missed runs that a schedule makes up for: the default and the most. As many runs may wait at once. */
export const SCHEDULE_MISSED_DEFAULT = 10;
export const SCHEDULE_MISSED_MAX = 100;
/** Workers of one schedule that run at once, if its runs may overlap. */
export const SCHEDULE_RUNNING_MAX = 16;
/** The shortest `--starting-deadline`. */
export const SCHEDULE_DEADLINE_MIN_MS = 1_000;
/** The wall clock is read this often, however far the next time of a schedule is, because it may be set, and the machine may sleep. */
export const SCHEDULE_LOOK_MAX_MS = 10_000;
/** A run that waits for the end of the run before it, or for the store, is tried again this often. */
export const SCHEDULE_WAIT_LOOK_MS = 1_000;
/** If the wall clock was set back by more than this, schedules count from the new time. If by less, no time comes again. */
export const SCHEDULE_REWIND_MIN_MS = 3 * 3_600_000;
/** Records of a schedule, older than retention keeps, from which one record that sums them up is written, so that they can go. */
export const SCHEDULE_SUM_RECORDS_MIN = 100;
/** Times that passed without a daemon are looked up in spans. The first has this length, and each is four times as long as the one before. */
export const SCHEDULE_SPAN_MS = 120_000;
/** Schedules in one page of a list: the default and the most. */
export const SCHEDULES_PAGE_DEFAULT = 100;
export const SCHEDULES_PAGE_MAX = 1_000;
/** Times that `agent schedule next` shows: the default and the most. */
export const SCHEDULE_NEXT_DEFAULT = 5;
export const SCHEDULE_NEXT_MAX = 100;
/** Cards of one board that are not done, and boards. A further one is refused. Done cards stay, so that a tracker that still lists them starts nothing. */
export const BOARD_CARDS_MAX = 10_000;
export const BOARDS_MAX = 100;
/** One card: the id that its tracker gives it, its title, its text and its labels. */
export const CARD_ID_MAX_BYTES = 128;
export const CARD_TITLE_MAX_BYTES = 1_024;
export const CARD_BODY_MAX_BYTES = 32 * 1024;
export const CARD_LABELS_MAX = 32;
export const CARD_LABEL_MAX_CHARS = 128;
/** The reason that a person gives for a move of a card. */
export const CARD_REASON_MAX_CHARS = 1_024;
/** Cards that one request adds, and their size together, as JSON. */
export const CARDS_AT_ONCE_MAX = 500;
export const CARDS_AT_ONCE_MAX_BYTES = 1024 * 1024;
/** Cards in one page of a list: the default and the most. */
export const CARDS_PAGE_DEFAULT = 200;
export const CARDS_PAGE_MAX = 1_000;
/** Cards of one board that run at once: the default and the most. */
export const BOARD_SLOTS_DEFAULT = 1;
export const BOARD_SLOTS_MAX = 1_000;
/** Dispatches of one board in one pass of its scheduler (protocol-v1 notes 2.8). */
export const BOARD_DISPATCHES_PER_PASS_MAX = 10;
/** A running card without a living worker has failed after this (protocol-v1 notes 2.8, startup recovery). */
export const BOARD_ORPHAN_GRACE_MS = 30_000;
/** Watches of boards that are open at once. */
export const BOARD_WATCHERS_MAX = 1_000;
/** A file of cards, or the cards on stdin. */
export const CARDS_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** Messages of one mailbox that wait or are leased, and dead letters. A further send is refused; for a further dead letter, a record reports the removal of the oldest. */
export const MAILBOX_MESSAGES_MAX = 1_000;
export const MAILBOX_DEAD_MAX = 1_000;
/** Inputs of one mailbox in one transaction. */
export const MAILBOX_INPUTS_AT_ONCE = 64;
/** Messages of one mailbox that become dead letters in one transaction. The next check continues. */
export const MAILBOX_DEATHS_AT_ONCE = 200;
/** The payload of one message, as JSON, and the note of a nack. A larger payload is an artifact. */
export const MAILBOX_PAYLOAD_MAX_BYTES = 32 * 1024;
export const MAILBOX_REASON_MAX_CHARS = 1_024;
/** Deliveries of one message without an acknowledgement. After the last of them it is a dead letter. */
export const MAILBOX_ATTEMPTS_MAX = 5;
/** The lease of a delivered message, the delay of a message, and its time to live: the default and the longest. */
export const MAILBOX_LEASE_DEFAULT_MS = 5 * 60_000;
export const MAILBOX_LEASE_MAX_MS = 12 * 3_600_000;
export const MAILBOX_DELAY_MAX_MS = 7 * 24 * 3_600_000;
export const MAILBOX_TTL_DEFAULT_MS = 7 * 24 * 3_600_000;
export const MAILBOX_TTL_MAX_MS = 30 * 24 * 3_600_000;
/** Messages of one poll, and messages in one page of a list: the default and the most. */
export const MAILBOX_POLL_MAX = 100;
export const MAILBOX_PAGE_DEFAULT = 100;
export const MAILBOX_PAGE_MAX = 1_000;
/** Polls of one mailbox that wait for a message. */
export const MAILBOX_WAITING_MAX = 256;
/** A mailbox with a message that waits for a time is checked at least this often. */
export const MAILBOX_LOOK_MAX_MS = 24 * 3_600_000;
/** An ask to a mailbox waits this long for the reply by default, and this long for the first poll of a worker that never polled. */
export const MAILBOX_ASK_DEFAULT_MS = 10 * 60_000;
export const MAILBOX_FIRST_POLL_MS = 5_000;
/** Messages in one page of `agent messages` without `--limit`. */
export const MESSAGES_PAGE_DEFAULT = 100;
/** Messages in one page of `agent messages`. */
export const MESSAGES_PAGE_MAX = 1_000;
/** `agent top` draws at most this often. */
export const TOP_FRAME_MS = 250;
/** Records that `agent top` keeps until its next frame; then it reads them at once. */
export const TOP_RECORDS_MAX = 1_000;
/** `agent top` asks for the processor time and the memory of workers this often. */
export const TOP_SAMPLE_MS = 2_000;
/** `agent tree -f` redraws at most this often. */
export const TREE_REDRAW_MS = 100;

/** One call of git, except the checkout of a worktree. */
export const GIT_MAX_MS = 60_000;
/** One call of git that checks out a worktree. */
export const GIT_CHECKOUT_MAX_MS = 600_000;
/** Time between TERM and KILL for a git that takes too long or is no longer needed. */
export const GIT_GRACE_MS = 2_000;
/** Output of one call of git, except a diff. */
export const GIT_OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Calls of git at once, so that a starting fleet does not check out a hundred worktrees in parallel. */
export const GIT_AT_ONCE_MAX = 4;
/** While a worker's worktree is made, the daemon checks this often whether the worker was stopped. */
export const WORKTREE_STOP_LOOK_MS = 200;
/** The trial run of a sandbox before each start in it. */
export const SANDBOX_PROBE_MAX_MS = 10_000;
/** Directories that `--sandbox-writable` may name. */
export const SANDBOX_WRITABLE_MAX = 64;
/** The name of a branch. git has no bound of its own, but a file name has. */
export const BRANCH_MAX_BYTES = 200;
/** The diff of `agent changes`. If the diff is larger, only the summary is shown. */
export const CHANGES_DIFF_MAX_BYTES = 16 * 1024 * 1024;
/** Files that `agent changes` names; further files are only counted. */
export const CHANGES_FILES_MAX = 2_000;
/** Workers that live at once. */
export const WORKERS_LIVE_MAX = 10_000;
/** Agents above an agent that another agent spawned (protocol-v1 notes 2.10, MaxDepth). */
export const DEPTH_DEFAULT = 3;
/** The deepest nesting of spawned agents that a user can allow. */
export const DEPTH_MAX = 64;
/** Workers that wait for a slot or for memory. */
export const QUEUE_MAX_WORKERS = 1_000;
/** No worker starts while the machine has less available memory: an agent CLI takes 100 to 300 MB, and the kernel's OOM killer can pick any process. */
export const MEM_AVAILABLE_MIN_BYTES = 256 * 1024 * 1024;
/** Available memory is read at most this often. */
export const MEMORY_READ_MS = 50;

/** One line of a request. */
export const REQUEST_MAX_BYTES = 2 * 1024 * 1024;
/** After the daemon turns a client away, it reads and drops that client's input for this long, so that the client can read the reason. */
export const FAREWELL_MS = 1_000;
/** Clients that were turned away and whose input is still read. A further client is disconnected at once. */
export const FAREWELLS_MAX = 256;
/** Nesting of a request. A deeper request could exhaust the stack of the code that walks it. */
export const REQUEST_MAX_DEPTH = 128;
/** How long a client may take to send one request line. */
export const REQUEST_LINE_MAX_MS = 30_000;
/** Unreadable requests of one connection within REQUEST_MISTAKES_PERIOD_MS. One more closes the connection. */
export const REQUEST_MISTAKES_MAX = 1_000;
/** The period in which unreadable requests are counted. */
export const REQUEST_MISTAKES_PERIOD_MS = 10_000;
/** The token in a request. */
export const TOKEN_MAX_CHARS = 128;
/** Tokens with names of one daemon that have not expired: another one is refused. */
export const TOKENS_MAX = 256;
/** The random part of a token's secret. */
export const TOKEN_SECRET_BYTES = 32;
/** A token holds at least this long. */
export const TOKEN_EXPIRES_MIN_MS = 1_000;
/** A file with a token's secret. */
export const TOKEN_FILE_MAX_BYTES = 1_024;

/** Peers of one hub. */
export const PEERS_MAX = 64;
/** The name of a hub, a host name (RFC 1035), in characters. */
export const HUB_ID_MAX_CHARS = 253;
/** The name of a capability; and capabilities that two hubs share. */
export const CAPABILITY_MAX_CHARS = 128;
export const PEER_CAPABILITIES_MAX = 64;
/** Names in one list of a data boundary; and the length of one, in characters. */
export const BOUNDARY_FIELDS_MAX = 256;
export const BOUNDARY_FIELD_MAX_CHARS = 128;
/** weblisk.txt, Data Boundary Contracts: bytes of a payload after fields were stripped. */
export const FEDERATED_PAYLOAD_DEFAULT_BYTES = 65_536;
export const FEDERATED_PAYLOAD_MAX_BYTES = 1_048_576;
/** weblisk.txt, Data Boundary Contracts: requests of a peer in any hour; and the most that one may be granted. */
export const PEER_RATE_DEFAULT = 100;
export const PEER_RATE_MAX = 1_000;
export const PEER_RATE_PERIOD_MS = 3_600_000;
/** weblisk notes 2.4: federated tasks with one peer that have not ended, each way. */
export const FEDERATED_TASKS_MAX = 20;
/** A federated task without a result after this long counts as over. */
export const FEDERATED_TASK_MAX_MS = 3_600_000;
/** weblisk.txt, Data Boundary Contracts: hours for which an answer may be kept, at most. */
export const PEER_RETENTION_MAX_HOURS = 720;
/** A sealed text, or its key, as a file; and the random bytes of a key (AES-256). */
export const SEALED_FILE_MAX_BYTES = 4 * 1024 * 1024;
export const SEALED_KEY_BYTES = 32;
/** Keys whose time is over are looked for so often; the mark of such a text stays for so long. */
export const SEALED_LOOK_MS = 30_000;
export const SEALED_MARK_KEEP_MS = 30 * 86_400_000;
/** A refusal with the same reason is told once in this time, so that a peer cannot fill the log. */
export const PEER_REFUSALS_PERIOD_MS = 60_000;
/** A request to another hub is given up after this, and sent again. */
export const FEDERATION_POST_MAX_MS = 120_000;
/** A hub that does not answer is asked so often, with a pause between two tries. */
export const FEDERATION_TRIES_MAX = 10;
export const FEDERATION_RETRY_MS = 1_000;
/** A token of another hub is renewed if it ends within this time. */
export const FEDERATION_RENEW_S = 60;
/** Handshakes, and other requests without a token, that one hub may send in a minute. */
export const FEDERATION_NOTES_MAX = 60;
/** The port of a federation gateway (weblisk notes 1). */
export const FEDERATION_PORT_DEFAULT = 9_801;
/** The heap of a gateway's process: more is its end, and not the machine's. */
export const FEDERATION_GATEWAY_HEAP_MAX_MIB = 512;
/** A gateway that ends is started again after this; the pause grows with each end, and is small again after a steady life. */
export const FEDERATION_GATEWAY_RESTART_MIN_MS = 100;
export const FEDERATION_GATEWAY_RESTART_MAX_MS = 10_000;
export const FEDERATION_GATEWAY_STEADY_MS = 60_000;
/** A gateway waits so long for its place, and looks so often, since that of a killed server may still leave. */
export const FEDERATION_LISTEN_WAIT_MS = 3_000;
export const FEDERATION_LISTEN_LOOK_MS = 50;
/** weblisk notes 7.2: a peer is verified after so many successful tasks and so long, with at most so many failures in a hundred. */
export const FINGERPRINT_TASKS_MIN = 20;
export const FINGERPRINT_AGE_MIN_MS = 24 * 3_600_000;
export const FINGERPRINT_ERRORS_MAX_PERCENT = 5;
/** A verified peer stays so up to this many failures in a hundred. */
export const FINGERPRINT_LOST_PERCENT = 10;
/** The newest tasks by which a peer is judged. */
export const FINGERPRINT_TASKS_KEPT = 100;
/** An answer that takes this many times as long as the first one is odd, if it takes at least this long. */
export const FINGERPRINT_SLOW_TIMES = 5;
export const FINGERPRINT_SLOW_MIN_MS = 1_000;
/** Names of fields in one record about a federated task; the rest is counted. */
export const CROSSING_NAMES_MAX = 64;
/** The text of a public key: ML-DSA-65 has the longest; and an address on the wire (weblisk notes 1). */
export const PUBLIC_KEY_MAX_CHARS = 4_096;
export const URL_MAX_CHARS = 2_048;
/** Entries of the audit chain in one answer: by default, and at most. */
export const AUDIT_PAGE_DEFAULT = 100;
export const AUDIT_PAGE_MAX = 1_000;
/** Levels of a federated payload, with those of JSON in its texts. */
export const BOUNDARY_DEPTH_MAX = 64;
/** Connections at once without HOLDFAST_MAX_CONNECTIONS. A watcher's connection costs about 20 KB. */
export const CONNECTIONS_DEFAULT = 12_000;
/** The largest HOLDFAST_MAX_CONNECTIONS. */
export const CONNECTIONS_MAX = 100_000;
/** When all connections are taken, a new one replaces the one that has been idle the longest, if that was at least this long. */
export const CONNECTION_IDLE_MIN_MS = 1_000;
/** File descriptors that are reserved for the log, spools and starts of agents. */
export const DESCRIPTORS_KEPT = 256;
/** Clients that the kernel keeps waiting to be accepted. */
export const BACKLOG_MAX = 4_096;
/** Requests of one connection that wait for their answers. */
export const REQUESTS_IN_FLIGHT_MAX = 256;
/** Time that requests of all connections get in one turn of the daemon's event loop. */
export const REQUESTS_SLICE_MS = 5;
/** Output to a watcher that the watcher has not read yet. */
export const WATCHER_BUFFER_MAX_BYTES = 1024 * 1024;

/** Restarts in one period without `--max-restarts`. */
export const RESTARTS_DEFAULT = 3;
/** The period in which restarts are counted. */
export const RESTART_PERIOD_DEFAULT_MS = 60_000;
/** The first wait before a restart. */
export const BACKOFF_MIN_DEFAULT_MS = 1_000;
/** The longest wait before a restart. */
export const BACKOFF_MAX_DEFAULT_MS = 60_000;
/** The most restarts in one period that a user can allow. */
export const RESTARTS_MAX = 1_000_000;
/** Waits in a row for a provider's rate limit. After one more, the worker gives up. */
export const RATE_LIMIT_WAITS_MAX = 8;
/** An incarnation that ran this long has made progress, so the count of waits starts again. */
export const RATE_LIMIT_DONE_MS = 10 * 60_000;
/** The first wait if the provider does not say when its limit resets. */
export const RATE_LIMIT_BACKOFF_MIN_MS = 30_000;
/** The longest wait if the provider does not say when its limit resets. */
export const RATE_LIMIT_BACKOFF_MAX_MS = 30 * 60_000;
/** The longest wait if the provider says when its limit resets: a week and a day. */
export const RATE_LIMIT_WAIT_MAX_MS = 8 * 24 * 3_600_000;
/** A random part is added to each wait, at most this, so that a hundred agents do not return at once. */
export const RATE_LIMIT_JITTER_MAX_MS = 60_000;
/** A reset time of day that passed less than this ago means today, not tomorrow: the provider rounds it to the minute, and the CLI takes time to end. */
export const RATE_LIMIT_PAST_MS = 10 * 60_000;
/** Time between the stop signal and KILL. */
export const GRACE_DEFAULT_MS = 10_000;
/** The wall clock of one incarnation. */
export const TIMEOUT_DEFAULT_MS = 30 * 60_000;
/** Silence, with no tool running, before a worker counts as stalled. */
export const STALL_DEFAULT_MS = 10 * 60_000;
/** The period of a worker's heartbeat. */
export const HEARTBEAT_DEFAULT_MS = 30_000;
/** The limit of one tool call; 0 is none. Agent CLIs bound their tools themselves and a build may take long, so by default only the incarnation's wall clock bounds a call. */
export const TOOL_TIMEOUT_DEFAULT_MS = 0;
/** The longest time between the warning about a stalled worker and the question to a person. */
export const STALL_WARN_MAX_MS = 30_000;
/** The longest time that the question about a stalled worker stays open. */
export const STALL_ASK_MAX_MS = 120_000;
/** A command that waits for an agent reports a permission request once it has been open this long: a rule would have answered it by then. */
export const APPROVAL_TOLD_AFTER_MS = 1_000;
/** Some kinds of agent may run on after the end of their input. Such an agent is ended this long after it, outside a turn. */
export const EXIT_AFTER_END_MS = 10_000;
/** The input of an agent with one prompt is closed at most this long after its answer, even if its background work still runs. Claude Code itself waits as long for its sub-agents (CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS). */
export const BACKGROUND_WAIT_MAX_MS = 10 * 60_000;
/** An agent with one prompt ends within this after its answer. Until then it is not paused, even if its budget is spent. */
export const ENDING_GRACE_MS = 2_000;
/** Tool calls of one incarnation that are remembered until they end. */
export const TOOLS_IN_FLIGHT_MAX = 256;
/** The longest duration that a user can set: a year. */
export const DURATION_MAX_MS = 366 * 24 * 3_600_000;

/** A launcher reports the agent's pid within this, or the start has failed. */
export const START_TIMEOUT_MS = 10_000;
/** A spawner answers a launch within this, or the launch has failed. A process that it still starts is ended. */
export const LAUNCH_MAX_MS = 30_000;
/** A launch that found no free file descriptor or process, or a read of output without a descriptor, is tried again after this. */
export const SHORTAGE_RETRY_MS = 500;
/** Recorded runs that a boot checks at the same time. */
export const BOOT_LOOKS_MAX = 64;
/** How often a boot tries to check a run. */
export const BOOT_TRIES_MAX = 4;
/** How often a stop signal is tried. Without it the agent would not learn of its stop before the kill. */
export const SIGNAL_TRIES_MAX = 3;
/** Passes of the marker sweep before it reports survivors. */
export const SWEEP_PASSES_MAX = 20;
/** How often a process in the middle of an exec is looked at, because it shows no environment. */
export const EXEC_LOOKS_MAX = 20;
/** Time between two looks at a process in the middle of an exec. */
export const EXEC_WAIT_MS = 10;
/** Passes in which a pause stops processes that the agent forks meanwhile. Pass n waits n ms for the signals to take effect. */
export const PAUSE_PASSES_MAX = 20;
/** Raw spools are kept this long after the end of their incarnation. */
export const RUNS_KEPT_MS = 24 * 3_600_000;
/** Old run directories are removed this often. */
export const CLEAN_PERIOD_MS = 3_600_000;
/** KILL is repeated after this while the agent still runs (it may sit in an uninterruptible kernel call). */
export const KILL_REPEAT_MS = 2_000;
/** The newest heartbeats of all living workers are written this often, in one transaction. */
export const HEARTBEATS_WRITTEN_MS = 30_000;
/** The doctor reports a worker that the daemon has not checked for this many of its heartbeat periods. */
export const HEARTBEATS_LATE_AFTER = 3;
/** A heartbeat is late only after this, however short its period is. */
export const HEARTBEAT_LATE_MIN_MS = 10_000;
/** The most run directories that are ready before they are asked for. */
export const SPARE_DIRECTORIES_MAX = 16;
/** The fork server usually answers within a few milliseconds. After this it is taken as hung and replaced. */
export const FORK_ANSWER_MAX_MS = 10_000;
/** The clocks and heartbeats of all workers are checked this often. */
export const CLOCK_TICK_MS = 1_000;
/** This much monotonic time between two clock ticks means that the daemon was stopped (or the machine slept, if the clocks cannot tell). */
export const STOPPED_MIN_MS = 5_000;
/** If, between two clock ticks, the time since boot grew by this much more than the monotonic clock, the machine slept. /proc/uptime has steps of 10 ms. */
export const SUSPENDED_MIN_MS = 2_000;

/** `sun_path` without its NUL on the strictest platform: macOS has 104 bytes, Linux 108. */
export const SOCKET_PATH_MAX_BYTES = 103;
/** A starting daemon waits this long for the lock of the state directory. */
export const LOCK_WAIT_MS = 250;
/** A daemon that did not get the lock waits this long for the holder to write its name. */
export const LOCK_HOLDER_WAIT_MS = 2_000;
/** The daemon checks this often that its socket, lock and files are in place, and restores missing ones. */
export const FILES_LOOK_MS = 2_000;
/** If a daemon lives but has no socket, a client waits this long: the daemon restores the socket, or is stopping. */
export const SOCKET_AGAIN_WAIT_MS = 3_000;
/** A client waits this long for a process that holds the state directory, and that no client is starting, to answer. */
export const DAEMON_START_WAIT_MS = 10_000;
/** A client waits this long for a daemon that it or another client is starting: a busy machine makes a start slow. */
export const DAEMON_BOOT_WAIT_MS = 60_000;
/** A client that waits for a daemon checks this often. */
export const DAEMON_START_POLL_MS = 10;
/** `agent daemon stop` waits this long for the process to end: closing a long log takes time. */
export const DAEMON_GONE_WAIT_MS = 10_000;
/** A client that claimed the start of the daemon and did not renew the claim within this has died. */
export const DAEMON_START_CLAIM_MS = 3_000;
/** The daemon's log file. A larger one is renamed to `.1`, which replaces the previous `.1`. */
export const DAEMON_LOG_MAX_BYTES = 8 * 1024 * 1024;
/** A stopping daemon lets requests in flight finish for at most this long. */
export const DAEMON_DRAIN_MS = 5_000;
/** The id of a request. */
export const REQUEST_ID_MAX_CHARS = 128;
/** Time for waking watchers in one turn of the event loop. */
export const WAKE_SLICE_MS = 10;
/** Answers that are joined for one write; more of them go at once, so that the client reads while the next ones are made. */
export const ANSWERS_CHUNK_CHARS = 64 * 1024;
/** Answers that are remembered as text, in case that they are asked for again. */
export const SAME_ANSWERS_MAX = 64;
/** The longest of them. */
export const SAME_ANSWER_MAX_CHARS = 8 * 1024;
/** Text that is joined for one write to a watcher. */
export const WATCHER_CHUNK_CHARS = 64 * 1024;
/** The resolution at which the event loop's delay is measured. */
export const LAG_RESOLUTION_MS = 20;
/** The window over which the event loop's delay is measured. */
export const LAG_WINDOW_MS = 60_000;
/** The daemon checks this often how busy its event loop is. */
export const LAG_LOOK_MS = 1_000;
/** The delay is measured only if the loop was busy for more than this part of the last LAG_LOOK_MS: each measurement wakes an idle daemon. */
export const LAG_BUSY_PART = 0.05;
/** A daemon that was busy has come to rest after this many looks at which it was not. It gives memory back then. */
export const TRIM_AFTER_LOOKS = 3;
/** A daemon that comes to rest collects its garbage only if its heap has grown by this much since the last time. */
export const REST_COLLECT_MIN_BYTES = 8 * 1024 * 1024;
/** The largest heap that is collected at rest: the loop stands still meanwhile, 3 to 4 ms for each MB of live objects. */
export const REST_COLLECT_HEAP_MAX_BYTES = 256 * 1024 * 1024;
/** After a collection at rest that took this much processor time, the next one waits until the heap has doubled. */
export const REST_COLLECT_LONG_MS = 200;
/** One half of V8's space for new objects in a daemon. Node's own bound is 16 MiB. */
export const SEMI_SPACE_MAX_MIB = 2;
/** The same in `agent top`. */
export const TOP_SEMI_SPACE_MAX_MIB = 1;
/** Threads on which V8 compiles and collects in a daemon and in `agent top`: each keeps memory of its own. */
export const V8_THREADS = 1;
/** When the store fails, a record of something that has already happened is offered again after this. */
export const STORE_RETRY_MS = 500;
/** The text that `agent output` joins from the log. */
export const OUTPUT_TEXT_MAX_BYTES = 16 * 1024 * 1024;

/** Free disk space that a daemon needs to start: room for its files, and for the write-ahead log until SQLite empties it. */
export const START_ROOM_BYTES = 5 * 1024 * 1024;
/** A daemon that is to take over must load and read the schema of the log within this; otherwise nothing changes. */
export const TAKE_OVER_READY_MS = 20_000;
/** After that, the new daemon must hold the lock and answer within this; otherwise the old version starts again. */
export const TAKE_OVER_WAIT_MS = 30_000;
/** The daemon's event loop reports to its watchdog this often. */
export const BEAT_PERIOD_MS = 1_000;
/** After this many missed beats, the loop counts as blocked. */
export const BEATS_MISSED_MAX = 2;
/** After this many missed CLOCK_TICK_MS, the supervisor's tick counts as stopped. */
export const TICKS_MISSED_MAX = 3;
/** Timers that run with the supervisor's tick wait for it this much longer than their own period, so that they do not wake the daemon just before it. */
export const TICK_WAIT_MS = 250;
/** Shared memory in which the loop leaves its last beat for the watchdog. */
export const WATCHDOG_FACTS_MAX_BYTES = 4_096;
/** The heap of the watchdog's thread. */
export const WATCHDOG_HEAP_MAX_MIB = 16;
/** Beats that the watchdog's process has not read. A process that was stopped gets no more of them. */
export const WATCHDOG_UNREAD_MAX_BYTES = 64 * 1024;
/** A daemon that has not answered `daemon/status` within this counts as hung. */
export const STATUS_ANSWER_MAX_MS = 3_000;
/** Defects that the daemon prints in full within DEFECTS_TOLD_PERIOD_MS: a timer that keeps throwing must not fill the disk. */
export const DEFECTS_TOLD_MAX = 60;
/** The period in which printed defects are counted. */
export const DEFECTS_TOLD_PERIOD_MS = 60_000;
/** Defects of one daemon that are recorded in the log. */
export const DEFECTS_RECORDED_MAX = 100;

/** The longest answer that a client accepts: a list of as many workers as can exist. */
export const REPLY_MAX_BYTES = 64 * 1024 * 1024;

/** Rows of one INSERT statement. More were not faster when measured. */
export const INSERT_ROWS = 8;
/** Newest log lines that are kept in memory for live watchers; a power of two. */
export const RECENT_LINES_MAX_RECORDS = 4_096;
/** Bytes of the newest log lines that are kept in memory for live watchers. */
export const RECENT_LINES_MAX_BYTES = 8 * 1024 * 1024;
/** Rows of requested workers that are cached in memory, without their specs. */
export const WORKER_ROWS_KEPT_MAX_CHARS = 4 * 1024 * 1024;
/** Specs of requested workers that are cached in memory (a prompt may be a megabyte). */
export const SPECS_KEPT_MAX_CHARS = 4 * 1024 * 1024;
/** A filtered read scans at most this many records, then returns the matches it has. */
export const READ_SCAN_MAX_RECORDS = 5_000;
/** Streams whose newest version is cached in memory; streams of ended workers are not. */
export const STREAMS_CACHED_MAX = 20_000;
/** Earlier histories of a log that was restored from backups. Cursors of these histories are refused. */
export const EPOCHS_KEPT_MAX = 64;
/** A boot folds this much again to find edited projection rows: streams of each sort, records in all, and records of one stream. */
export const BOOT_LOOK = { streams: 100, records: 2_000, stream_records: 500 } as const;
/** `agent doctor` folds this much again for the same purpose; only its caller waits for it. */
export const DOCTOR_LOOK = { streams: 1_000, records: 20_000, stream_records: 5_000 } as const;
/** Sentences in the report on a damaged log. */
export const CHECK_FINDINGS_MAX = 100;
/** When the log is opened, it waits this long for another process that holds the file: a backup, or a checkpoint of an `agent db` command. */
export const STORE_BUSY_MAX_MS = 2_000;
/** Once the log is open, each call waits only this long, because the whole daemon waits with it. The daemon retries what SQLite refused. */
export const STORE_BUSY_OPEN_MS = 50;
/** When the write-ahead log is larger than this, the tick empties it into the database and cuts its file to this size. */
export const WAL_KEPT_BYTES = 64 * 1024 * 1024;
/** A reader in another process can keep the write-ahead log from being emptied. At this size only lifecycle records are written, and output waits in its spools. */
export const WAL_MAX_BYTES = 512 * 1024 * 1024;
/** When SQLite calls the log corrupt, a log up to this size is checked again before the daemon says so. */
export const DAMAGE_LOOK_MAX_BYTES = 64 * 1024 * 1024;
/** That check runs at most this often. */
export const DAMAGE_LOOK_PERIOD_MS = 10_000;
/** Disk space that is reserved beside the log for decisions on a full disk. A stop and its end take about 4 KB of it. */
export const RESERVE_BYTES = 2 * 1024 * 1024;
/** The reserve is made once this much disk space is free. */
export const RESERVE_FREE_MIN_BYTES = 3 * RESERVE_BYTES;
/** Records in memory that a full disk keeps out of the log: about 4 KB for each stop, and the newest output of stopped agents. */
export const HELD_MAX_BYTES = 256 * 1024 * 1024;
/** When this much is held in memory, further output of agents is dropped and only its length is held, so that stops have room. */
export const HELD_OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** The held records are written once this much disk space is free. */
export const HELD_FREE_MIN_BYTES = 1024 * 1024;
/** The held records are also tried this often, because the reported free space can be wrong. */
export const HELD_RETRY_MS = 10_000;
/** Unread output that is read after a worker was stopped on a full disk: only its end. */
export const HELD_DRAIN_MAX_BYTES = 64 * 1024;
/** Output of ended incarnations, and records of what the control plane has settled, stay in the log this long, then move to archives. Lifecycle, usage and budget records stay. */
export const RETENTION_DEFAULT_MS = 30 * 24 * 3_600_000;
/** A log over its bound (HOLDFAST_RETENTION_SIZE) is reduced to this part of it. Just below the bound, each hour would make an archive of a few lines. */
export const RETENTION_SIZE_PART = 0.9;
/** The smallest HOLDFAST_RETENTION_SIZE: even a log without output can be larger than less. */
export const RETENTION_SIZE_MIN_BYTES = 16 * 1024 * 1024;
/** The daemon looks for output to archive this often. */
export const GC_PERIOD_MS = 3_600_000;
/** Records that are removed in one transaction: a few milliseconds, so that the tick is not late. */
export const GC_SLICE_RECORDS = 200;
/** Pages that are given back in one transaction: a few milliseconds, so that the tick is not late. */
export const GC_SLICE_PAGES = 64;
/** Streams whose rows a rebuild corrects in one transaction. */
export const MEND_SLICE_STREAMS = 100;
/** Pause between two such transactions, so that other writers come first. */
export const GC_PAUSE_MS = 5;
/** Records of one archive. */
export const ARCHIVE_MAX_RECORDS = 100_000;
/** Text of one archive before it is compressed. */
export const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
/** Text that is compressed at once. */
export const ARCHIVE_CHUNK_CHARS = 1024 * 1024;
/** Pages of a deleted database that are written back in one turn of the event loop. */
export const WRITE_BACK_STEP_PAGES = 256;
/** Nesting of `data`. The contract counts its bytes with serde_json, which reads 127 levels; a record and its envelope need some of them. */
export const DATA_MAX_DEPTH = 100;
/** A known secret shorter than this is not searched for in output. */
export const KNOWN_SECRET_MIN_CHARS = 6;
/** The base64 or hex form of a known secret is not searched for if it is shorter than this. */
export const KNOWN_ENCODED_MIN_CHARS = 8;
/** After a secret's name, at most this many UTF-16 units are masked; a longer text is not a single value. */
export const SECRET_VALUE_MAX_UNITS = 65_536;

/** The runs are polled this often for changes that no file event reports, while there is work. */
export const RUN_POLL_MS = 250;
/** And this often while no run is urgent and the event loop has little to do: each poll wakes an idle daemon. */
export const RUN_POLL_QUIET_MS = 2_000;
/** Quiet runs that are checked in each RUN_POLL_MS, in turn. */
export const RUN_POLL_QUIET_RUNS = 2;
/** Quiet runs that one poll checks while file events may have been lost because a poll was late. */
export const RUN_POLL_SLICE_RUNS = 64;
/** A poll is late when it comes this long after its time. */
export const RUN_POLL_LATE_MS = 100;
/** The launcher of an adopted agent is not the daemon's child, so the daemon checks this often that it is alive. */
export const LAUNCHER_LOOK_MS = 2_000;
/** A start is checked this often between the agent's pid and its exec. */
export const EXEC_POLL_MS = 1;
/** A run that dies with its daemon waits this long for the next daemon. Whole seconds, because its helper is a shell. */
export const LIFELINE_RENEW_MS = 5_000;
/** The daemon looks for unknown runs at boot and this often: each look reads the environment of every process of the machine. */
export const ORPHAN_PERIOD_MS = 60_000;
/** An unknown run is looked at again after this before anything is done to it: longer than the recording of an end takes. */
export const ORPHAN_CONFIRM_MS = 5_000;
/** Records of the kernel's log that are read when a process was killed for memory. */
export const KERNEL_LOG_MAX_RECORDS = 20_000;
/** The kernel's period for cpu.max: the quota is a share of it. */
export const CPU_PERIOD_US = 100_000;
/** The largest `--pids`. The kernel's own bound is tighter on most machines. */
export const PIDS_MAX = 4_194_304;
/** The smallest `--cpu`. */
export const CPUS_MIN = 0.01;
/** The largest `--cpu`. */
export const CPUS_MAX = 8_192;
/** The smallest memory limit: less memory ends the launcher itself. */
export const MEMORY_LIMIT_MIN_BYTES = 8 * 1024 * 1024;
/** A launcher whose agent has left processes behind stays their parent this long, so that a sweep finds them. */
export const LAUNCHER_LINGER_MS = 60_000;
/** If a launcher has not named its agent within this, the agent is looked for in the process table. */
export const PID_FILE_WAIT_MS = 1_000;
/** A launcher that has written `exit` is gone within this, or the sweep looks for what keeps it. */
export const LAUNCHER_LEAVES_MS = 20;
/** After its agent's death, a launcher writes `exit` within this or is killed. */
export const LAUNCHER_END_MS = 5_000;
/** Bytes that are read of a small file in a run directory or state directory: an agent may have written anything there. */
export const SMALL_FILE_MAX_BYTES = 64 * 1024;
/** Findings about run directories that one daemon reports and records. After that it only leaves the files alone. */
export const RUN_FINDINGS_MAX = 10_000;
/** Bytes that are read of an agent's stdin file beyond those in the log: more than any message takes there. */
export const STDIN_READ_MAX_BYTES = 8 * 1024 * 1024;
/** Bytes that are read of a launch spec, or of a message that waits for its delivery. */
export const SPEC_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** The descendants of all runs are recorded this often, and before each signal. */
export const SNAPSHOT_PERIOD_MS = 5_000;
/** The longest period between two such records when there are many processes. */
export const SNAPSHOT_PERIOD_MAX_MS = 30_000;
/** With many processes, the descendants are recorded less often, so that at most this many processes are read in a second. */
export const SNAPSHOT_READS_PER_S = 250;
/** A scan of the process table yields after this. */
export const SCAN_SLICE_MS = 5;
/** Ancestors of a process that are searched for its run. A process with more ancestors counts as belonging to no known run. */
export const LINEAGE_MAX = 256;
/** A program that makes a connection for each request is looked up again after this time. */
export const ORIGIN_KEPT_MS = 5_000;
/** Processes whose origin is remembered. */
export const ORIGINS_KEPT_MAX = 64;
/** The start of a process and the time of its connection come from two clocks, which may disagree by this. */
export const STAT_CLOCK_SLACK_S = 5;
/** The marker of the run that a client is part of: store, worker and incarnation. */
export const RUN_MARKER_MAX_CHARS = 256;
/** Agents that the refusal of an empty log names; further ones are only counted. */
export const LOST_RUNS_NAMED_MAX = 5;
/** How often a kill of all looks for workers that were started during its last round. */
export const KILL_ALL_ROUNDS_MAX = 32;
/** Workers and trees that one request kills, pauses or restarts at the same time: their graces pass together. */
export const REFS_AT_ONCE_MAX = 1_024;
/** Launch specs of one file that are written at the same time: their waits for the disk pass together. */
export const SPEC_WRITES_MAX = 16;
/** Children of one supervisor without an order that are launched at the same time. */
export const TREE_STARTS_MAX = 64;
/** Children of one supervisor without an order that are stopped at the same time; their graces pass together. */
export const TREE_STOPS_MAX = 256;
/** Trees, and then workers of `agent spawn`, that a stopping daemon stops at the same time; their graces pass together. */
export const SHUTDOWN_STOPS_MAX = 256;
/** A process that the sweep has killed must be gone within this, or it is reported as a survivor. */
export const SWEEP_KILL_WAIT_MS = 1_000;
/** The `#!` line of a program: the kernel's BINPRM_BUF_SIZE. */
export const SHEBANG_MAX_BYTES = 256;
/** A secret that is read from `@file:PATH`. */
export const SECRET_MAX_BYTES = 65_536;
/** The longest `--tail` of `agent watch` and `agent logs`. */
export const TAIL_MAX_RECORDS = 100_000;
/** One slice of a raw spool over the socket. */
export const RAW_SLICE_BYTES = 262_144;
/** `agent logs --raw -f` checks the end of the spool this often. */
export const RAW_POLL_MS = 200;
/** Raw bytes go into a reply as base64, as many as fit. This many bytes of the reply stay free for its other fields. */
export const RAW_REPLY_REST_BYTES = 1_024;
/** Raw bytes that a reply carries even if they do not fit. */
export const RAW_INLINE_MIN_BYTES = 768;
/** Raw bytes that `-o json` puts into its one envelope. */
export const RAW_ENVELOPE_MAX_BYTES = 1024 * 1024;
/** Types of records, or kinds of events, that one watch names: more than there are. */
export const WATCH_TYPES_MAX = 256;
/** Hosts with a name in `hosts:` of config.yaml, and hosts of one call. */
export const HOSTS_MAX = 64;
/** Characters of the name of a host in `hosts:` of config.yaml. */
export const HOST_NAME_MAX_CHARS = 64;
/** A client waits this long for the first answer of another host. ssh may ask a person for a password meanwhile. */
export const HOST_ANSWER_MAX_MS = 60_000;
/** Characters that are kept of the words on stderr of the program that reaches a host. */
export const HOST_SAID_MAX_CHARS = 4_096;
/** A client whose connection to another host broke tries for this long: a laptop sleeps, a network is down. */
export const HOST_AGAIN_WAIT_MS = 60 * 60_000;
/** The pause between two tries to reach a host again. */
export const HOST_AGAIN_POLL_MS = 1_000;
/** A client whose daemon restarts waits this long for the next daemon. A restart takes seconds. */
export const NEXT_DAEMON_WAIT_MS = 30_000;
/** A client that waits for the next daemon checks this often. */
export const NEXT_DAEMON_POLL_MS = 200;
/** `agent up` and `agent down` check the state of the tree this often. */
export const TREE_POLL_MS = 100;

/** protocol-v1.txt, Artifactization: data larger than this moves to an artifact. */
export const INLINE_MAX_BYTES = 32 * 1024;
/** protocol-v1.txt, Security invariants: larger data is refused. */
export const CAPTURE_MAX_BYTES = 1024 * 1024;
/** protocol-v1.txt, Preview bounds: "under 1KB", as JSON. */
export const PREVIEW_MAX_BYTES = 1_000;
/** Keys that a preview names. */
export const PREVIEW_KEYS_MAX = 16;
/** One text or key in a preview. */
export const PREVIEW_TEXT_MAX_BYTES = 96;
/** One artifact. It is read whole to be verified. */
export const CAS_OBJECT_MAX_BYTES = 64 * 1024 * 1024;
/** All artifacts of a state directory, so that they do not fill the disk of the log. */
export const CAS_MAX_BYTES = 4 * 1024 ** 3;
/** Artifacts of a state directory. */
export const CAS_OBJECTS_MAX = 20_000;
/** Replies are stored as artifacts only up to this total. The rest is for final answers, which nobody can request again. */
export const CAS_REPLIES_MAX_BYTES = 2 * 1024 ** 3;
/** Replies are stored as artifacts only up to this total number. */
export const CAS_REPLIES_OBJECTS_MAX = 10_000;
/** The daemon counts the artifacts again after this, because other processes also store some. When the store is full, it tries to make room this often. */
export const CAS_COUNTED_AGAIN_MS = 10 * 60_000;
/** An artifact that no record names is kept this long after it was stored (protocol-v1 notes 1.1). */
export const CAS_KEPT_MS = 30 * 24 * 3_600_000;
/** No artifact is removed before this, whatever a user asks: the record that names it may wait for a full disk. */
export const CAS_FRESH_MS = 3_600_000;
/** One envelope or line that a validator reads: more than the 1,024 KB of CAPTURE_MAX_BYTES, and than our largest answer. */
export const ENVELOPE_MAX_BYTES = 4 * 1024 * 1024;
/** Nesting of an envelope that is validated: as of a request. */
export const ENVELOPE_MAX_DEPTH = 128;
/** Findings that a validator keeps; further ones are only counted. */
export const FINDINGS_MAX = 100;
/** A validator reports line numbers of members down to this depth. A deeper member gets the line of its ancestor at this depth. */
export const LINES_KNOWN_DEPTH = 3;
/** In test mode: the newest answered request ids that a connection remembers, to detect a second answer. */
export const ANSWERED_IDS_MAX = 10_000;
/** protocol-v1.txt, Preview bounds: a preview is smaller than this. */
export const PREVIEW_UNDER_BYTES = 1024;
/** A command that has printed nothing for this long prints a heartbeat (response-envelope notes B.3, F-053). */
export const PRINTED_HEARTBEAT_MS = 10_000;
/** Workers in one page of `agent list` without `--limit`: some megabytes of JSON. */
export const LIST_PAGE_MAX_WORKERS = 5_000;
/** The summary in the manifest of a skill, its hosts, its secrets, and the arguments of its program. */
export const SKILL_SUMMARY_MAX_CHARS = 1_024;
export const SKILL_HOSTS_MAX = 32;
export const SKILL_SECRETS_MAX = 32;
export const SKILL_ARGS_MAX = 64;
/** A `skill.yaml` or SKILL.md. */
export const SKILL_FILE_MAX_BYTES = 65_536;
/** Skills in one directory; further ones are ignored. */
export const SKILL_FOLDERS_MAX = 256;
/** Directories of skills in one `config.yaml`, and names in the list of a profile. */
export const SKILL_DIRECTORIES_MAX = 16;
export const SKILL_LIST_MAX = 256;
/** The time limit of one run of a skill: the default and the longest. */
export const SKILL_TIMEOUT_DEFAULT_MS = 60_000;
export const SKILL_TIMEOUT_MAX_MS = 3_600_000;
/** The time between TERM and KILL for a skill. */
export const SKILL_GRACE_MS = 1_000;
/** The data segment of each process of a skill: the default and the most. */
export const SKILL_MEMORY_DEFAULT_MB = 1_024;
export const SKILL_MEMORY_MAX_MB = 65_536;
/** The memory that the process of a WebAssembly module takes for itself, beside the module's own. */
export const WASI_OWN_MB = 1_024;
/** Processes and threads of a run. The kernel does not count those of root, unless a cgroup is delegated. */
export const SKILL_PROCESSES_MAX = 128;
/** The largest file that a skill can write, including its stdout. */
export const SKILL_WRITE_MAX_BYTES = 16 * 1024 * 1024;
/** The reference to the image of a skill. */
export const SKILL_IMAGE_MAX_CHARS = 512;
/** The private /tmp of a container, whose memory counts as the run's. */
export const CONTAINER_TMP_MAX_BYTES = 64 * 1024 * 1024;
/** Open files of a process in a container. */
export const CONTAINER_FILES_MAX = 1_024;
/** Processes of a container by its ulimit, which counts those of other containers too: the cgroup's bound is the one that holds. podman's own default is more than some machines give. */
export const CONTAINER_ULIMIT_PROCESSES = 4_096;
/** One call of podman that looks or removes. */
export const PODMAN_CALL_MAX_MS = 10_000;
/** podman fails once where somebody else has ended the container's own watcher. */
export const CONTAINER_REMOVE_TRIES = 3;
/** Output of one call of podman. */
export const PODMAN_OUTPUT_MAX_BYTES = 1024 * 1024;
/** Output of a run, including logs on stderr. A run that prints more is stopped. */
export const SKILL_PRINTED_MAX_BYTES = 4 * 1024 * 1024;
/** The proxy of one run of a skill: connections in all, and at a time. */
export const PROXY_CONNECTIONS_MAX = 1_024;
export const PROXY_AT_ONCE_MAX = 64;
/** Bytes of a run through its proxy, both ways together. */
export const PROXY_RUN_MAX_BYTES = 256 * 1024 * 1024;
/** The head of a request to the proxy, and the time until it is whole. */
export const PROXY_HEAD_MAX_BYTES = 16 * 1024;
export const PROXY_HEAD_MS = 10_000;
/** The host of a request to the proxy, which is recorded: no name is longer. */
export const PROXY_HOST_MAX_CHARS = 255;
/** The longest wait for a name, and for one address. */
export const PROXY_CONNECT_MS = 10_000;
/** A connection of the proxy on which nothing moves is ended. */
export const PROXY_IDLE_MS = 60_000;
/** protocol-v1.txt, ESKILLDOWN, with the figures of the notes: failures in a row, the pause after them, trial runs at a time, and successes that end it. */
export const BREAKER_FAILURES_MAX = 5;
export const BREAKER_DOWN_MS = 30_000;
export const BREAKER_PROBES_MAX = 3;
export const BREAKER_RECOVERIES = 2;
/** Idempotency keys whose first answers a daemon keeps in memory: a day of one request every ten seconds. */
export const IDEMPOTENCY_KEYS_MAX = 10_000;
/** A program's connection to a daemon has at most this many requests in flight; the next one makes another connection. */
export const REMOTE_REQUESTS_MAX = 200;
/** Items of a daemon's stream that wait for a slow reader; beyond them the socket is not read. */
export const REMOTE_BUFFER_MAX_ITEMS = 256;
/** How long `close` of the library lets watches read to the end of the log. */
export const WATCHES_DRAIN_MAX_MS = 1_000;
/** The oldest Node that everything here runs on: major, minor. `bin/agent` has a copy, because it checks the version before it loads anything. */
export const NODE_MIN = [22, 19] as const;
/** The step by which `openForTest` advances its clock. */
export const TEST_CLOCK_STEP_MS = 1_000;
/** A runtime of `openForTest` is at rest after this many turns of the event loop without a file request. */
export const TEST_QUIET_TURNS = 60;
/** The most turns of the event loop that `openForTest` waits for rest. */
export const TEST_SETTLE_TURNS_MAX = 20_000;
/** How long `open` of the library waits until the ends of runs that ended while it was closed are recorded: their output is read first. */
export const OPEN_SETTLE_MAX_MS = 10_000;

/** A path in the input of a skill: PATH_MAX of Linux. */
export const SKILL_PATH_MAX_BYTES = 4_096;
/** Links on one path that a skill follows: MAXSYMLINKS of Linux. */
export const LINKS_OF_PATH_MAX = 40;
/** Entries of one directory that a skill reads. */
export const DIRECTORY_NAMES_MAX = 100_000;
/** Nested directories that fs/ls and text/grep enter. */
export const SKILL_DEPTH_MAX = 32;
/** Entries in one answer of fs/ls: the most, and the default, about 16 KB, half of INLINE_MAX_BYTES. */
export const LS_ENTRIES_MAX = 2_000;
export const LS_ENTRIES_DEFAULT = 80;
/** Bytes that one fs/read returns: the most, and the default, half of INLINE_MAX_BYTES. */
export const READ_BYTES_MAX = 512 * 1024;
export const READ_BYTES_DEFAULT = 16 * 1024;
/** UTF-16 units of a pattern of text/grep. */
export const GREP_PATTERN_MAX_UNITS = 1_000;
/** Steps in the compiled program of a pattern from outside: at this size, 64 KB of text take a few seconds at worst. */
export const PATTERN_PROGRAM_MAX = 1_000;
/** UTF-16 units at the beginning of a line that text/grep searches. */
export const GREP_SEARCHED_MAX_UNITS = 65_536;
/** Matching lines in one answer of text/grep: the most and the default. */
export const GREP_MATCHES_MAX = 2_000;
export const GREP_MATCHES_DEFAULT = 100;
/** UTF-16 units of a matching line that an answer shows. */
export const GREP_LINE_MAX_UNITS = 200;
/** text/grep skips larger files. */
export const GREP_FILE_MAX_BYTES = 4 * 1024 * 1024;
/** Files that one text/grep searches, and their bytes. */
export const GREP_FILES_MAX = 50_000;
export const GREP_TOTAL_MAX_BYTES = 256 * 1024 * 1024;
/** Files that text/grep names as those with the most matches. */
export const GREP_TOP_FILES_MAX = 10;
/** Items of a todo list, and UTF-16 units of the text of one. */
export const TODO_ITEMS_MAX = 500;
export const TODO_TEXT_MAX_UNITS = 1_000;
/** The file of a todo list: more than its items can fill. */
export const TODO_FILE_MAX_BYTES = 4 * 1024 * 1024;
/** A change of a todo list that meets another change starts over: the most attempts, and the longest wait between them. */
export const TODO_TRIES_MAX = 200;
export const TODO_TRY_EVERY_MS = 20;
/** The number of a version of a todo list stays taken this long after the next version, far longer than any writer waits. */
export const TODO_NAME_KEPT_MS = 60 * 60 * 1000;
/** An OpenAPI document, its values, and their nesting. */
export const OPENAPI_DOCUMENT_MAX_BYTES = 16 * 1024 * 1024;
export const OPENAPI_VALUES_MAX = 2_000_000;
export const OPENAPI_DEPTH_MAX = 128;
/** References in a chain in an OpenAPI document. */
export const OPENAPI_REFERENCES_MAX = 32;
/** Aliases in a YAML document, as its parser counts them: more could turn a small text into a large value. */
export const YAML_ALIASES_MAX = 100;
/** Operations that an error lists if the wanted one does not exist. */
export const OPERATIONS_TOLD_MAX = 50;
/** Mistakes of one value that an error lists. */
export const SCHEMA_PROBLEMS_MAX = 20;
/** UTF-16 units of a name in the input of a skill: of a secret, a header, a user, a prefix. */
export const SKILL_NAME_MAX_UNITS = 256;
/** The time limit of one request of http/openapi: the default and the longest. */
export const HTTP_TIMEOUT_DEFAULT_MS = 30_000;
export const HTTP_TIMEOUT_MAX_MS = 600_000;
/** One answer to http/openapi, and all pages of a list together. */
export const HTTP_ANSWER_MAX_BYTES = 8 * 1024 * 1024;
export const HTTP_PAGES_MAX_BYTES = 32 * 1024 * 1024;
/** A file of the workspace that http/openapi sends. */
export const HTTP_FILE_MAX_BYTES = 8 * 1024 * 1024;
/** Redirects in a row that http/openapi follows. */
export const HTTP_REDIRECTS_MAX = 5;
/** Attempts for one idempotent request, and the longest wait between them that a server may ask for. */
export const HTTP_TRIES_MAX = 3;
export const HTTP_RETRY_AFTER_MAX_S = 30;
/** The beginning of an answer with an error status that an error shows. */
export const HTTP_ERROR_TEXT_MAX_BYTES = 1_024;
/** Headers of an answer that the output shows, and the bytes of each. */
export const HTTP_HEADERS_TOLD_MAX = 32;
export const HTTP_HEADER_TOLD_MAX_BYTES = 256;
/** Further origins that one call allows. */
export const ALLOWED_ORIGINS_MAX = 16;
/** Pages and items of a list that http/openapi takes: each with the default and the most. */
export const PAGES_DEFAULT = 10;
export const PAGES_MAX = 1_000;
export const PAGE_ITEMS_DEFAULT = 1_000;
export const PAGE_ITEMS_MAX = 100_000;
/** UTF-16 units of the name of a parameter, or of the path of a field, that pagination uses. */
export const PAGE_FIELD_MAX_UNITS = 256;
/** Answers of the model in one turn of the engine: the default and the most. */
export const ENGINE_STEPS_DEFAULT = 50;
export const ENGINE_STEPS_MAX = 1_000;
/** Tries of the engine for one answer of the model, the default and the most, and the waits between them. */
export const ENGINE_TRIES_DEFAULT = 6;
export const ENGINE_TRIES_MAX = 20;
export const ENGINE_RETRY_MIN_MS = 500;
export const ENGINE_RETRY_MAX_MS = 30_000;
/** A provider that asks for a longer wait ends the turn; the runtime then waits for its limit. */
export const ENGINE_RETRY_AFTER_MAX_MS = 60_000;
/** Corrections that the engine asks for if an answer does not match its schema. */
export const ENGINE_CORRECTIONS_MAX = 1;
/** Bytes of JSON of one output of a tool that the model gets; a longer one is cut. */
export const ENGINE_OUTPUT_MAX_BYTES = 64 * 1024;
/** Calls of one answer that the engine runs at a time. */
export const ENGINE_CALLS_AT_ONCE_MAX = 8;
/** Tokens of a summary of a conversation, and bytes of each output of a tool that it is made from. */
export const ENGINE_SUMMARIZED_OUTPUT_MAX_BYTES = 4_096;
export const ENGINE_SUMMARY_MAX_TOKENS = 4_096;
/** The time for one call of a tool. */
export const ENGINE_TOOL_MAX_MS = 600_000;
/** Ids of messages that a conversation remembers, to recognise one that is given again. */
export const ENGINE_TAKEN_MAX = 256;
/** Tokens of a conversation from which on it is compacted: the default, the least and the most. */
export const ENGINE_CONTEXT_DEFAULT_TOKENS = 150_000;
export const ENGINE_CONTEXT_MIN_TOKENS = 1_000;
export const ENGINE_CONTEXT_MAX_TOKENS = 10_000_000;
/** The newest messages of a conversation that a compaction leaves as they are. */
export const ENGINE_KEPT_MESSAGES = 8;
/** A journal of a session that is longer is not opened. */
export const ENGINE_JOURNAL_MAX_BYTES = 256 * 1024 * 1024;
/** Providers of models in one `config.yaml`, and the length of an address. */
export const PROVIDERS_MAX = 64;
export const PROVIDER_URL_MAX_CHARS = 2_048;
/** The text, the reasoning and the calls of one answer of a model, and the bytes of its stream on the wire, whose framing is several times as long. */
export const MODEL_ANSWER_MAX_BYTES = 16 * 1024 * 1024;
export const MODEL_WIRE_MAX_BYTES = 128 * 1024 * 1024;
/** Tool calls of one answer of a model. */
export const MODEL_CALLS_MAX = 128;
/** A provider that sends nothing for this long, not even a ping, has failed. */
export const MODEL_SILENCE_MAX_MS = 5 * 60_000;
/** The longest wait that a provider may ask for with retry-after. */
export const PROVIDER_RETRY_AFTER_MAX_MS = 24 * 3_600_000;
/** A skill that a model calls waits this long for a daemon that is just replaced. */
export const SKILL_DAEMON_WAIT_MS = 10_000;
/** Tools of one agent, which every provider takes. */
export const ENGINE_TOOLS_MAX = 128;
/** Workers of kind llm whose models the doctor looks at. */
export const DOCTOR_MODELS_MAX = 64;
/** MCP servers in one `config.yaml`, and of one agent; the words of a server's program; tools of one server, and pages of its list. */
export const MCP_SERVERS_MAX = 64;
export const MCP_SERVERS_OF_AGENT_MAX = 16;
export const MCP_ARGS_MAX = 64;
/** The MCP servers of one worker's spec, as JSON: they stand in one argument of some CLIs. */
export const MCP_SPAWN_MAX_BYTES = 64 * 1024;
/** The file that --mcp names: settings of another program may stand in it too. */
export const MCP_FILE_MAX_BYTES = 1024 * 1024;
export const MCP_TOOLS_MAX = 256;
export const MCP_PAGES_MAX = 16;
/** A tool of an MCP server: its description, which is cut, and its JSON Schema as JSON, without which it is not offered. */
export const MCP_DESCRIPTION_MAX_BYTES = 4_096;
export const MCP_SCHEMA_MAX_BYTES = 32 * 1024;
/** One message of an MCP server, and all bytes of one answer by HTTP. A server that sends more is ended. */
export const MCP_MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
/** An MCP server connects and lists its tools within this, and ends a call within this. */
export const MCP_CONNECT_MAX_MS = 30_000;
export const MCP_CALL_MAX_MS = 10 * 60_000;
/** An MCP server that has ended is started again for a call, this often in one run. */
export const MCP_RESTARTS_MAX = 3;

/** `agent mcp serve`: one answer as JSON; one text in it, which is cut, but for the answer of an agent; a result is asked for again in parts. */
export const MCP_SERVED_MAX_BYTES = 64 * 1024;
export const MCP_SERVED_TEXT_MAX_BYTES = 4_096;
export const MCP_SERVED_OUTPUT_MAX_BYTES = 24 * 1024;
/** Records of one call of `events`, and workers of one call of `list` if it names no limit. */
export const MCP_SERVED_RECORDS_MAX = 200;
export const MCP_SERVED_WORKERS = 20;
/** A call waits this long before it answers `pending`: clients end a call after 60 s. */
export const MCP_SERVED_WAIT_MS = 45_000;
export const MCP_SERVED_WAIT_MAX_MS = 60 * 60_000;
/** Between two looks for the reply of a person. */
export const MCP_SERVED_LOOK_MS = 1_000;
/** `agent mcp serve` and `agent acp`: a request is sent again to the next daemon, this often, if a daemon goes away. */
export const SERVED_TRIES_MAX = 5;
/** `agent acp`: sessions of one list; how long the end of a turn waits for the records before it; how often a daemon that was stopped is looked for. */
export const ACP_SESSIONS_MAX = 50;
export const ACP_CATCH_UP_MAX_MS = 5_000;
export const ACP_DAEMON_LOOK_MS = 1_000;

// The dashboard
/** How long the token of an address of `agent dashboard` holds if nothing else is asked for. */
export const DASHBOARD_TOKEN_MS = 12 * 3_600_000;
/** The wait before an answer that is shown is asked for again: a multiple of the time that it took, within bounds. */
export const WEB_REFRESH_SHARE = 20;
export const WEB_REFRESH_MIN_MS = 300;
export const WEB_REFRESH_MAX_MS = 10_000;
/** An answer of which nothing is heard is asked for again, because deadlines pass without a record. */
export const WEB_REFRESH_IDLE_MS = 30_000;
/** The wait of a page before it tries to reach a daemon that it has lost. */
export const WEB_RECONNECT_MS = 1_000;
/** How often the page over all hosts asks each of them: a browser has too few connections for a stream of each. */
export const WEB_HOSTS_LOOK_MS = 2_000;
/** A stream without even a comment is taken for dead. */
export const WEB_SILENCE_MAX_MS = 45_000;
/** How often a page shows what has come meanwhile. */
export const WEB_FRAME_MS = 250;
/** Rows that are drawn above and below those that are seen. */
export const WEB_OVERSCAN_ROWS = 8;
/** Records of one worker that a page keeps; older ones are asked for with the command that it shows. */
export const WEB_RECORDS_MAX = 5_000;
/** The newest records of one worker that a page asks for, and the newest that are not output. */
export const WEB_RECORDS_ASKED = 2_000;
/** Bars of one lane of a timeline. */
export const WEB_BARS_MAX = 400;
/** Workers that a page lists; the newest ones. */
export const WEB_WORKERS_MAX = 5_000;
/** Bytes of an answer that a page shows. */
export const WEB_OUTPUT_MAX_BYTES = 512 * 1024;

// HTTP of the daemon
/** The port if only `--http` is given. */
export const API_PORT_DEFAULT = 7433;
/** Request line and headers of one request. */
export const API_HEAD_MAX_BYTES = 16 * 1024;
/** From the first byte of a request to the last one of its headers, and of its body. */
export const API_HEAD_MAX_MS = 10_000;
export const API_REQUEST_MAX_MS = 30_000;
/** How often overdue requests are looked for. */
export const API_OVERDUE_LOOK_MS = 1_000;
/** How long a connection without a request stays open. */
export const API_KEEP_ALIVE_MS = 30_000;
/** How long a client may take nothing of what it asked for. */
export const API_STALLED_MAX_MS = 30_000;
/** A comment of an event stream, so that a proxy does not take a quiet one for dead. */
export const API_COMMENT_MS = 15_000;
/** The wait that an event stream asks of a client that lost it. */
export const API_RETRY_MS = 2_000;
/** Open connections; each needs a descriptor. */
export const API_CONNECTIONS_MAX = 12_000;
/** Open connections to the dashboard over hosts: those of a person's browsers. */
export const DASHBOARD_CONNECTIONS_MAX = 64;
/** Connections of one client to a daemon over HTTP; more requests wait for a free one. */
export const HTTP_CONNECTIONS_MAX = 256;
/** How long a client that was refused may go on sending before it is cut off. */
export const API_LINGER_MS = 1_000;
/** Names in `http.hosts`. */
export const HTTP_HOSTS_MAX = 64;
/** Parameters of one query. */
export const API_PARAMETERS_MAX = 256;
/** URLs of right GET requests whose meaning is kept, because programs ask the same again and again; and the longest of them. */
export const API_URLS_KEPT_MAX = 256;
export const API_URL_KEPT_MAX_CHARS = 512;
/** Refusals that daemon.log tells in a period; the others are counted. */
export const API_REFUSALS_TOLD_MAX = 10;
export const API_REFUSALS_PERIOD_MS = 60_000;
/** Looks at a process that shows no words of its command line, and the pause between them: it begins a program, or ends. */
export const WORDLESS_LOOKS_MAX = 50;
export const WORDLESS_LOOK_PAUSE_MS = 2;
/** Ended runs of the engine inside a program that its runtime remembers, with their output. */
export const ENGINE_ENDED_RUNS_MAX = 64;
/** An MCP server that a check starts comes up and lists its tools within this, and the whole check ends within that. */
export const ENGINE_CHECK_SERVER_MS = 5_000;
export const ENGINE_CHECK_MS = 15_000;

/** Texts of a conversation that `agent attach` shows of what was said before. */
export const ATTACH_TAIL_TEXTS = 200;

// Notifications
/** Targets in `notifications:` of config.yaml. */
export const NOTIFY_TARGETS_MAX = 16;
/** Other hosts whose news one daemon tells. Each takes two links: one for its records, one for questions about them. */
export const NOTIFY_HOSTS_MAX = 16;
/** Between two tries to reach one of them: the second comes after the first figure, and each further one later. */
export const NOTIFY_HOST_AGAIN_MIN_MS = 1_000;
export const NOTIFY_HOST_AGAIN_MAX_MS = 60_000;
/** Names in `under` of a target. */
export const NOTIFY_FILTERS_MAX = 64;
/** The program of a target and its arguments. */
export const NOTIFY_COMMAND_WORDS_MAX = 64;
/** The wait of a target without `debounce`: an answer that comes at once is not told of. */
export const NOTIFY_DEBOUNCE_MS = 500;
export const NOTIFY_DEBOUNCE_MAX_MS = 3_600_000;
/** Notifications that wait to be sent; while there are as many, nothing more is read from the log. */
export const NOTIFY_PENDING_MAX = 512;
/** Sendings at a time, of all targets. A target gets one at a time. */
export const NOTIFY_SENDINGS_MAX = 8;
/** Questions of several logs that are one, of which a daemon remembers which it tells; an older one it may tell again. */
export const NOTIFY_SHARED_MAX = 1_000;
/** Between two looks whether another one has told of such a question, and the time that it has for it. */
export const NOTIFY_SHARED_LOOK_MS = 2_000;
export const NOTIFY_SHARED_WAIT_MS = 60_000;
/** Attempts at one notification. */
export const NOTIFY_ATTEMPTS_MAX = 16;
/** Between two attempts: the second comes after the first figure, and each further one later. */
export const NOTIFY_RETRY_MIN_MS = 1_000;
export const NOTIFY_RETRY_MAX_MS = 600_000;
/** An attempt that takes longer has failed. */
export const NOTIFY_SEND_MAX_MS = 10_000;
/** Bytes of a server's answer, or of a program's output, that are read. */
export const NOTIFY_ANSWER_MAX_BYTES = 64 * 1024;
/** Characters of a title, and of a text. */
export const NOTIFY_TITLE_MAX_CHARS = 120;
export const NOTIFY_TEXT_MAX_CHARS = 1_000;
/** Characters of the reason why a sending failed. */
export const NOTIFY_REASON_MAX_CHARS = 300;
/** Notifications that could not be sent, as `agent notify list` shows them; the newest are kept. */
export const NOTIFY_DEAD_MAX = 100;
/** Links that answer a question, and how long each does. The oldest go first. */
export const NOTIFY_LINKS_MAX = 2_048;
export const NOTIFY_LINK_MS = 86_400_000;
/** Random bytes of a link. */
export const NOTIFY_LINK_BYTES = 32;
/** How often the daemon's own health is looked at, and quiet hours that a clock change may have shortened. */
export const NOTIFY_LOOK_MS = 5_000;
/** Before the log is read again after it could not be. */
export const NOTIFY_REREAD_MS = 1_000;
/** Bytes of the file with what waits to be sent. */
export const NOTIFY_FILE_MAX_BYTES = 8 * 1024 * 1024;
/** A rotation of an identity that has not ended within this time has died. */
export const IDENTITY_ROTATION_MAX_MS = 10_000;

// Weblisk
/** weblisk.txt, Transport Rules: the body of a request, and that of a task, as received. MB is binary. */
export const WEBLISK_BODY_MAX_BYTES = 1024 * 1024;
export const WEBLISK_TASK_BODY_MAX_BYTES = 10 * 1024 * 1024;
/** The body of a request for a channel. */
export const WEBLISK_CHANNEL_BODY_MAX_BYTES = 64 * 1024;
/** Levels of a JSON body: 64 are read, 65 refused. */
export const WEBLISK_DEPTH_MAX = 64;
/** Objects, lists and members of one body. */
export const WEBLISK_VALUES_MAX = 200_000;
/** Strings of the wire: an identifier, a description or a message of an error, a URL. */
export const WEBLISK_NAME_MAX_CHARS = 128;
export const WEBLISK_TEXT_MAX_CHARS = 1_024;
export const WEBLISK_URL_MAX_CHARS = 2_048;
/** A path on the machine that runs a task. */
export const WEBLISK_PATH_MAX_CHARS = 4_096;
/** A key or a signature as text; the longest, of ML-DSA-65, has 4,412. */
export const WEBLISK_PROOF_MAX_CHARS = 8_192;
/** Recommendations that one request accepts or rejects. */
export const WEBLISK_DECIDED_MAX = 100;
/** The place of the member that a refusal names; more is cut. */
export const WEBLISK_PLACE_MAX_CHARS = 200;
/** A WLT with the longest signature is shorter than this. */
export const WEBLISK_TOKEN_MAX_CHARS = 16_384;
/** weblisk.txt, Token Lifetimes: of an agent, of a channel, of a federated hub. */
export const WEBLISK_AGENT_TOKEN_S = 86_400;
export const WEBLISK_CHANNEL_TOKEN_S = 3_600;
export const WEBLISK_FEDERATION_TOKEN_S = 259_200;
/** A token may be issued so far in the future, for clocks that differ. Its end has no such leeway. */
export const WEBLISK_ISSUED_LEEWAY_S = 60;
/** weblisk.txt, Replay Protection: a timestamp may be so far from now, and no further. */
export const WEBLISK_REPLAY_WINDOW_S = 300;
/** An id that must come once is remembered for as long as a request with it could pass the window: before and after now. */
export const WEBLISK_SEEN_S = 600;
/** Ids that are remembered at a time; while there are as many, further ones are refused. Those that are over are looked for so often. */
export const WEBLISK_SEEN_MAX = 20_000;
export const WEBLISK_SEEN_TIDY_MS = 60_000;
/** Seconds after which a server that remembers as many is worth another try. */
export const WEBLISK_SEEN_RETRY_S = 60;
/** X-Request-Ids that a server remembers for the replay window, and those of one agent among them. */
export const WEBLISK_REQUEST_IDS_MAX = 20_000;
export const WEBLISK_AGENT_REQUEST_IDS_MAX = 2_000;
/** Bytes of an answer that is kept for the repeat of its request. */
export const WEBLISK_KEPT_ANSWER_MAX_BYTES = 32 * 1024;
/** The port of an orchestrator. */
export const WEBLISK_PORT_DEFAULT = 9_800;
/** Requests of the operator in a minute (weblisk notes 2.4): reads, and changes. */
export const WEBLISK_ADMIN_READS_MAX = 60;
export const WEBLISK_ADMIN_WRITES_MAX = 20;
/** Random bytes of the operator's token. */
export const WEBLISK_ADMIN_TOKEN_BYTES = 32;
/** Bytes of a file of the server: an agent, a grant, the signed result of a task. */
export const WEBLISK_FILE_MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of an agent's answer in the result of a task; the rest stays in the log. */
export const WEBLISK_RESULT_TEXT_MAX_BYTES = 256 * 1024;
/** A signed result is kept for so long after it was made; files that are older are looked for so often. */
export const WEBLISK_RESULT_KEEP_MS = 30 * 86_400_000;
export const WEBLISK_RESULT_TIDY_MS = 3_600_000;
/** Agents that are registered at a time; ones whose tokens have expired and that have no rights make room. */
export const WEBLISK_AGENTS_MAX = 1_000;
/** Channels that are open at a time. */
export const WEBLISK_CHANNELS_MAX = 1_000;
/** A request that waits for the end of its task answers after this; the task goes on. */
export const WEBLISK_TASK_WAIT_MAX_MS = 300_000;
/** The deadline of a task may be so far away. */
export const WEBLISK_DEADLINE_MAX_MS = 7 * 86_400_000;
/** A request that ends a task waits so long for its end. */
export const WEBLISK_CANCEL_WAIT_MS = 10_000;
/** The window in which requests are counted, and how many it has room for: tasks of an agent and of all, looks of an agent at its tasks, registrations. */
export const WEBLISK_RATE_WINDOW_MS = 60_000;
export const WEBLISK_AGENT_LOOKS_MAX = 300;
export const WEBLISK_AGENT_TASKS_MAX = 60;
export const WEBLISK_TASKS_MAX = 200;
export const WEBLISK_REGISTRATIONS_MAX = 60;
/** Names whose requests are counted; those heard of longest ago go first. */
export const WEBLISK_RATE_NAMES_MAX = 1_000;
/** Tasks that an agent works on at once, where the command says nothing else. */
export const WEBLISK_CONCURRENT_DEFAULT = 2;
/** A task for an agent elsewhere: one request to it ends after this, and one whose sender does not wait is looked at for so long. */
export const WEBLISK_FORWARD_MAX_MS = 3_600_000;
export const WEBLISK_FORWARD_SOON_MS = 1_000;
/** Requests to agents elsewhere that go on at once. */
export const WEBLISK_FORWARDS_MAX = 64;
/** The id of such a task is known for so long: longer than its result, so that a repeat is told that it is gone. */
export const WEBLISK_FORWARD_KEEP_MS = 60 * 86_400_000;
/** Random bytes that are asked of the system at once, for ids. */
export const RANDOM_POOL_BYTES = 4_096;
/** Approvals that one answer tells: the oldest. */
export const WEBLISK_APPROVALS_MAX = 100;
/** Workers of a sender's tasks that one event reaches. */
export const WEBLISK_EVENT_WORKERS_MAX = 64;
/** Bytes of an event as JSON, as a mailbox takes it. */
export const WEBLISK_EVENT_MAX_BYTES = 30 * 1024;
/** Events, decisions, and looks into the trail of one agent in a minute, each counted alone. */
export const WEBLISK_EVENTS_MAX = 60;
export const WEBLISK_DECISIONS_MAX = 60;
export const WEBLISK_TRAIL_LOOKS_MAX = 60;
/** Entries of the trail in one answer. */
export const WEBLISK_TRAIL_PAGE_MAX = 100;
/** A server asks whether its daemon is there at most so often, and waits so long for an answer. */
export const WEBLISK_HEALTH_FRESH_MS = 1_000;
export const WEBLISK_HEALTH_WAIT_MS = 2_000;
/** Seconds after which an agent whose places are taken is worth another try. */
export const WEBLISK_BUSY_RETRY_S = 5;
/** Connections of a server, the bytes of a request's head, and the time for the head and for the whole request. */
export const WEBLISK_CONNECTIONS_MAX = 256;
export const WEBLISK_HEAD_MAX_BYTES = 32 * 1024;
export const WEBLISK_HEAD_MAX_MS = 10_000;
export const WEBLISK_REQUEST_MAX_MS = 30_000;
/** Bodies of a listener's requests that have no answer yet, together. */
export const WEBLISK_BODIES_MAX_BYTES = 128 * 1024 * 1024;
/** HTTP/2: streams of a connection at a time, fields of a head, and resets by its client: so many at once, and so many a second for long. */
export const WEBLISK_STREAMS_MAX = 32;
export const WEBLISK_HEAD_FIELDS_MAX = 128;
export const WEBLISK_RESETS_BURST_MAX = 100;
export const WEBLISK_RESETS_PER_S = 10;
/** A file with a certificate and its chain, or with a private key. */
export const WEBLISK_TLS_FILE_MAX_BYTES = 64 * 1024;
/** A request of a client to an orchestrator or hub elsewhere ends after this, and reads so many bytes of its answer. */
export const WEBLISK_CALL_MAX_MS = 30_000;
export const WEBLISK_ANSWER_MAX_BYTES = 4 * 1024 * 1024;
/** A client asks again while nobody answers: for this long before its task was taken, and for this long after. */
export const WEBLISK_UNHEARD_MAX_MS = 60_000;
export const WEBLISK_LOST_MAX_MS = 15 * 60_000;
/** Between two tries, and between two looks at a task elsewhere; each step is longer than the one before. */
export const WEBLISK_RETRY_MIN_MS = 500;
export const WEBLISK_RETRY_MAX_MS = 10_000;
export const WEBLISK_LOOK_MIN_MS = 200;
export const WEBLISK_LOOK_MAX_MS = 5_000;
/** The longest Retry-After that is kept. Seconds. */
export const WEBLISK_RETRY_AFTER_MAX_S = 300;
/** A task elsewhere has this deadline where its worker has none; it is over for certain so long after it. */
export const WEBLISK_REMOTE_TASK_MAX_MS = 86_400_000;
export const WEBLISK_LATE_MAX_MS = 60_000;
/** A stopped client tries for so long to end its task elsewhere: less than the usual grace of a stop. */
export const WEBLISK_STOP_MAX_MS = 8_000;
/** Bytes of the inputs of a worker's task elsewhere as JSON, beside its prompt. */
export const WEBLISK_INPUTS_MAX_BYTES = 65_536;
/** A token is renewed so long before its end. Seconds. */
export const WEBLISK_RENEW_S = 60;
/** One process at a time registers: its turn is over after this, and the others look so often. */
export const WEBLISK_TURN_MAX_MS = 60_000;
export const WEBLISK_TURN_LOOK_MS = 100;
// Telemetry
/** Characters of a TRACESTATE, as W3C Trace Context bounds it. */
export const TRACESTATE_MAX_CHARS = 512;
/** Workers whose facts the spans are made with; those that were heard of longest ago go first. */
export const TELEMETRY_WORKERS_MAX = 2_048;
/** Open tool calls of a worker; the oldest go first. */
export const TELEMETRY_TOOLS_MAX = 256;
/** Characters of a name in an attribute: a tool, a model. */
export const TELEMETRY_NAME_MAX_CHARS = 256;
/** Spans that wait to be sent, and about how many bytes they have; the oldest are dropped, and counted. */
export const TELEMETRY_QUEUE_MAX_SPANS = 4_096;
export const TELEMETRY_QUEUE_MAX_BYTES = 4 * 1024 * 1024;
/** Spans in one post. */
export const TELEMETRY_BATCH_MAX_SPANS = 512;
/** Series of all metrics together; what would be one more counts in a series that says so. */
export const TELEMETRY_SERIES_MAX = 1_000;
/** How long a span waits for others, and a metric for its next post, unless the standard variables say otherwise. */
export const TELEMETRY_SPANS_EVERY_MS = 5_000;
export const TELEMETRY_METRICS_EVERY_MS = 60_000;
/** A post that takes longer has failed, unless the standard variables say otherwise. */
export const TELEMETRY_POST_MAX_MS = 10_000;
/** The waits of those variables lie between these. */
export const TELEMETRY_WAIT_MIN_MS = 100;
export const TELEMETRY_WAIT_MAX_MS = 3_600_000;
/** Between two posts of the same spans: each wait is twice the one before, up to the second figure. */
export const TELEMETRY_RETRY_MIN_MS = 1_000;
export const TELEMETRY_RETRY_MAX_MS = 60_000;
/** Bytes of a collector's answer that are read. */
export const TELEMETRY_ANSWER_MAX_BYTES = 64 * 1024;
/** How often the cursor is kept while one post follows another: a daemon after a crash sends some spans again, by the same ids. */
export const TELEMETRY_KEEP_EVERY_MS = 1_000;
/** The last posts of a daemon that ends. */
export const TELEMETRY_END_MAX_MS = 3_000;
/** The end of the thread that makes them. */
export const TELEMETRY_THREAD_END_MAX_MS = 4_000;
/** Records after the kept cursor that a daemon still tells of; where there are more, it begins at the end of the log. */
export const TELEMETRY_BEHIND_MAX_RECORDS = 100_000;
/** The heap of the thread of telemetry: the queue, a page, what is made of them for a post. */
export const TELEMETRY_HEAP_MAX_MIB = 64;
/** Its space for new objects. */
export const TELEMETRY_NEW_MAX_MIB = 24;
/** How often the thread of telemetry is told that the log has more, while it does; and its priority, as `nice` has it. */
export const TELEMETRY_LOOK_EVERY_MS = 100;
export const TELEMETRY_NICE = 19;
/** Before the log is read again after it could not be, and before the next thread after one that failed. */
export const TELEMETRY_REREAD_MS = 1_000;
/** Headers that a configuration may add to each post. */
export const TELEMETRY_HEADERS_MAX = 32;
/** Bytes of the file with the cursor. */
export const TELEMETRY_FILE_MAX_BYTES = 4_096;
/** How often a node of a cluster renews its lease, and how soon it tries again where that failed. */
export const CLUSTER_HEARTBEAT_MS = 2_000;
export const CLUSTER_RETRY_MS = 500;
/** A node whose beat stood still for so long, by the clock of one that looks, has no lease. */
export const CLUSTER_LEASE_MS = 8_000;
/** How long before the end of its lease a node begins to stop its runs: a stop with its search takes less. */
export const CLUSTER_STOP_ROOM_MS = 3_000;
/** By so much a node ends its lease early, because clocks of two machines run at different rates: a twentieth of the lease. */
export const CLUSTER_DRIFT_ROOM_MS = 400;
/** How often a node looks at the cluster; and the time between two looks after which it counts the stillness of others anew. */
export const CLUSTER_LOOK_MS = 250;
export const CLUSTER_LOOK_GAP_MAX_MS = 3_000;
/** The size of the largest environment that we make. No more is read of a larger one. */
export const ENVIRONMENT_READ_MAX_BYTES = 1024 * 1024;
/** How often the guard of a lease looks at it and at the clock. */
export const CLUSTER_GUARD_PERIOD_MS = 100;
/** After a lease: how often the guard searches for runs, and how often once it has found none for some time. */
export const CLUSTER_GUARD_SEARCH_MS = 250;
export const CLUSTER_GUARD_IDLE_SEARCH_MS = 1_000;
/** Searches without a find, after which a guard searches less often, and ends where no daemon lives. */
export const CLUSTER_GUARD_QUIET_SEARCHES = 20;
/** Between TERM and KILL of the guard: half of CLUSTER_STOP_ROOM_MS, so that the rest is enough to find what hides. */
export const CLUSTER_GUARD_GRACE_MS = 1_500;
/** Searches that follow each other at once while the guard kills. */
export const CLUSTER_GUARD_PASSES_MAX = 20;
/** How often a daemon looks whether its guard has begun, and the most bytes of a guard's command line. */
export const CLUSTER_GUARD_POLL_MS = 5;
export const CLUSTER_GUARD_WORDS_MAX_BYTES = 65_536;
/** An answer of the cluster's store that takes longer is given up; its effect may have come. */
export const CLUSTER_ANSWER_MS = 1_000;
/** A decision of a person about a budget waits so long: a database that is busy takes it late, and nobody is to type it again. */
export const CLUSTER_DECISION_MS = 10_000;
/** A page of records from the copy, which is more to read: the asker is told that the database gives no answer. */
export const CLUSTER_COPY_ANSWER_MS = 4_000;
/** A kill at a worker's own node follows its tombstone: the looks of that node leave the worker to it for so long. */
export const CLUSTER_KILL_FOLLOWS_MS = 3_000;
/** How often a node looks at its clock, and how many inputs may wait for its decisions. */
export const CLUSTER_TICK_MS = 100;
export const CLUSTER_INPUTS_MAX = 10_000;
/** How often a node looks whether the guard of its lease lives. */
export const CLUSTER_GUARD_LOOK_MS = 1_000;
/** Between TERM and KILL where a run ends for its lease. */
export const CLUSTER_LEASE_GRACE_MS = 1_000;
/** The one who places a worker, or kills it, waits so long for its node, and asks so often. */
export const CLUSTER_ANSWER_OF_NODE_MS = 10_000;
export const CLUSTER_ASK_NODE_MS = 100;
/** How often a node looks for requests of other nodes, and how many of them it has under way. */
export const CLUSTER_CALLS_LOOK_MS = 250;
export const CLUSTER_CALLS_AT_ONCE = 1_000;
/** Workers of one request whose nodes are looked up at once. */
export const CLUSTER_LOOKUPS_AT_ONCE = 4;
/** Requests that wait for one node, or are under way there. */
export const CLUSTER_CALLS_MAX = 1_000;
/** The asker says so often that it still waits; a request whose asker was silent for so long is dropped. */
export const CLUSTER_CALL_RENEW_MS = 3_000;
export const CLUSTER_CALL_SILENT_MS = 15_000;
/** A database that is away for so long in the middle of a request to another node: its asker is told that the answer is not known. */
export const CLUSTER_CALL_AWAY_MS = 60_000;
/** The characters of a request to another node, and of its answer, as they stand in the database. */
export const CLUSTER_CALL_MAX_CHARS = 256 * 1024;
export const CLUSTER_CALL_ANSWER_MAX_CHARS = 4 * 1024 * 1024;
/** A worker that ran, and whose labels no node has, is asked about after this time: its node may be back. And questions at one look. */
export const CLUSTER_QUESTION_AFTER_MS = 5_000;
export const CLUSTER_QUESTIONS_AT_ONCE = 16;
/** A node takes a part of a placed worker's budget that is one in so many; and asks again after this time where little is left. */
export const CLUSTER_BUDGET_PORTIONS = 16;
export const CLUSTER_BUDGET_AGAIN_MS = 5_000;
/** Portions that go back once the cluster answers, and for how long a daemon tries. After that they count as spent. */
export const CLUSTER_UNSETTLED_MAX = 1_000;
export const CLUSTER_UNSETTLED_MS = 3_600_000;
/** Nodes that spend one budget of a file look at it so often; it is spent where a node found nothing left at so many looks in a row. */
export const CLUSTER_TREE_BUDGET_LOOK_MS = 1_000;
export const CLUSTER_TREE_BUDGET_LOOKS = 3;
/** Workers with a placement in a file whose tree has a budget: each of them looks. */
export const CLUSTER_TREE_BUDGET_WORKERS_MAX = 64;
/** Workers without a node that `agent cluster status` shows. */
export const CLUSTER_WAITING_SHOWN_MAX = 20;
/** Workers that no other node takes, as `agent drain` shows them. */
export const CLUSTER_STRANDED_SHOWN_MAX = 20;
/** Workers that a node ended with a reason, in one answer of `agent cluster status`: the newest, and for so long. */
export const CLUSTER_FAILED_SHOWN_MAX = 10;
export const CLUSTER_FAILED_SHOWN_MS = 86_400_000;
/** Workers of other nodes in one answer; and the newest records of each among which its last state is searched, for many and for one. */
export const CLUSTER_ELSEWHERE_MAX = 100;
export const CLUSTER_ELSEWHERE_SEARCHED_RECORDS = 200;
export const CLUSTER_ELSEWHERE_SEARCHED_OF_ONE_RECORDS = 10_000;
/** A search of other nodes' logs: the newest records of these that it reads, and the ones that may have its words. */
export const CLUSTER_SEARCH_RECORDS = 50_000;
export const CLUSTER_SEARCH_CHOSEN_MAX = 500;
export const CLUSTER_SEARCH_CHOSEN_MAX_CHARS = 2 * 1024 * 1024;
/** So many of these are read before other work. */
export const CLUSTER_SEARCH_SLICE_RECORDS = 50;
/** The beginning of a word by which the database chooses them. */
export const CLUSTER_SEARCH_WORD_MAX_CHARS = 12;
/** How often a watch looks at the copy, and for how long it goes on while the database gives no answer. */
export const CLUSTER_COPY_POLL_MS = 1_000;
export const CLUSTER_COPY_AWAY_MS = 60_000;
/** The reason, as the database keeps it. */
export const CLUSTER_WHY_MAX_CHARS = 500;
/** Searches for processes of a placed worker, each after the ones found were killed, and the time between two. */
export const PLACED_SEARCHES_MAX = 40;
export const PLACED_SEARCH_WAIT_MS = 50;
/** Records of a log that are copied to a cluster in one statement. */
export const CLUSTER_SHIP_MAX_RECORDS = 4_000;
/** And with the page that passes this length: the database has CLUSTER_STATEMENT_MAX_MS for one statement. */
export const CLUSTER_SHIP_MAX_CHARS = 4 * 1024 * 1024;
/** Pages of a log that are read for its copy in one turn of the loop. */
export const CLUSTER_SHIP_PAGES_AT_ONCE = 8;
/** How often a node whose log stands still asks how far its copy is: somebody may have taken it away. */
export const CLUSTER_COPY_CHECK_MS = 5_000;
/** Workers that a node takes: unless it says another number, and at most. */
export const CLUSTER_CAPACITY_DEFAULT = 16;
export const CLUSTER_CAPACITY_MAX = 10_000;
/** Labels of a node. */
export const CLUSTER_LABELS_MAX = 64;
/** Bytes of the file that says which node a daemon is. */
export const CLUSTER_FILE_MAX_BYTES = 65_536;
/** Connections of a node to the cluster's database. */
export const CLUSTER_CONNECTIONS_MAX = 4;
/** Runs that one statement of a node claims or begins. */
export const CLUSTER_RUNS_AT_ONCE = 200;
/** Starts of placed runs that are under way on a node. */
export const CLUSTER_STARTS_AT_ONCE = 32;
/** Placed workers of a node that are claimed and not yet told to start. The others wait for a later look. */
export const CLUSTER_BEGINNING_MAX = 100;
/** The database ends a statement that takes longer, and with it the locks that it holds. */
export const CLUSTER_STATEMENT_MAX_MS = 5_000;
/** How often a node looks whether the cluster's tables are still those of its Holdfast: another node may have brought newer ones. */
export const CLUSTER_TABLES_CHECK_MS = 5_000;
/** How long one change of the cluster's tables may take: an index over a large copy. */
export const CLUSTER_MIGRATE_MAX_MS = 3_600_000;
/** Days of the copy that are kept where a new cluster says no other number, and the most that can be said. */
export const CLUSTER_COPY_KEEP_DAYS_DEFAULT = 30;
export const CLUSTER_COPY_KEEP_MAX_DAYS = 36_500;
/** Days whose tables are made before they begin, so that a copy goes on while nobody makes any. */
export const CLUSTER_COPY_DAYS_AHEAD = 7;
/** How often a node looks whether old days are to be dropped; how often one of all nodes does it, and how many days at once. */
export const CLUSTER_COPY_TEND_LOOK_MS = 300_000;
export const CLUSTER_COPY_TEND_MS = 3_600_000;
export const CLUSTER_COPY_DROP_MAX_DAYS = 10;
/** How long that may take: it looks at each running worker that has records in a day. */
export const CLUSTER_COPY_TEND_MAX_MS = 60_000;
/** A node for which the database's clock is further ahead than this drops nothing: the days would be too young. */
export const CLUSTER_COPY_CLOCK_AHEAD_MAX_MS = 86_400_000;
/** How long a cluster knows the key of a request whose worker has lost its name; and the rows of each table that go at once. */
export const CLUSTER_REQUESTS_KEPT_DAYS = 30;
export const CLUSTER_PRUNED_ROWS_MAX = 100_000;
/** Records in a page of a worker's copied stream. */
export const CLUSTER_STREAM_PAGE_RECORDS = 1_000;
/** Records of its life that a worker brings to another node, newest first: its restarts there, and its session. */
export const CLUSTER_BROUGHT_RECORDS_MAX = 1_000;
/** Records of a worker among which its next node searches for the turn in which it ended. */
export const CLUSTER_BROUGHT_SEARCHED_RECORDS = 10_000;
/** How often a change of a budget is decided anew because others were faster. */
export const CLUSTER_BUDGET_TRIES_MAX = 100;
