/** The handler of each command. Code that a quick `list` or `kill` does not need is loaded on demand. */
import type { ErrorCode, HoldfastError } from "../protocol/errors.ts";
import { acpProblems } from "./acp/conversation.ts";
import * as approvals from "./commands/approvals.ts";
import * as blackboard from "./commands/blackboard.ts";
import * as board from "./commands/board.ts";
import { capabilities } from "./commands/capabilities.ts";
import * as care from "./commands/care.ts";
import * as cas from "./commands/cas.ts";
import { changesProblems } from "./commands/changes.ts";
import * as cluster from "./commands/cluster.ts";
import * as config from "./commands/config.ts";
import * as daemon from "./commands/daemon.ts";
import * as dashboard from "./commands/dashboard.ts";
import * as db from "./commands/db.ts";
import * as identity from "./commands/identity.ts";
import * as inbox from "./commands/inbox.ts";
import { info } from "./commands/info.ts";
import { initProblems } from "./commands/init-problems.ts";
import * as jobs from "./commands/jobs.ts";
import { kill } from "./commands/kill.ts";
import { list, listProblems } from "./commands/list.ts";
import { logs, logsProblems } from "./commands/logs.ts";
import * as mailbox from "./commands/mailbox.ts";
import * as mcp from "./commands/mcp.ts";
import * as messages from "./commands/messages.ts";
import * as notify from "./commands/notify.ts";
import { output } from "./commands/output.ts";
import { pause, unpause } from "./commands/pause.ts";
import * as peers from "./commands/peers.ts";
import { chosenProblems } from "./commands/per-worker.ts";
import { restart } from "./commands/restart.ts";
import * as resume from "./commands/resume.ts";
import * as schedules from "./commands/schedules.ts";
import { search, searchProblems } from "./commands/search.ts";
import * as skills from "./commands/skills.ts";
import { spawn } from "./commands/spawn.ts";
import { spawnConditions } from "./commands/spawn-conditions.ts";
import { kindProblem, spawnGate, spawnProblems } from "./commands/spawn-spec.ts";
import * as tokens from "./commands/tokens.ts";
import { tree } from "./commands/tree.ts";
import * as up from "./commands/up.ts";
import { usage, usageProblems } from "./commands/usage.ts";
import { wait } from "./commands/wait.ts";
import { watch, watchProblems } from "./commands/watch.ts";
import { watchStreamProblems } from "./commands/watch-stream.ts";
import { why } from "./commands/why.ts";
import type { CommandHandler, Env } from "./context.ts";
import { VERSION } from "./package.ts";
import type { Call, Checks } from "./parse.ts";
import { registerProblems, remoteTaskProblems } from "./weblisk/elsewhere-words.ts";
import { taskProblems } from "./weblisk/inputs.ts";
import { grantProblems, serveProblems } from "./weblisk/served.ts";

export const HANDLERS: Readonly<Record<string, CommandHandler>> = {
  "agent/demo": async (context) => (await import("./commands/demo.ts")).demo(context),
  "agent/spawn": spawn,
  "agent/spawn-many": async (context) => (await import("./commands/spawn-many.ts")).spawnMany(context),
  "agent/resume": resume.resume,
  "agent/fork": resume.fork,
  "agent/kill": kill,
  "agent/restart": restart,
  "agent/pause": pause,
  "agent/unpause": unpause,
  "agent/archive": care.archive,
  "agent/rename": care.rename,
  "agent/prune": care.prune,
  "agent/init": async (context) => (await import("./commands/init.ts")).init(context),
  "agent/up": up.up,
  "agent/diff": up.diff,
  "agent/down": up.down,
  "agent/list": list,
  "agent/attach": async (context) => (await import("./commands/attach.ts")).attach(context),
  "agent/top": async (context) => (await import("./commands/top.ts")).top(context),
  "agent/tree": tree,
  "agent/usage": usage,
  "agent/why": why,
  "agent/info": info,
  "agent/watch": watch,
  "agent/logs": logs,
  "agent/search": search,
  "agent/output": output,
  "agent/changes": async (context) => (await import("./commands/changes.ts")).changes(context),
  "worktree/remove": async (context) => (await import("./commands/changes.ts")).removeWorktrees(context),
  "agent/wait": wait,
  "agent/inbox": inbox.inbox,
  "agent/answer": inbox.answer,
  "agent/send": messages.send,
  "agent/ask": messages.ask,
  "agent/messages": messages.messages,
  "mailbox/send": mailbox.send,
  "mailbox/reply": mailbox.reply,
  "mailbox/poll": mailbox.poll,
  "mailbox/ack": mailbox.ack,
  "mailbox/nack": mailbox.nack,
  "mailbox/extend": mailbox.extend,
  "mailbox/list": mailbox.list,
  "mailbox/show": mailbox.show,
  "mailbox/resend": mailbox.resend,
  "mailbox/drop": mailbox.drop,
  "agent/approvals": approvals.approvals,
  "approvals/approve": approvals.approve,
  "approvals/deny": approvals.deny,
  "agent/cancel": approvals.cancel,
  "jobs/submit": jobs.submit,
  "jobs/list": jobs.list,
  "jobs/info": jobs.info,
  "jobs/tail": jobs.tail,
  "jobs/wait": jobs.wait,
  "jobs/result": jobs.result,
  "jobs/cancel": jobs.cancel,
  "bb/post": blackboard.post,
  "bb/list": blackboard.list,
  "bb/search": blackboard.search,
  "bb/watch": blackboard.watch,
  "bb/claim": blackboard.claim,
  "bb/release": blackboard.release,
  "schedule/add": schedules.add,
  "schedule/list": schedules.list,
  "schedule/show": schedules.show,
  "schedule/next": schedules.next,
  "schedule/pause": schedules.pause,
  "schedule/resume": schedules.resume,
  "schedule/run": schedules.run,
  "schedule/remove": schedules.remove,
  "notify/list": notify.list,
  "notify/resend": notify.resend,
  "notify/test": notify.test,
  "token/create": tokens.create,
  "agent/dashboard": dashboard.dashboard,
  "token/list": tokens.list,
  "token/revoke": tokens.revoke,
  "cluster/init": cluster.init,
  "cluster/join": cluster.join,
  "cluster/leave": cluster.leave,
  "agent/drain": cluster.drain,
  "cluster/status": cluster.status,
  "peer/add": peers.add,
  "peer/list": peers.list,
  "peer/show": peers.show,
  "peer/trust": peers.trust,
  "peer/revoke": peers.revoke,
  "peer/connect": async (context) => (await import("./weblisk/serve.ts")).connectPeer(context),
  "peer/task": async (context) => (await import("./weblisk/serve.ts")).peerTask(context),
  "audit/list": peers.audit,
  "audit/verify": peers.verify,
  "identity/show": identity.show,
  "identity/rotate": async (context) => (await import("./weblisk/serve.ts")).rotate(context),
  "identity/export": identity.exported,
  "skill/run": skills.run,
  "skill/list": skills.list,
  "skill/info": skills.show,
  "skill/check": skills.check,
  "board/add": board.add,
  "board/list": board.list,
  "board/show": board.show,
  "board/claim": board.claim,
  "board/release": board.release,
  "board/retry": board.retry,
  "board/block": board.block,
  "board/handoff": board.handoff,
  "board/done": board.done,
  "board/dispatch": board.dispatch,
  "board/watch": board.watch,
  "agent/capabilities": capabilities,
  "mcp/list": mcp.list,
  "mcp/get": mcp.get,
  "mcp/add": mcp.add,
  "mcp/remove": mcp.remove,
  "agent/acp": async (context) => (await import("./acp/serve.ts")).serve(context),
  "agent/relay": async (context) => (await import("./commands/relay.ts")).relay(context),
  "mcp/serve": async (context) => (await import("./mcp/serve.ts")).serve(context),
  "weblisk/serve": async (context) => (await import("./weblisk/serve.ts")).serve(context),
  "weblisk/grant": async (context) => (await import("./weblisk/serve.ts")).granted(context),
  "weblisk/register": async (context) => (await import("./weblisk/serve.ts")).register(context),
  "weblisk/task": async (context) => (await import("./weblisk/serve.ts")).task(context),
  "agent/doctor": async (context) => (await import("./commands/doctor.ts")).doctor(context),
  "config/list": config.list,
  "config/get": config.get,
  "config/set": config.set,
  "config/unset": config.unset,
  "daemon/run": daemon.run,
  "daemon/start": daemon.start,
  "daemon/stop": daemon.stop,
  "daemon/status": daemon.status,
  "daemon/upgrade": async (context) => (await import("./commands/upgrade.ts")).upgrade(context),
  "daemon/install": async (context) => (await import("./commands/install.ts")).install(context),
  "daemon/uninstall": async (context) => (await import("./commands/install.ts")).uninstall(context),
  "db/check": db.check,
  "db/rebuild": db.rebuild,
  "db/gc": db.gc,
  "db/export": db.exportLog,
  "cas/put": cas.put,
  "cas/get": cas.get,
  "cas/pin": cas.pin,
  "cas/unpin": cas.unpin,
  "cas/list": cas.list,
  "cas/gc": cas.gc,
  "proto/validate": async (context) => (await import("./commands/validate.ts")).validateEnvelopes(context),
  "event/validate": async (context) => (await import("./commands/validate.ts")).validateEvents(context),
  "agent/completion": async ({ call }) => ({
    ok: true,
    value: { text: (await import("./completion.ts")).SCRIPTS[call.args[0]!] },
  }),
  "agent/manifest": async (context) => (await import("./manifest.ts")).manifestFor(context),
  "agent/version": async () => ({ ok: true, value: { version: VERSION, node: process.versions.node } }),
};

/** Checks beyond the registry: mistakes between a command's flags and arguments. */
export const CHECKS: Checks = {
  "agent/spawn": spawnProblems,
  "jobs/submit": spawnProblems,
  "schedule/add": schedules.addProblems,
  "jobs/list": jobs.listProblems,
  "agent/acp": acpProblems,
  "weblisk/serve": serveProblems,
  "weblisk/grant": grantProblems,
  "weblisk/register": registerProblems,
  "weblisk/task": remoteTaskProblems,
  "peer/task": taskProblems,
  "cluster/init": cluster.databaseProblems,
  "cluster/join": cluster.joinProblems,
  "notify/resend": notify.resendProblems,
  "agent/dashboard": dashboard.dashboardProblems,
  "agent/resume": resume.resumeProblems,
  "agent/fork": resume.resumeProblems,
  "agent/kill": chosenProblems,
  "agent/restart": chosenProblems,
  "agent/pause": chosenProblems,
  "agent/unpause": chosenProblems,
  "agent/archive": chosenProblems,
  "agent/prune": care.pruneProblems,
  "agent/list": listProblems,
  "agent/send": messages.sendProblems,
  "agent/messages": messages.messagesProblems,
  "bb/post": blackboard.postProblems,
  "bb/watch": watchStreamProblems,
  "board/add": board.addProblems,
  "board/list": board.listProblems,
  "board/dispatch": board.dispatchProblems,
  "board/watch": watchStreamProblems,
  "bb/claim": blackboard.claimProblems,
  "bb/release": blackboard.releaseProblems,
  "mailbox/send": mailbox.sendProblems,
  "mailbox/reply": mailbox.replyProblems,
  "mailbox/poll": mailbox.pollProblems,
  "mailbox/ack": mailbox.tokenProblems,
  "mailbox/nack": mailbox.tokenProblems,
  "mailbox/extend": mailbox.tokenProblems,
  "mailbox/list": mailbox.listProblems,
  "skill/run": skills.runProblems,
  "skill/info": skills.nameProblems,
  "agent/capabilities": kindProblem,
  "mcp/list": kindProblem,
  "mcp/get": kindProblem,
  "mcp/add": kindProblem,
  "mcp/remove": kindProblem,
  "agent/init": initProblems,
  "agent/up": up.upProblems,
  "agent/diff": up.upProblems,
  "agent/down": up.downProblems,
  "agent/changes": changesProblems,
  "agent/watch": watchProblems,
  "agent/logs": logsProblems,
  "agent/search": searchProblems,
  "agent/usage": usageProblems,
  "identity/show": identity.identityProblems,
  "identity/rotate": identity.identityProblems,
  "identity/export": identity.identityProblems,
  "config/get": config.configProblems,
  "config/set": config.configProblems,
  "config/unset": config.configProblems,
  "daemon/run": daemon.httpProblems,
  "daemon/start": daemon.httpProblems,
  "daemon/stop": daemon.stopProblems,
  "db/export": db.exportProblems,
  "db/gc": db.gcProblems,
  "cas/get": cas.digestProblems,
  "cas/pin": cas.digestProblems,
  "cas/unpin": cas.digestProblems,
};

/** The check whose mistake decides the error code of a call (agent-event notes A.5, Precedence). */
export const GATES: Readonly<Record<string, (call: Call) => ErrorCode | undefined>> = {
  "agent/spawn": spawnGate,
  "jobs/submit": spawnGate,
  "schedule/add": schedules.addGate,
};

/** Checks of this machine, reported together with the mistakes of the call before anything is done. */
export const CONDITIONS: Readonly<
  Record<string, (call: Call, place: { readonly env: Env; readonly cwd: string }) => readonly HoldfastError[]>
> = {
  "agent/spawn": spawnConditions,
  "jobs/submit": spawnConditions,
  "schedule/add": schedules.addConditions,
  "agent/resume": resume.resumeConditions,
  "agent/fork": resume.resumeConditions,
};
