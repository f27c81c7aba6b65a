/** weblisk.txt, sentence by sentence (contract.ts says how). */
import type { Contract } from "./contract.ts";

const sentences: Contract["sentences"] = {
  "Wire Format": [
    {
      says: "ids are 32 hex digits, 16 random bytes",
      done: ["wireId", "weblisk/wire/ids"],
      held: ["reads 32 hex digits in any case, and a UUID; nothing else", "weblisk/wire/ids.unit"],
    },
    {
      says: "the content type is `application/json`, for requests and responses",
      done: ["checkBodyHeaders", "weblisk/wire/headers"],
      held: ["a body with the headers %j: %i", "weblisk/wire/headers.unit"],
    },
    {
      says: "a body has at most 1 MB",
      done: ["readBody", "weblisk/wire/body"],
      held: ["of one byte more is refused", "weblisk/wire/body.unit"],
    },
    {
      says: "the body of a task has at most 10 MB",
      done: ["routeOf", "weblisk/server/routes"],
      held: ["L2-04 a registration has at most 1 MiB, a task 10 MiB", "weblisk/server/wire.int"],
    },
    {
      says: "unknown fields are ignored, and preserved in passthrough",
      done: ["readAs", "weblisk/types/read"],
      held: [
        "every type has an example, which reads as itself with all members that it does not know",
        "weblisk/types/schemas.unit",
      ],
    },
    {
      says: "an orchestrator forwards unknown fields as they came",
      done: ["forwardedRequest", "weblisk/server/forwarded"],
      held: [
        "goes to its address as it came, with a token for this task alone, and its signed result comes back whole",
        "weblisk/server/forwarding.int",
      ],
    },
    {
      says: "the standard error codes have these statuses and categories",
      done: ["WEBLISK_CODES", "protocol/weblisk-errors"],
      held: ["Weblisk's %s has status %i and is %s", "protocol/errors.unit"],
    },
    {
      says: "a response is a success, or an error with `error`, `code`, `category` and `retryable`",
      done: ["answerOfRefusal", "weblisk/wire/refusal"],
      held: [
        "a refusal has a status, a category and a detail, and never a null",
        "weblisk/wire/headers.unit",
      ],
    },
    {
      says: "HTTP/1.1 and HTTP/2 are supported equally",
      done: ["secureServer", "weblisk/server/secure"],
      held: ["HTTP/2 is served, with several requests on one connection", "weblisk/server/secure.int"],
    },
    {
      says: "HTTP/3, and HTTP/2 without TLS, below `/v1`",
      open: "HTTP/1.1 is served, and HTTP/2 with TLS; a proxy before it speaks the others",
    },
    {
      says: "every request with a token names its sender, and none without it reaches a protected endpoint",
      done: ["AgentRegistry", "weblisk/server/registry"],
      held: ["L1-07 a protected endpoint takes the newest token alone", "weblisk/server/wire.int"],
    },
  ],
  Identity: [
    {
      says: "registration signs the manifest, as it arrived",
      done: ["profileOfMember", "weblisk/signing/operations"],
      held: [
        "a manifest is verified as it came: escapes, order, members that nobody knows",
        "weblisk/signing/operations.unit",
      ],
    },
    {
      says: "results, messages, grants and handshakes sign these members, in this order",
      done: ["signedBy", "weblisk/signing/operations"],
      held: [
        "covers the members of the document, in its order, and no others",
        "weblisk/signing/operations.unit",
      ],
    },
    {
      says: "a WLT has this header and these claims; an unknown `alg` is rejected",
      done: ["readToken", "weblisk/signing/tokens"],
      held: ["of another algorithm, type, issuer or form is refused", "weblisk/signing/tokens.unit"],
    },
    {
      says: "a token lives 24 hours for an agent, 1 for a channel, 72 for a federated hub",
      done: ["TOKEN_LIFETIMES_S", "weblisk/signing/tokens"],
      held: ["lifetimes are those of the document", "weblisk/signing/tokens.unit"],
    },
    {
      says: "registering again renews a token, which an agent has for its capabilities",
      done: ["AgentRegistry", "weblisk/server/registry"],
      held: [
        "a registration gives no rights; rights that are taken away are gone at once",
        "cli/weblisk/serve.e2e",
      ],
    },
    {
      says: "a channel grant authorises one agent to send messages to one other, for an hour",
      done: ["Channels", "weblisk/server/channels"],
      held: [
        "L2-03 a channel's token opens the agent of the channel for an hour, and no other",
        "weblisk/server/wire.int",
      ],
    },
    {
      says: "a message is checked by its sender's key, and its answer signed",
      done: ["answerMessage", "weblisk/server/messages"],
      held: [
        "L1-08 a message is answered in the agent's name, and signed; L2-01 one that is forged is refused",
        "weblisk/server/wire.int",
      ],
    },
    {
      says: "a result elsewhere counts if its agent has signed it, so that it cannot deny it",
      done: ["provenResult", "weblisk/client/steps"],
      held: [
        "one of a key that is not the first that was seen; new keys are taken when a person says so",
        "weblisk/client/remote-task.int",
      ],
    },
    {
      says: "another key for a name is signed by both keys",
      done: ["unsignedKeyOf", "weblisk/identity/rotation"],
      held: [
        "gives the name and its rights to the new key; the old key, its token and its channels are gone",
        "weblisk/server/endpoints.int",
      ],
    },
    {
      says: "a timestamp over 300 seconds from now is rejected",
      done: ["checkTimestamp", "weblisk/signing/replay"],
      held: [
        "%i seconds from now is refused, and the sentence names the timestamp",
        "weblisk/signing/replay.unit",
      ],
    },
  ],
  "Canonical Types": [
    {
      says: "each core type has these fields",
      done: ["WEBLISK_TYPES", "weblisk/types/schemas"],
      held: ["has every field of the document", "weblisk/types/schemas.unit"],
    },
    {
      says: "optional fields are omitted and lists are never null",
      done: ["wireJson", "weblisk/wire/body"],
      held: [
        "is written without a null at any depth, and its values as canonical JSON",
        "weblisk/wire/body.unit",
      ],
    },
    {
      says: "a task runs on an agent, which signs its result",
      done: ["resultOf", "weblisk/server/results"],
      held: ["a task is a worker, whose result its agent signs", "cli/weblisk/serve.e2e"],
    },
    {
      says: "a result may be `pending_approval`: it has recommendations that a human approves before execution",
      done: ["ApprovalDesk", "weblisk/server/approvals"],
      held: [
        "a task waits for its approval, which one with the right gives over HTTP, and ends",
        "cli/weblisk/approve.e2e",
      ],
    },
    {
      says: "a strategy, a context and observations of an orchestrator",
      open: "the document names no type for them, and nothing here is one: 404 with `not_served`",
    },
  ],
  Federation: [
    {
      says: "anybody reaches health and the listing; a task on a shared capability needs the tier known",
      done: ["taskTier", "control/federation/access"],
      held: ["anybody reaches health and listing, and no task", "control/federation/registry.unit"],
    },
    {
      says: "a delegate is verified, and has a grant by an administrator",
      done: ["decideTrust", "control/federation/registry"],
      held: [
        "is trusted by the operator alone, and only once it is verified",
        "control/federation/registry.unit",
      ],
    },
    {
      says: "the handshake exchanges signed declarations, within five minutes of now",
      done: ["checkDeclaration", "weblisk/federation/declarations"],
      held: ["a declaration %s", "weblisk/federation/hubs.int"],
    },
    {
      says: "both hubs store each other, and have tokens of 72 hours",
      done: ["FederationGateway", "weblisk/federation/gateway"],
      held: [
        "makes both hubs known to each other, each with the key of the other and a token of 72 hours",
        "weblisk/federation/hubs.int",
      ],
    },
    {
      says: "internal agents are invisible to a peer",
      done: ["answerOf", "weblisk/federation/answers"],
      held: ["is done by an agent of the other hub, which stays out of sight", "weblisk/federation/hubs.int"],
    },
    {
      says: "revocation terminates what a peer has at work",
      done: ["FederationGateway", "weblisk/federation/gateway"],
      held: [
        "a revocation kills the worker in its middle; the task has no answer, and the other hub is refused",
        "cli/weblisk/federation.e2e",
      ],
    },
    {
      says: "after the handshake a peer is known",
      done: ["decideMeet", "control/federation/registry"],
      held: ["is anonymous until the handshake, then known", "control/federation/registry.unit"],
    },
    {
      says: "after a threshold of behaviour a peer is verified",
      done: ["judged", "control/federation/fingerprint"],
      held: ["verifies after enough good tasks and time, and not before", "control/federation/registry.unit"],
    },
    {
      says: "boundary rules strip fields before they cross",
      done: ["crossing", "weblisk/federation/boundary"],
      held: ["a value under a denied name never crosses, at any depth", "weblisk/federation/boundary.unit"],
    },
    {
      says: "a payload has at most the agreed size",
      done: ["crossing", "weblisk/federation/boundary"],
      held: ["measures what is left", "weblisk/federation/boundary.unit"],
    },
    {
      says: "a peer asks at most as often as agreed",
      done: ["decideAdmit", "control/federation/tasks"],
      held: [
        "takes 100 requests in an hour, refuses number 101, and slides",
        "control/federation/tasks.unit",
      ],
    },
    {
      says: "only capabilities that are shared can be asked for",
      done: ["decideAdmit", "control/federation/tasks"],
      held: ["shares what was agreed, and nothing else", "control/federation/tasks.unit"],
    },
    {
      says: "each request is logged with peer, capability and fields",
      done: ["auditOf", "control/federation/trail"],
      held: [
        "a task that arrives twice, across a crash, is admitted and settled once",
        "runtime/control/peers.int",
      ],
    },
    {
      says: "revocation removes the peer at once",
      done: ["decideRevoke", "control/federation/registry"],
      held: ["a revoked peer is gone, and so are the workers of its tasks", "runtime/control/peers.int"],
    },
    {
      says: "trust is not transitive",
      done: ["decideAdmit", "control/federation/tasks"],
      held: [
        "hands no trust on: a hub is answered by those alone that agreed with it, in no other's name",
        "control/federation/tasks.unit",
      ],
    },
  ],
};

export const WEBLISK: Contract = {
  title: "Weblisk: wire, identity, types and federation",
  intro: "",
  sentences,
  deviations: [
    "An inbound null reads as absent, since clients of other vintages send it.",
    "`signature_jcs` beside `signature` is an addition: a peer that signs canonical JSON verifies it ([0064](../decisions/0064-two-signing-profiles.md)).",
    "An integer beyond 2^53 - 1 is refused, because implementations read different values.",
    "An event goes into a mailbox of this machine, and is forwarded to no agent elsewhere ([0069](../decisions/0069-rights-beside-tasks.md)).",
    "The audit over HTTP is the trail of federation, oldest first, as its chain is checked ([0069](../decisions/0069-rights-beside-tasks.md)).",
    "Changes of behaviour (`federation/notify`) are not served yet.",
    "A token has the capabilities of the manifest that a person has granted, and not all of them ([0067](../decisions/0067-weblisk-server.md)).",
    "A hub's declaration needs `signature_full` over all its members, beside the document's `signature` ([0068](../decisions/0068-federation-gateway.md)).",
  ],
};
