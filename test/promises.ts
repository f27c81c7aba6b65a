/**
 * Holdfast's promises, and their proofs: docs/reference/reliability.md is generated from here (`npm run docs`). A title is
 * written as it stands in the source of its test or bench. Tier D is held by every `npm test` (scaled, where the full figure takes longer), N
 * by `npm run chaos:nightly`, S by its soak.
 */

export interface Proof {
  readonly file: string;
  readonly title: string;
}

export interface Kept {
  readonly id: `R${number}`;
  readonly sentence: string;
  readonly tier: "D" | "N" | "S";
  readonly proofs: readonly Proof[];
  /** Why nothing, or not all of it, is proved. */
  readonly open?: string;
}

const by = (file: string, ...titles: readonly string[]): readonly Proof[] =>
  titles.map((title) => ({ file: `test/${file}`, title }));

/** The bound that a time is held against, where no other test runs beside it. */
const bench = (name: string, title: string): Proof => ({ file: `bench/${name}.ts`, title });

const NEMESIS = by(
  "chaos/nemesis.chaos.test.ts",
  "${MINUTES} minutes of the nemesis lose nothing, do nothing twice, and leave nothing behind",
);
const CRASH_POINTS = by(
  "chaos/crash-points.chaos.test.ts",
  "$points leaves nothing undone and nothing done twice",
);
const DAEMONS_KILLED = by(
  "chaos/crashes.chaos.test.ts",
  "a daemon killed ${ROUNDS} times under load: agents go on, output is whole, exits are known, windows are kept",
);

export const PROMISES: readonly Kept[] = [
  {
    id: "R1",
    sentence:
      "Every exit of an agent is in the log exactly once, with its code, signal, cause and incarnation.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/kills.chaos.test.ts",
        "${KILLS} SIGKILLs to agents, launchers and groups: each exit is recorded once, each is followed by one restart",
      ),
      ...NEMESIS,
    ],
  },
  {
    id: "R2",
    sentence:
      "Restarts follow OTP's table exactly, but for failures that no restart can mend: they end at once, unless the user asks for restarts.",
    tier: "D",
    proofs: [
      ...by("supervisor/otp/cases.unit.test.ts", "covers at least fifty cases of OTP"),
      ...by(
        "supervisor/child/decide.unit.test.ts",
        "%s ends it at once, whatever its policy, and the record says so",
      ),
    ],
  },
  {
    id: "R3",
    sentence: "A kill is on record within 50 ms and its successor runs within 100 ms (p99, without backoff).",
    tier: "D",
    proofs: [
      ...by(
        "chaos/kills.chaos.test.ts",
        "${KILLS} SIGKILLs to agents, launchers and groups: each exit is recorded once, each is followed by one restart",
      ),
      bench("restart", "SIGKILL → next incarnation running, ${KILLS} times"),
    ],
    open: "Counted and ordered in every run; the time is a bench's, and CI asserts none.",
  },
  {
    id: "R4",
    sentence:
      "Never more restarts in a window than allowed, over restarts of the daemon and before readiness too.",
    tier: "D",
    proofs: [
      ...DAEMONS_KILLED,
      ...CRASH_POINTS,
      ...by("runtime/boot/boot.int.test.ts", "keeps its restart window over restarts of the runtime"),
      ...by("sim/simulator.unit.test.ts", "fresh seeds find nothing"),
    ],
  },
  {
    id: "R5",
    sentence: "An escalation reaches the top, and nothing of the tree keeps running.",
    tier: "D",
    proofs: by(
      "chaos/trees.chaos.test.ts",
      "a leaf that crashes again and again takes three levels down to the root, and nothing keeps running (R5)",
    ),
  },
  {
    id: "R6",
    sentence:
      "Children are told to stop in the reverse of their start order, one after another where something orders them, each with its own grace and then KILL.",
    tier: "D",
    proofs: by(
      "chaos/trees.chaos.test.ts",
      "five children start left to right and stop right to left, one of them only by KILL after its grace (R6)",
    ),
  },
  {
    id: "R7",
    sentence:
      "A stopped worker has left no process that its group, marker, output files or descent shows; in a delegated cgroup none at all (counted by canaries that the test holds).",
    tier: "D",
    proofs: [
      ...by("chaos/hostile.chaos.test.ts", "${KILLS} kills of hostile trees leave nothing"),
      ...by(
        "chaos/children.chaos.test.ts",
        "a child that ends well and leaves one that holds its stdout has ended, with nothing left",
      ),
      ...by(
        "chaos/orphans.chaos.test.ts",
        "processes of runs that have ended, or that no record begins, are recorded and ended at the next boot",
      ),
      ...by(
        "adapters/process/cgroups.e2e.test.ts",
        "in a cgroup nothing hides: env -i setsid, from an agent that ended before anybody looked",
      ),
      ...by(
        "adapters/process/stop.e2e.test.ts",
        "without a cgroup finds a double fork with a session of its own, no environment and no output, of an agent that %s",
        "ends who calls itself a daemon",
        "says no more than it did: a launcher that was killed vouches for nobody",
      ),
      ...NEMESIS,
    ],
    open: "Without a delegated cgroup and without perl a double fork that has left the marker, the group, the spool and all descent can hide; with perl, one whose launcher was killed too. The record says by which method was looked.",
  },
  {
    id: "R8",
    sentence:
      "A pid that somebody else has now is never signalled, nor one that only a file of the run names: the log says who a run is.",
    tier: "D",
    proofs: [
      ...by("adapters/process/stop.e2e.test.ts", "to a process whose start time is another one is refused"),
      ...by("adapters/process/observe.e2e.test.ts", "another boot's pids are nobody, whoever has them now"),
      ...by(
        "chaos/run-directories.chaos.test.ts",
        "a process that an agent names in its files is never signalled, and the agent can be killed",
        "a forged cgroup in run.json kills nobody who is in it",
      ),
    ],
    open: "If the daemon dies between the start of a run and its record, the process table decides: a process is the run's if its launcher made it or it carries the run's marker.",
  },
  {
    id: "R9",
    sentence:
      "A daemon killed with -9 at any point loses nothing that it acknowledged; seq stays dense, projections stay the fold.",
    tier: "D",
    proofs: [
      ...CRASH_POINTS,
      ...by(
        "store/sqlite/log.e2e.test.ts",
        "a writer killed at any point loses nothing that it acknowledged (${ROUNDS} rounds)",
      ),
      ...DAEMONS_KILLED,
      ...NEMESIS,
    ],
  },
  {
    id: "R10",
    sentence:
      "After the death of the daemon every agent is adopted with its output whole, or, where that is asked for, dies in time.",
    tier: "D",
    proofs: [
      ...DAEMONS_KILLED,
      ...by(
        "chaos/lifeline.chaos.test.ts",
        "without a next daemon the one that dies with it is gone, canary and all; the next one knows how it ended and starts it anew",
        "a next daemon in time, after a kill or a stop, keeps it; killed by name it is dead like any other",
      ),
      ...by(
        "runtime/boot/boot.int.test.ts",
        "is adopted and read on at the checkpoint: no line is lost, none is told twice",
      ),
    ],
  },
  {
    id: "R11",
    sentence: "A boot settles every recorded run, and a second one writes nothing more.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/boots.chaos.test.ts",
        "of ${LIVING + DYING} agents ${DYING} die while no daemon is there: each is adopted or settled once, and a boot more writes nothing of them",
      ),
      ...by(
        "runtime/boot/boot.int.test.ts",
        "writes nothing of what is settled, and of each agent that runs only who supervises it now",
      ),
      bench("boot-adopt", "daemon's start → ${SETTLED} recorded runs settled whose agents died meanwhile"),
    ],
  },
  {
    id: "R12",
    sentence: "One daemon for a state directory, whoever starts how many.",
    tier: "D",
    proofs: [
      ...by(
        "daemon/start.e2e.test.ts",
        "by 50 clients at once makes one daemon, which answers them all",
        "by several programs at once makes one daemon; the losers name it and exit 6",
      ),
      ...by(
        "chaos/in-place.chaos.test.ts",
        "of many daemons that start at once one wins; the losers end with its pid, and a stale socket and a spoilt lock hold nobody up",
        "a socket, daemon.json or lock that is deleted or replaced is made again by the daemon that runs",
      ),
    ],
  },
  {
    id: "R13",
    sentence: "A request repeated under its key is done once.",
    tier: "D",
    proofs: [
      ...by("runtime/runtime.int.test.ts", "the same idempotency key a hundred times makes one worker"),
      ...by(
        "chaos/schedules.chaos.test.ts",
        "${ROUNDS} kills of the daemon around the times of a schedule: each time has exactly one worker",
      ),
    ],
  },
  {
    id: "R14",
    sentence:
      "A watcher sees every record from its cursor, in order, or the gap that retention left, told once.",
    tier: "D",
    proofs: [
      ...by("cli/outlast.e2e.test.ts", "is survived by watch -o %s without a gap or a repeat"),
      ...by("store/sqlite/cursor.int.test.ts", "goes over from the file to memory without a gap"),
      ...by(
        "cli/restore.e2e.test.ts",
        "a watch and a cursor of what is gone are refused with the way on, and check and doctor say what happened",
      ),
      ...by(
        "store/sqlite/retention.int.test.ts",
        "tells the gap to whoever asks for output, at its place, and to nobody else",
      ),
    ],
  },
  {
    id: "R15",
    sentence: "A slow or stopped watcher changes nothing for anybody else.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/watchers.chaos.test.ts",
        "${STALLED} watchers that never read: the agent completes, others are served, memory is bounded",
      ),
      bench(
        "stalled",
        "write in the child → record at a watcher, beside a flood and ${STALLED} stalled watchers",
      ),
    ],
  },
  {
    id: "R16",
    sentence: "Ten thousand watchers each have an event within a second, in 300 MB.",
    tier: "N",
    proofs: [bench("watchers", "write in the child → at the last of ${WATCHERS} watchers")],
    open: "Measured by the bench, not by the nightly tests.",
  },
  {
    id: "R17",
    sentence: "Any bytes on stdout and stderr are survivable, and the line after them is read.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/children.chaos.test.ts",
        "${BYTES / 2 ** 20} MiB without a line end are one record with their count, and the next line is read",
      ),
      ...by(
        "chaos/bytes.chaos.test.ts",
        "${ROWS.length} kinds of bytes on %s are each one record, and the next line is read",
      ),
    ],
  },
  {
    id: "R18",
    sentence: "A flood is bounded, and others do not notice it.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/children.chaos.test.ts",
        "a flood of ${LINES} lines is in the log once, line by line, and another worker's lines are not held up",
      ),
      ...by(
        "chaos/output.chaos.test.ts",
        "of 70 MB that an agent prints little stays on the disk, whoever kills the daemon in between",
        "an agent that prints without end is ended at its quota, and what nobody had read is told and not read for an hour",
        "an agent that may be paused stands still at its quota, over its daemon's death too, and all that it printed is in the log once",
      ),
    ],
  },
  {
    id: "R19",
    sentence: "A start that cannot be is a typed error, counted in the window.",
    tier: "D",
    proofs: [
      ...by("adapters/process/launch.e2e.test.ts", "%s is a typed error before anything is made"),
      ...by("runtime/runtime.int.test.ts", "whose start fails counts the failure and is tried again"),
    ],
  },
  {
    id: "R20",
    sentence:
      "Stuck is not slow: without progress and without a tool in flight it is warned of, asked about, restarted.",
    tier: "D",
    proofs: by(
      "runtime/limits/clocks.int.test.ts",
      "is warned of, asked about, then restarted by its policy, counted",
      "may be silent for ever; once it has ended the stall time counts again",
    ),
  },
  {
    id: "R21",
    sentence: "A stopped process is seen within two heartbeats.",
    tier: "D",
    proofs: [
      ...by(
        "runtime/limits/clocks.int.test.ts",
        "sees a %s process within two, and says so once",
        "of a stopped agent is no stall, and after CONT its patience begins anew",
      ),
    ],
  },
  {
    id: "R22",
    sentence: "A wall clock that jumps by a year changes no timer, window or order.",
    tier: "D",
    proofs: by("runtime/limits/clocks.int.test.ts", "the wall clock set by %d ms changes nothing"),
  },
  {
    id: "R23",
    sentence: "A sleep of the machine kills nobody.",
    tier: "D",
    proofs: [
      ...by(
        "runtime/limits/clocks.int.test.ts",
        "while the machine slept is one record, and ends, warns and stalls nobody",
        "while the daemon was stopped is one record, and ends, warns and stalls nobody",
      ),
    ],
  },
  {
    id: "R24",
    sentence:
      "A store that fails refuses what it cannot keep with a typed error; on a full disk stops, pauses and limits act all the same and are recorded once there is room, a daemon starts, agents go on, and it recovers without a restart.",
    tier: "D",
    proofs: [
      ...by(
        "runtime/nth-call.int.test.ts",
        "a request is done and on record once, whichever call to the store or the spawner fails once",
      ),
      ...by(
        "store/sqlite/faults.int.test.ts",
        "is typed, whichever call it is, and what is offered again is recorded once",
        "of an open is typed, and the next open finds a whole log",
        "is told as that, and not as damage, where SQLite calls the file corrupt and it is whole",
        "is found whole by the next open, where a crash came before it had its name again",
        "lets the write-ahead log grow to its bound; then output waits, lifecycle goes on, and it is emptied when the reader goes",
      ),
      ...by(
        "store/sqlite/held.int.test.ts",
        "is taken and every row says it, and it is a record when there is room (%s)",
        "gives the next daemon the stops that this one could not record, each once",
        "that was not cleared before a crash, or is of another log, adds nothing",
      ),
      ...by(
        "chaos/full-disk-stops.chaos.test.ts",
        "pause, --timeout and kill act on a disk that an agent keeps full, and are on record once there is room (${where})",
        "daemon stop --kill-agents on a full disk ends every agent, and the next daemon knows that they have ended (${where})",
        "a daemon that was killed starts on a full disk, takes its agents over, and stops them; without a reserve too (${where})",
        "an agent whose own output fills the disk is stopped, and a tree is taken down; the next daemon starts there after a stop, too (${where})",
        "an agent that floods the disk with empty lines stays stopped when the daemon is killed in the middle of its stop (${where})",
        "an agent that dies with its daemon does so on a full disk (${where})",
      ),
      ...by(
        "chaos/full-disk.chaos.test.ts",
        'a full disk stops acknowledgements and nothing else; with room again all is recorded once (${canMount ? "tmpfs" : "skipped: no mount namespace"})',
      ),
      ...NEMESIS,
    ],
    open: "A file system that copies on write has no reserve: stops are held in memory there, and are lost to the next daemon if this one is killed before there is room. The very first start needs room.",
  },
  {
    id: "R25",
    sentence:
      "A damaged log is found and kept, and no damaged record is told; an empty, missing or older log beside living agents that it does not know is refused. A projection row that somebody has edited is told by `agent doctor` and made anew at the next start, within bounds (the newest workers and those that live, and the state of every worker); `agent db check` compares every row. A row that is edited while the daemon runs may be shown until then.",
    tier: "D",
    proofs: [
      ...by(
        "daemon/lost-log.e2e.test.ts",
        "a log that is %s is refused while its agents run, and another one begins once they have ended",
        "an older log is refused while agents run that it does not know; those that it knows are taken over then",
      ),
      ...by(
        "store/sqlite/damage.int.test.ts",
        "are refused, or told by a check, or answer as before",
        "a projection that is damaged is made anew from the log, and is then as it was",
      ),
      ...by(
        "store/sqlite/edited.int.test.ts",
        "is found beside a daemon, and made anew when the log is opened: %s",
      ),
      ...by(
        "cli/db.e2e.test.ts",
        "rows that somebody has edited are told by the doctor, and are as their records say once a daemon starts",
      ),
      ...by("store/sqlite/checksum.unit.test.ts", "is found in whichever column it is"),
      ...by("store/sqlite/log.int.test.ts", "when its newest record is damaged"),
    ],
  },
  {
    id: "R26",
    sentence: "Projections are a pure function of the log, also after retention.",
    tier: "D",
    proofs: [
      ...by(
        "store/sqlite/projections/projection.int.test.ts",
        "are the same folded record by record, in batches, and from the whole log",
      ),
      ...by(
        "store/sqlite/retention.int.test.ts",
        "of random histories leaves every projection, a rebuild, the check and an export as they were",
      ),
    ],
  },
  {
    id: "R27",
    sentence:
      "A subtree never spends more than its cap and one increment of each agent that works at that time; whatever the process table shows to descend from one of its agents is part of it, with its marker or without.",
    tier: "D",
    open: "A process that forked twice, cleared its environment and closed its output before anybody saw it counts as the user's, unless its run has a cgroup.",
    proofs: [
      ...by(
        "cli/authority.e2e.test.ts",
        "without its marker, in another session, and as an orphan with an empty environment",
        "so a bound on depth holds",
        "so a bound on depth holds from below more processes than are looked at, too",
      ),
      ...by(
        "supervisor/budgets/budgets.unit.test.ts",
        "is passed by one increment at most, whoever of ${AGENTS} agents reports, in whatever order (R27, I8)",
      ),
      ...by(
        "runtime/limits/budgets.int.test.ts",
        "that report at the same time pass the cap by one increment of each, and by one where they take turns (R27)",
      ),
      ...by(
        "chaos/budgets.chaos.test.ts",
        "agents that spend one budget together stand still once it is spent, go on when somebody says so, and never spend it anew (R27)",
        "an agent with one long prompt is stopped in the middle of it, also by a daemon that came later",
      ),
    ],
  },
  {
    id: "R28",
    sentence: "No more slots are held than there are.",
    tier: "D",
    proofs: by(
      "runtime/limits/admission.int.test.ts",
      "of 200 spawns at once with 7 slots never more than 7 are held, and all 200 run",
    ),
  },
  {
    id: "R29",
    sentence: "Below the memory floor nothing starts, and it is seen to wait.",
    tier: "D",
    proofs: by(
      "runtime/limits/admission.int.test.ts",
      "nothing starts; it waits, visibly, and starts when memory is back, one a tick",
    ),
  },
  {
    id: "R30",
    sentence: "A fork bomb is contained, where a cgroup is delegated.",
    tier: "N",
    proofs: [
      ...by("chaos/hostile.chaos.test.ts", "${KILLS} kills of hostile trees leave nothing"),
      ...by(
        "adapters/process/cgroups.e2e.test.ts",
        "a fork bomb comes no further than its limit, others start beside it, and its kill leaves nothing (R30)",
        "an agent that passes its memory limit is told apart from one that was killed",
      ),
    ],
    open: "The two tests at a cgroup's limits run where one with controllers for pids and memory is delegated, and are skipped, visibly, elsewhere; they have no figures yet because no such machine has run them.",
  },
  {
    id: "R31",
    sentence: "A worker parked by a rate limit is woken once, also by the next daemon.",
    tier: "D",
    proofs: [
      ...by(
        "runtime/limits/rate-limit.int.test.ts",
        "waits until the reset, also under the next daemon, is woken once, and no window counts it (R31)",
      ),
      ...by("runtime/limits/rate-limit.int.test.ts", "gives up after so many waits in a row, and says why"),
      ...by(
        "chaos/rate-limits.chaos.test.ts",
        "an agent that waits for a reset is woken once after it by the next daemon, and no window counts it (R31)",
      ),
    ],
  },
  {
    id: "R32",
    sentence:
      "A kill is final: nothing but its name starts it again, and nothing from inside its own tree does, by name or otherwise.",
    tier: "D",
    proofs: [
      ...by("runtime/commands/kill.int.test.ts", "kills what is spawned while it works"),
      ...by(
        "daemon/start-from-inside.e2e.test.ts",
        "after a stop that kills its agents nothing runs, and no daemon, though one of them tried to come back",
      ),
      ...by(
        "cli/authority.e2e.test.ts",
        "for an agent whose trap spawns without its marker and starts itself again",
        "a stop of the daemon that kills its agents is final, too: no daemon that one of them starts takes its place",
      ),
      ...by(
        "chaos/trees.chaos.test.ts",
        "a killed subtree stays dead: against its parent's restarts, the next daemon, and its file applied again (R32)",
      ),
      ...NEMESIS,
    ],
  },
  {
    id: "R33",
    sentence:
      "A message to an agent is delivered once to an incarnation and acknowledged, or told to be undeliverable or unknown, over kills of the daemon.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/messages.chaos.test.ts",
        "${MESSAGES} messages to each of ${AGENTS} agents over ${KILLS} kills of the daemon: each is read once, in order, and acknowledged",
        "agent and daemon are both killed with a message between them: it goes on in the session, and is told unknown where nobody is left",
      ),
      ...by(
        "runtime/commands/messages.int.test.ts",
        "in the middle of a write: the next one writes the rest, and nothing twice",
        "between a write and its record: the next one only records it",
      ),
      ...NEMESIS,
    ],
  },
  {
    id: "R34",
    sentence:
      "A known secret reaches no log, projection or daemon.log, as it is, escaped, or in base64, hex or a URL (runs/ is the declared exception; reversed, split or encrypted it is not found).",
    tier: "D",
    proofs: [
      ...by(
        "chaos/secrets.chaos.test.ts",
        "no known secret is found outside of the run directories, as it is, escaped or encoded",
      ),
      ...by("protocol/redact.unit.test.ts", "never lets a known value through, whatever stands around it"),
      ...by("protocol/redact.unit.test.ts", "not reversed, and not in two texts"),
    ],
  },
  {
    id: "R35",
    sentence: "A record that was edited or removed is found.",
    tier: "D",
    proofs: [
      ...by("store/sqlite/log.int.test.ts", "fails too where the record is gone, instead of leaving it out"),
      ...by("store/sqlite/damage.int.test.ts", "are refused, or told by a check, or answer as before"),
      ...by("store/sqlite/checksum.unit.test.ts", "is found in whichever column it is"),
    ],
    open: "Against accidents: checksums are not signed, so who can write the file can also make them.",
  },
  {
    id: "R36",
    sentence:
      "One actor's defect kills neither the daemon nor a sibling, and nothing that an agent puts into its run directory holds up either, or the next daemon.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/run-directories.chaos.test.ts",
        "a %s under any name of a run directory holds up neither its daemon nor the next one, and the agent can be killed",
      ),
      ...by("runtime/containment.int.test.ts", "a throw in"),
      ...by(
        "actors/defects.int.test.ts",
        "(finish) after the exit: the exit is recorded once, with its code",
      ),
      ...by("daemon/connection.int.test.ts", "contains a defect of a handler"),
      ...by(
        "daemon/start.e2e.test.ts",
        "survives a throw in a timer and a rejection that nobody handles, logs and counts them",
      ),
    ],
  },
  {
    id: "R37",
    sentence:
      "The supervisor's own tick is watched: a loop that is blocked is told of, and the daemon's state is written down.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/watchdog.chaos.test.ts",
        "a blocked loop is written to daemon.log with the daemon's state, and told to clients; both end with it",
        "a daemon that is stopped is said to be, with the way to continue it",
      ),
    ],
    open: "There is no HTTP port yet, so no /health: clients of the socket are told.",
  },
  {
    id: "R38",
    sentence: "A new version takes over a hundred agents, and none of them notices.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/upgrade.chaos.test.ts",
        "no agent is killed, and none of its lines is lost or doubled",
        "a version that cannot start, or cannot read the log, changes nothing",
        "a version that dies when it has taken over is replaced by the old one",
      ),
      ...by("store/sqlite/log.int.test.ts", "when a newer version made its schema"),
      ...NEMESIS,
    ],
  },
  {
    id: "R39",
    sentence: "Nothing leaks: descriptors, timers, memory.",
    tier: "S",
    proofs: [
      ...by(
        "chaos/soak.chaos.test.ts",
        "after ${ROUNDS * WORKERS_A_ROUND} workers that ended, were restarted, stopped and killed, the daemon holds what it held before",
      ),
    ],
    open: "A short form in every run, minutes of `npm run soak`; a day with a million spawns has not been run.",
  },
  {
    id: "R40",
    sentence: "A thousand agents on two cores.",
    tier: "N",
    proofs: [
      bench("sleepers", "idle CPU with ${WORKERS} sleeping workers, over ${IDLE_MS / 1_000} s"),
      bench("sleepers", "delay of the event loop meanwhile"),
    ],
    open: "Measured by the bench, not by the nightly tests.",
  },
  {
    id: "R41",
    sentence:
      "A message in a mailbox is not lost, not given out after its acknowledgement, in order, and delivered a bounded number of times, over kills of the daemon.",
    tier: "D",
    proofs: by(
      "chaos/mailboxes.chaos.test.ts",
      "${SENDERS} senders and ${CONSUMERS} consumers over ${KILLS} kills of the daemon: nothing is lost, doubled or out of order, and attempts are bounded",
    ),
  },
  {
    id: "R42",
    sentence:
      "The engine of kind `llm` repeats no call that may have had an effect, and asks for no answer on record again, at whatever point it is killed.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/engine.chaos.test.ts",
        "${RUNS} engines that are killed repeat no payment, pay for no step on record twice, and end alike",
        "under a daemon, the usage of a turn is on record once, at whatever point its engine was killed",
      ),
      ...by("engine/crashes.unit.test.ts", "that dies at passage $passage of $point goes on"),
    ],
  },
  {
    id: "R43",
    sentence:
      "Behind a bridge no run is begun twice, and each has one end and all of its output, at whatever point the daemon dies and when the bridge is killed.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/bridge-crashes.chaos.test.ts",
        "a daemon that dies at %s begins no run of a bridge twice, and loses no output and no end",
      ),
      ...by(
        "chaos/bridge.chaos.test.ts",
        "${WORKERS} workers start, live on over a crash of the daemon, and end once each when the BEAM is killed",
      ),
    ],
    open: "The workers of a BEAM are tried where Erlang is installed.",
  },
  {
    id: "R44",
    sentence:
      "A worker that is placed on a cluster with `stop` never runs twice, and runs elsewhere within ten seconds of the loss of its node; while the database is away those with `continue` go on; a join, a leave, a drain and an upgrade change no process but of those that the drain moves; no record that was told as copied is lost.",
    tier: "D",
    proofs: [
      ...by(
        "chaos/cluster.chaos.test.ts",
        "${faults.length} faults of seed ${SEED}: no worker runs twice, and each runs again",
      ),
      ...by(
        "daemon/cluster/outages.e2e.test.ts",
        "a restart of Postgres stops no agent",
        "Postgres is away for ${OUTAGE_S} s: some agents stop within their lease, others go on over new daemons, and nothing is lost",
        "another server takes over after ${OUTAGE_S} s: some agents stop, others go on, and no copied record is missing",
      ),
      ...by(
        "daemon/cluster/members.e2e.test.ts",
        "a join, a leave, and a drain with its undo change the PID of no agent but of those that the drain moves",
      ),
      ...by(
        "daemon/cluster/upgrade.e2e.test.ts",
        "no agent has another PID after the upgrade of any node: to the same build, to a newer one, and back",
      ),
      bench(
        "cluster-failover",
        "from the SIGKILL of a whole node until its worker runs on another one, of three nodes",
      ),
    ],
    open: "The ten seconds are a bench's, and CI asserts twenty. A machine that freezes as a whole may act for a tenth of a second when it goes on, and a replica that was not synchronous may have forgotten a claim or a record.",
  },
];
