/**
 * The registry of the `agent` command as plain data. Parsing, help, completion and the
 * manifest are all made from it. It imports no code that takes time to load, because the client loads it at every start.
 */

import { BLACKBOARD_COMMANDS } from "./blackboard.ts";
import { BOARD_COMMANDS } from "./board.ts";
import { CARE_COMMANDS } from "./care.ts";
import { CAS_COMMANDS } from "./cas.ts";
import { CLUSTER_COMMANDS } from "./cluster.ts";
import type { CommandDef } from "./command.ts";
import { CONFIG_COMMANDS } from "./config.ts";
import { DAEMON_COMMANDS } from "./daemon.ts";
import { DB_COMMANDS } from "./db.ts";
import { IDENTITY_COMMANDS } from "./identity.ts";
import { JOB_COMMANDS } from "./jobs.ts";
import { LOOK_COMMANDS } from "./look.ts";
import { MAILBOX_COMMANDS } from "./mailbox.ts";
import { NOTIFY_COMMANDS } from "./notify.ts";
import { PEER_COMMANDS } from "./peers.ts";
import { PROGRAM_COMMANDS } from "./programs.ts";
import { SCHEDULE_COMMANDS } from "./schedules.ts";
import { SKILL_COMMANDS } from "./skills.ts";
import { START_COMMANDS } from "./start.ts";
import { TALK_COMMANDS } from "./talk.ts";
import { MACHINE_COMMANDS } from "./this-machine.ts";
import { TOKEN_COMMANDS } from "./tokens.ts";
import { TREE_COMMANDS } from "./tree.ts";
import { WEBLISK_COMMANDS } from "./weblisk.ts";

export const COMMANDS: readonly CommandDef[] = [
  ...START_COMMANDS,
  ...CARE_COMMANDS,
  ...TREE_COMMANDS,
  ...LOOK_COMMANDS,
  ...TALK_COMMANDS,
  ...MAILBOX_COMMANDS,
  ...JOB_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...BLACKBOARD_COMMANDS,
  ...BOARD_COMMANDS,
  ...SKILL_COMMANDS,
  ...MACHINE_COMMANDS,
  ...CONFIG_COMMANDS,
  ...TOKEN_COMMANDS,
  ...PEER_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...IDENTITY_COMMANDS,
  ...WEBLISK_COMMANDS,
  ...NOTIFY_COMMANDS,
  ...DAEMON_COMMANDS,
  ...DB_COMMANDS,
  ...CAS_COMMANDS,
  ...PROGRAM_COMMANDS,
];
