/** Exports for programs that use the runtime: the types of arguments and results, errors, and the conversion of the log to events. */

export type {
  AgentAdapter,
  Decoded,
  DecodedRecord,
  ExitFacts,
  KindOptions,
  LaunchPlan,
  Line,
  MessageProtocol,
  PlanContext,
  SpoolName,
  StdinPlan,
} from "../adapters/adapter.ts";
export type { OpenSource, Source } from "../adapters/source.ts";
export type {
  LaunchRequest,
  LivingRun,
  ObservedRun,
  ObserveRequest,
  Run,
  RunId,
  RunInput,
  RuntimeAbility,
  RuntimeSpawner,
  SignalReport,
} from "../adapters/spawner.ts";
export type { RuntimeHome } from "../adapters/user-runtimes.ts";
export type { McpReply } from "../daemon/mcp.ts";
export type { AgentEngine, EngineRun } from "../engine/engine.ts";
export { type FunctionTool, functionTool } from "../engine/functions.ts";
export type { Model, ModelPart, ModelRequest } from "../engine/model.ts";
export type { ToolContext } from "../engine/tools.ts";
export type { AgentCompletion } from "../protocol/completion.ts";
export { type ErrorCode, HoldfastError } from "../protocol/errors.ts";
export type { IncarnationOutcome, RunExit } from "../protocol/incarnation.ts";
export type {
  ModelUsage,
  RecordPayloads,
  Usage,
  WorkerError,
} from "../protocol/records.ts";
export type {
  ClaimReply,
  ItemsReply,
  ItemView,
  PostReply,
  ReleaseReply,
} from "../protocol/replies/blackboard.ts";
export type {
  BoardReply,
  CardInfo,
  CardMoved,
  CardsAdded,
  CardView,
  DispatcherView,
  DispatchSet,
} from "../protocol/replies/board.ts";
export type { KeptWorker, PrunedWorker, PruneReply, RenameReply } from "../protocol/replies/care.ts";
export type { ElsewherePage, ElsewhereWorker } from "../protocol/replies/cluster.ts";
export type { JobResult, JobsReply, JobView, SubmittedJob } from "../protocol/replies/jobs.ts";
export type {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailListReply,
  MailPollReply,
  MailSentReply,
  MailView,
  PolledMail,
} from "../protocol/replies/mail.ts";
export type {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleLine,
  ScheduleRunReply,
  ScheduleRunView,
  SchedulesReply,
  ScheduleView,
} from "../protocol/replies/schedules.ts";
export type { SearchHit, SearchReply } from "../protocol/replies/search.ts";
export type { SkillAnswer, SkillsReply, SkillView } from "../protocol/replies/skills.ts";
export type { SpawnedAgent, SpawnManyReply } from "../protocol/replies/spawn-many.ts";
export type { TokenChange, TokensReply, TokenView } from "../protocol/replies/tokens.ts";
export { EventStreams } from "../protocol/run-events/append.ts";
export { dedupeKey, type StreamEvent, type WorkerEvent } from "../protocol/run-events/events.ts";
export {
  projectRun,
  type RunState,
  type WorkerProjection,
  WorkerProjections,
} from "../protocol/run-events/project.ts";
export { mayFollow, type RunStatus } from "../protocol/run-events/statuses.ts";
export type { TreeSpecInput } from "../protocol/tree.ts";
export type { WorkerSpec, WorkerState, WorkerStatus } from "../protocol/worker.ts";
export type {
  Answered,
  AnswerReply,
  AppliedReply,
  ApprovalsReply,
  ApprovalView,
  ApprovedReply,
  ChangesReply,
  CheckReport,
  GcReport,
  HoldView,
  InboxReply,
  KindView,
  MessageReply,
  MessageRow,
  MessagesReply,
  OutputReply,
  PerWorker,
  RuntimeStatus,
  SpawnReply,
  TreeChange,
  TreeNode,
  TreeSupervisor,
  TreeWorker,
  UsageReply,
  UsageRow,
  UsageSum,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "../runtime/replies.ts";
export type { HoldAnswerOptions } from "./answers.ts";
export type { ElsewhereOptions } from "./elsewhere-options.ts";
export type { EngineHooks, EngineOptions } from "./engine-runtime.ts";
export type {
  AgentEvent,
  DaemonRecord,
  ErrorEvent,
  EventKind,
  LogRecord,
  RecordType,
  StatusEvent,
  TextOutputEvent,
  ToolCallEvent,
  ToolData,
  ToolFacet,
  ToolResultEvent,
  TreeRecord,
  UnknownEvent,
  WorkerRecord,
} from "./events.ts";
export type { ConnectHostsOptions, HostFailure, HostRecord, HostsReply, HostsWatchOptions } from "./hosts.ts";
export type { Json } from "./json.ts";
export type {
  AgentSpawnOptions,
  Answer,
  ApproveOptions,
  BlackboardWatchOptions,
  BoardOptions,
  BoardWatchOptions,
  CardMoveOptions,
  CardOptions,
  CardsOptions,
  ClaimOptions,
  CommandSpawnOptions,
  ConnectOptions,
  DispatchOptions,
  ItemsOptions,
  JobOptions,
  KillOptions,
  ListOptions,
  McpOptions,
  NextTimesOptions,
  OpenOptions,
  OpenOrConnectOptions,
  PageOptions,
  PostOptions,
  PruneOptions,
  RawOptions,
  RawSlice,
  ReleaseOptions,
  ResumeOptions,
  RetentionOptions,
  ScheduleOptions,
  ScheduleTimes,
  SearchOptions,
  SkillRunOptions,
  SpawnManyOptions,
  SpawnOptions,
  TokenOptions,
  UsageOptions,
} from "./options.ts";
export type {
  AbortOptions,
  ApprovalAnswer,
  ApprovalsOptions,
  ApprovalsWatchOptions,
  AskOptions,
  EventsOptions,
  OnApproval,
  RunOptions,
  SendOptions,
  WaitOptions,
  WatchOptions,
} from "./run-options.ts";
export { SSE_TYPE, type SseOptions, toSSE } from "./sse.ts";
export type { JsonSchemaForm, ObjectOf, OutputForm, StandardForm } from "./structured.ts";
export {
  type ApplyTreeOptions,
  type SupervisorDefinition,
  type SupervisorOptions,
  supervisor,
  type TreeDefinition,
  type TreeWorkerOptions,
  type WorkerDefinition,
  worker,
} from "./trees.ts";
export type { RunResult } from "./worker.ts";
