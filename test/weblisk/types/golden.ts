/** One whole example of each canonical type. */
const id = "0123456789abcdef0123456789abcdef";
const key = "ab".repeat(32);
const signature = "cd".repeat(64);
const at = 1_713_264_000;
const capability = { name: "file:read", resources: ["app/**/*.html"] };
const io = { name: "files", type: "file_list", description: "the pages" };
const manifest = {
  name: "seo-analyzer",
  type: "agent",
  version: "1.0.0",
  description: "Reads pages.",
  url: "http://127.0.0.1:9710",
  public_key: key,
  capabilities: [capability],
  inputs: [io],
  outputs: [io],
  collaborators: ["a11y"],
  approval: "required",
  max_concurrent: 2,
};
const entry = {
  name: "seo-analyzer",
  url: manifest.url,
  type: "agent",
  public_key: key,
  capabilities: [capability],
  status: "online",
};
const directory = { agents: [entry] };
const context = { workspace_root: "/srv/site", services: directory, entity: { tone: "plain" }, trace_id: id };
const finding = {
  rule_id: "title",
  severity: "warning",
  element: "title",
  current: "a",
  expected: "b",
  message: "Short.",
  fixable: true,
};
const observation = {
  id,
  agent_name: "seo-analyzer",
  target: "index.html",
  timestamp: at,
  measurements: { words: 3 },
  findings: [finding],
};
const recommendation = {
  id,
  agent_name: "seo-analyzer",
  target: "index.html",
  action: "modify",
  element: "title",
  current: "a",
  proposed: "b",
  reason: "Short.",
  priority: "high",
  impact: "more",
  status: "pending",
  created_at: at,
};
const change = { path: "index.html", action: "modify", original: "a", modified: "b" };
const event = {
  event_id: id,
  topic: "task.done.all",
  source: "seo-analyzer",
  scope: "*",
  timestamp: at,
  version: "1",
  payload: {},
};

export const golden = {
  AgentManifest: manifest,
  AgentMessage: { id, from: "a", to: "b", type: "request", action: "ping", payload: { n: 1 }, timestamp: at },
  ApprovalRequest: { recommendation_ids: [id], decision: "reject", reason: "No." },
  ApprovalResponse: {
    updated: 1,
    results: [{ recommendation_id: id, previous_status: "pending", new_status: "rejected" }],
  },
  AuditEntry: {
    id,
    timestamp: at,
    actor: "a",
    action: "register",
    target: "a",
    detail: "",
    status: "ok",
    previous_hash: "0".repeat(64),
  },
  Capability: capability,
  ChannelGrant: { channel_id: id, agents: ["a", "b"], token: "t", expires: at, signature },
  ChannelRequest: { from_agent: "a", to_agent: "b", purpose: "talk" },
  DeadLetterEntry: {
    original_event: event,
    failure_reason: "TIMEOUT",
    last_error: "late",
    attempts: 3,
    first_attempt: at,
    last_attempt: at,
    subscriber: "b",
  },
  ErrorResponse: {
    error: "forwarding to agent failed",
    code: "AGENT_UNREACHABLE",
    category: "transient",
    retryable: true,
    detail: { reason: "refused" },
  },
  EventEnvelope: event,
  Finding: finding,
  HealthStatus: {
    name: "orchestrator",
    version: "1.0.0",
    status: "healthy",
    uptime_seconds: 3,
    metrics: { agents: 1 },
  },
  IOSpec: io,
  Observation: observation,
  ProposedChange: change,
  Recommendation: recommendation,
  RegisterRequest: { manifest, signature, timestamp: at },
  RegisterResponse: { agent_id: id, token: "t", expires_at: at, services: directory },
  RouteEntry: { agent: "a", url: "http://a", scope: "*" },
  ServiceDirectory: directory,
  ServiceEntry: entry,
  Subscription: { pattern: "task.#", scope: "self", max_concurrent: 5 },
  TaskContext: context,
  TaskRequest: { id, token: "t", context, inputs: { prompt: "x" }, priority: "high", deadline: at },
  TaskResult: {
    task_id: id,
    status: "success",
    output: { text: "done" },
    changes: [change],
    observations: [observation],
    recommendations: [recommendation],
    signature,
    duration_ms: 12,
  },
} as const;
