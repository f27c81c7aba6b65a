/** Names for a program that uses the runtime: types of what it gives and gets, errors, and how the log becomes events. */

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
export type { McpReply } from "../daemon/mcp.ts";
export type { AgentEvent } from "../protocol/agent-event.ts";
export type { AgentCompletion } from "../protocol/completion.ts";
export { type ErrorCode, HoldfastError } from "../protocol/errors.ts";
export type { IncarnationOutcome } from "../protocol/incarnation.ts";
export type {
  LogRecord,
  ModelUsage,
  RecordPayloads,
  RecordType,
  Usage,
  WorkerError,
} from "../protocol/records.ts";
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
  AnswerReply,
  AppliedReply,
  ApprovalsReply,
  ApprovedReply,
  ChangesReply,
  MessageReply,
  MessageRow,
  MessagesReply,
  OutputReply,
  PerWorker,
  SpawnReply,
  TreeChange,
  TreeNode,
  UsageReply,
  UsageRow,
  UsageSum,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "../runtime/replies.ts";
export type {
  Answer,
  Json,
  KillOptions,
  McpOptions,
  OpenOptions,
  RawOptions,
  RawSlice,
  ResumeOptions,
  SpawnOptions,
  WatchOptions,
} from "./options.ts";
