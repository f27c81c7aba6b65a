/** protocol-v1.txt, sentence by sentence (contract.ts says how). */
import type { Contract } from "./contract.ts";

const sentences: Contract["sentences"] = {
  "Envelope shape": [
    {
      says: "`version` 1, `status`, `command`, `data`, `meta`, `error`, always all of them",
      done: ["EnvelopeV1", "protocol/envelope-schemas"],
      held: ["of a success has all members, with nulls for its error", "protocol/envelope-v1.unit"],
    },
    {
      says: "every answer, success or failure, has the same envelope",
      done: ["terminalEnvelope", "protocol/envelope-v1"],
      held: ["of %s is valid", "protocol/envelope-v1.unit"],
    },
    {
      says: "what is no envelope is told from one",
      done: ["EnvelopeV1", "protocol/envelope-schemas"],
      held: ["a value that is no envelope", "protocol/envelope-v1.unit"],
    },
  ],
  version: [
    {
      says: "MUST be 1",
      done: ["SHARED_RULES", "protocol/validate/shared-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
  ],
  status: [
    {
      says: "ok, error or progress",
      done: ["SHARED_RULES", "protocol/validate/shared-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
  ],
  command: [
    {
      says: "matches `namespace/verb`, in lower case, digits and hyphens",
      done: ["Command", "protocol/envelope-schemas"],
      held: ["has a handler, an output schema and a valid Protocol v1 name", "cli/registry.unit"],
    },
    {
      says: "so for any command",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
  ],
  data: [
    {
      says: "what is over 32 KB moves to an artifact, the envelope has its summary and digest",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["is passed as it is, the same object, up to 32 KB of data", "protocol/artifactize.unit"],
    },
    {
      says: "the same, over the socket",
      done: ["RequestsInFlight", "daemon/requests-in-flight"],
      held: [
        "is in an artifact, of which the answer has the summary, and others are answered meanwhile",
        "daemon/connection.int",
      ],
    },
    {
      says: "the same, on stdout",
      done: ["execute", "cli/execute"],
      held: ["over 32 KB is a summary, a digest and the artifact", "cli/artifacts.int"],
    },
  ],
  meta: [
    {
      says: "`ts` MUST be present, in RFC 3339 and UTC; `duration_ms` is a whole number from 0",
      done: ["metaOf", "protocol/envelope-v1"],
      held: ["has a duration that is a whole number, never below 0", "protocol/envelope-v1.unit"],
    },
    {
      says: "the same of any envelope",
      done: ["SHARED_RULES", "protocol/validate/shared-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`runner` is wasi, exec, oci or null, where somebody sets it",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`workspace` is a sanitized absolute path, and canonical, where somebody sets it",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "our own envelopes set `runner`, `workspace`, `skill_version` and `final` where they apply",
      done: ["RunMeta", "protocol/outcome"],
      held: ["says in its meta how a skill made it, and gives that back", "protocol/envelope-v1.unit"],
    },
    {
      says: "`job_id` is a ULID",
      open: "judged as text alone, since fixtures of the originals have other ids; there are no jobs to set it",
    },
    {
      says: "`trace_id` is repeated",
      done: ["metaOf", "protocol/envelope-v1"],
      held: ["repeats the trace id, and names a request that gave no id", "daemon/connection.int"],
    },
    {
      says: "`profiles` names the active profiles: those of which each reserved command has a handler",
      done: ["profilesOf", "protocol/profiles"],
      held: [
        "the declared profiles are those that the daemon's handlers are enough for",
        "protocol/profiles.unit",
      ],
    },
    {
      says: "`source` is run, cache or memory",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "a cache hit has the `source` cache and its `cache_key`",
      done: ["terminalEnvelope", "protocol/envelope-v1"],
      held: [
        "comes from the cache in ndjson where its etag is told, and from a run where it is not",
        "cli/envelope.int",
      ],
    },
    {
      says: "`cas_digest` matches `data.artifact`",
      done: ["digestIn", "protocol/envelope-v1"],
      held: ["over 32 KB is a summary, a digest and the artifact", "cli/artifacts.int"],
    },
    {
      says: "the same of any envelope that has it",
      done: ["SHARED_RULES", "protocol/validate/shared-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`skill_version` and `cache_key` are text, where somebody sets them",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`seq`, on a stream alone, counts from 0",
      done: ["STREAM_RULES", "protocol/validate/stream-rules"],
      held: ["on streams", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`final` marks the last progress, and no terminal line (judged; we set none)",
      done: ["STREAM_RULES", "protocol/validate/stream-rules"],
      held: [
        "a terminal line that is marked as the last progress is refused",
        "protocol/validate/spec-rules.unit",
      ],
    },
  ],
  error: [
    {
      says: "present on success too, with nulls",
      done: ["okEnvelope", "protocol/envelope-v1"],
      held: ["of a success has all members, with nulls for its error", "protocol/envelope-v1.unit"],
    },
    {
      says: "`code` is of the catalogue, `message` is for people, `details` is optional and an object",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
  ],
  "Status rules": [
    {
      says: "ok: code and message are null; error: both are there; progress: `meta.seq`",
      done: ["EnvelopeV1", "protocol/envelope-schemas"],
      held: ["of %s is valid", "protocol/envelope-v1.unit"],
    },
    {
      says: "the same of any envelope",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`meta.seq` rises",
      done: ["STREAM_RULES", "protocol/validate/stream-rules"],
      held: ["on streams", "protocol/validate/fuzz.unit"],
    },
  ],
  Streaming: [
    {
      says: "each line is a complete envelope, and lines end with a newline",
      done: ["encodeEnvelope", "protocol/envelope-v1"],
      held: ["is one line, whatever is in it", "protocol/envelope-v1.unit"],
    },
    {
      says: "any number of progress lines, then exactly one terminal line",
      done: ["envelopeStream", "protocol/envelope-v1"],
      held: [
        "counts progress from 0 without a gap, then ends with exactly one terminal envelope",
        "protocol/envelope-v1.unit",
      ],
    },
    {
      says: "nothing follows the terminal line",
      done: ["envelopeStream", "protocol/envelope-v1"],
      held: ["lets nothing follow the terminal envelope", "protocol/envelope-v1.unit"],
    },
    {
      says: "the same, over the socket",
      done: ["watch", "daemon/handlers/watch"],
      held: [
        "sends each record from the cursor as progress numbered from 0, then where to go on",
        "daemon/connection.int",
      ],
    },
    {
      says: "the same, on stdout",
      done: ["ndjsonRenderer", "cli/render/ndjson"],
      held: ["is progress from seq 0 and then exactly one terminal envelope for a stream", "cli/run.int"],
    },
    {
      says: "the same of any stream: `seq` from 0 and rising, percent never falling, one terminal line, nothing after it",
      done: ["makeStreamValidator", "protocol/validate/stream"],
      held: ["checks the lines of a stream against each other", "cli/commands/validate.int"],
    },
    {
      says: "progress payloads are small",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["of a stream is in an artifact too, at its place between the others", "daemon/connection.int"],
    },
    {
      says: "progress holds no secrets (docs/reference/secrets.md: what is found, and what is not)",
      done: ["redactText", "protocol/redact"],
      held: ["%s: agent %j tells none", "cli/redaction.e2e"],
    },
  ],
  Artifactization: [
    {
      says: "over the inline threshold, 32 KB, `data` is a summary and a digest",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["is passed as it is, the same object, up to 32 KB of data", "protocol/artifactize.unit"],
    },
    {
      says: "it is measured as it stands in the envelope",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["is measured as it will stand in its envelope", "protocol/artifactize.unit"],
    },
    {
      says: "the digest is `sha256:` of the content, which comes back whole",
      done: ["openArtifacts", "store/cas/store"],
      held: [
        "has the digest of its bytes, and is a file of its owner alone in two levels of directories",
        "store/cas/store.int",
      ],
    },
    {
      says: "what we print and send is held to it, each answer to what its reader asked for",
      done: ["makeAnswersCheck", "protocol/validate/envelope-check"],
      held: [
        "may be as large as its request asked for, and no other's",
        "protocol/validate/envelope-check.unit",
      ],
    },
    {
      says: "MUST be artifactized, always",
      done: ["artifactizer", "protocol/artifactize"],
      open: "a result that cannot be kept, on a full disk say, is sent whole and says so ([0026](../decisions/0026-artifacts.md))",
    },
  ],
  "Summary requirements": [
    {
      says: "`size_bytes`, `kind` and `preview` MUST be there; `record_count` of a list",
      done: ["summaryOfJson", "protocol/summary"],
      held: ["gives its data back from the artifact, whole", "protocol/artifactize.unit"],
    },
    {
      says: "the same of any envelope that has a summary",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "`kind` is a MIME type",
      done: ["summaryOfBytes", "protocol/summary"],
      held: [
        "of bytes is the beginning of a text, and nothing where they are no text",
        "protocol/artifactize.unit",
      ],
    },
    {
      says: "pagination metadata: `has_more`, `total_items`, and the cursor of the next page",
      done: ["summaryOfJson", "protocol/summary"],
      held: ["that is a page of a list still says how to have the next one", "protocol/artifactize.unit"],
    },
    {
      says: "HTTP responses: `status_code`, `headers`",
      done: ["summaryOfJson", "protocol/summary"],
      held: [
        "of an HTTP server keeps its status, headers and pages in the summary of its artifact",
        "protocol/artifactize.unit",
      ],
    },
  ],
  "Preview bounds": [
    {
      says: "under 1 KB; the first, not random ones; the same each time",
      done: ["summaryOfJson", "protocol/summary"],
      held: ["is under 1 KB and the same each time, whatever it is of", "protocol/artifactize.unit"],
    },
    {
      says: "no sensitive data",
      done: ["summaryOfBytes", "protocol/summary"],
      held: ["never shows a part of a secret", "protocol/artifactize.unit"],
    },
  ],
  "Error catalog": [
    {
      says: "every error has one of its codes",
      done: ["ERROR_CATALOGUE", "protocol/errors"],
      held: ["is written in capitals and has a code of Protocol v1", "protocol/errors.unit"],
    },
    {
      says: "the same of any envelope",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "each code says what the caller is to do",
      done: ["ERROR_CATALOGUE", "protocol/errors"],
      held: ["tells the next step in one sentence", "protocol/errors.unit"],
    },
    {
      says: "EARG: see `error.details` or `data.hint`",
      done: ["errorEnvelope", "protocol/envelope-v1"],
      held: [
        "of a failure has the code of Protocol v1, the catalogue's own in details, and a hint",
        "protocol/envelope-v1.unit",
      ],
    },
    {
      says: "EAUTH: credentials, the agent's too",
      done: ["failureCode", "protocol/worker-failure"],
      held: ["ends with its code and its exit code: %s", "cli/why-it-failed.e2e"],
    },
    {
      says: "ERATELIMIT: wait until it is reset; lower the rate",
      done: ["failureCode", "protocol/worker-failure"],
      held: ["ends with its code and its exit code: %s", "cli/why-it-failed.e2e"],
    },
    {
      says: "EPAGINATION, EOPENAPI",
      done: ["httpOpenapi", "skills/builtin/http-openapi"],
      held: ["not: EPAGINATION with %s", "skills/builtin/http-openapi.int"],
    },
    {
      says: "EPARSE: bytes that are no JSON or no UTF-8, and hostile ones",
      done: ["readJson", "protocol/validate/json"],
      held: ["hostile input ends, within the bounds", "protocol/validate/json.unit"],
    },
    {
      says: "a request of any bytes is answered with a valid envelope, and nothing throws",
      done: ["parseRequest", "daemon/request"],
      held: [
        "of any kind is a request, or an error in a valid envelope that says what to do; and never throws",
        "daemon/fuzz.unit",
      ],
    },
    {
      says: "EOUTPUT_TOO_LARGE: over the capture limit",
      done: ["execute", "cli/execute"],
      held: ["over the capture limit is EOUTPUT_TOO_LARGE, with what to do", "cli/artifacts.int"],
    },
    {
      says: "EENVELOPE: what is no request is told so",
      done: ["parseRequest", "daemon/request"],
      held: ["refuses bad JSON, an unknown command and bad data, and goes on", "daemon/connection.int"],
    },
    {
      says: "ENOTFOUND: what is named is not there",
      done: ["artifactError", "store/cas/failure"],
      held: ["fails with one terminal envelope of Protocol v1", "cli/failures.int"],
    },
    {
      says: "ECANCELED: the user stopped it",
      done: ["RequestsInFlight", "daemon/requests-in-flight"],
      held: ["cancels a request by its id, and says when there is none", "daemon/connection.int"],
    },
    {
      says: "ERUNTIME, ETIMEOUT, EPOLICY, ESKILLDOWN, EIO and the others: each is given by some error",
      done: ["ERROR_CATALOGUE", "protocol/errors"],
      held: ["every code of Protocol v1 is that of some error", "protocol/errors.unit"],
    },
  ],
  "Retry transparency": [
    {
      says: "`attempts`, `backoff` and `retry_after` in the details",
      done: ["detailsOf", "protocol/envelope-v1"],
      held: ["gives back the error that went in", "protocol/envelope-v1.unit"],
    },
    {
      says: "wherever we try again",
      done: ["afterTries", "protocol/errors"],
      held: ["an error after some tries says how many, and how they were spaced", "protocol/errors.unit"],
    },
    {
      says: "the restarts of a worker too, and the wait for its provider's limit",
      done: ["waitOf", "runtime/reading/waited"],
      held: [
        "and was restarted until the window was spent ends a wait with SUPERVISOR_GAVE_UP and 12, with the tries and the cause",
        "cli/why-it-failed.e2e",
      ],
    },
  ],
  "Reserved commands": [
    {
      says: "agent: spawn, restart, kill, send, watch",
      done: ["Requests", "protocol/requests"],
      held: [
        "every contract and every request has a JSON Schema of draft 2020-12",
        "protocol/json-schemas.unit",
      ],
    },
    {
      says: "skill commands: `fs/ls`, `fs/read`, `text/grep`, `todo/manage`",
      done: ["SKILLS", "daemon/handlers/skills"],
      held: [
        "each request has a handler, and each that takes an idempotency key has somebody who keeps it",
        "daemon/handlers.unit",
      ],
    },
    {
      says: "skill command: `http/openapi`",
      done: ["httpOpenapi", "skills/builtin/http-openapi"],
      held: [
        "calls the server that its caller names, follows its pages, and tells no secret",
        "skills/network.e2e",
      ],
    },
    {
      says: "`plugin/auth`, `plugin/pagination`",
      done: ["BUILTINS", "skills/builtin/index"],
      held: [
        "the declared profiles are those that the daemon's handlers are enough for",
        "protocol/profiles.unit",
      ],
    },
    {
      says: "`jobs/submit`, `tail`, `info`, `cancel`",
      done: ["JOBS", "daemon/handlers/jobs"],
      held: [
        "its steps are progress envelopes, the last one final, and then comes the job",
        "cli/commands/jobs.e2e",
      ],
    },
    {
      says: "`bb/post`, `watch`, `search`, `claim`, `release`",
      done: ["BLACKBOARD", "daemon/handlers/blackboard"],
      held: [
        "an item is posted, found, claimed, extended and done, and each refusal says what to do",
        "cli/blackboard.e2e",
      ],
    },
    {
      says: "`board/*`, cards of the orchestration (notes 2.7): states, lanes, checked moves, retries by code",
      done: ["BOARDS", "daemon/handlers/boards"],
      held: [
        "a card runs only as one worker at a time, each try has a key of its own, and what is done stays so",
        "control/board/decide.unit",
      ],
    },
    {
      says: "`mailbox/*`, of the profile agent/v1: at least once, in order, under leases",
      done: ["MailboxRequests", "protocol/mailbox-requests"],
      held: [
        "does what a simple model does, whatever is asked and however time goes",
        "control/mailbox/box.unit",
      ],
    },
  ],
  "Vocabulary rules": [
    {
      says: "`namespace/verb[-noun]`, lower case, digits and hyphens",
      done: ["COMMANDS", "commands/commands"],
      held: ["has a handler, an output schema and a valid Protocol v1 name", "cli/registry.unit"],
    },
    {
      says: "what is no command of ours is answered, in the same shape",
      done: ["parseRequest", "daemon/request"],
      held: ["refuses bad JSON, an unknown command and bad data, and goes on", "daemon/connection.int"],
    },
    {
      says: "custom skills may define commands",
      done: ["SkillManifest", "skills/manifest"],
      held: [
        "has no network, no secrets and no state, and reads the workspace, unless it says otherwise",
        "skills/manifest.unit",
      ],
    },
  ],
  "Versioning and compatibility": [
    {
      says: "the version is 1; another is refused",
      done: ["hello", "daemon/handlers/hello"],
      held: [
        "shakes hands: what it speaks, its commands and bounds; and refuses a version or a profile that it has not",
        "daemon/connection.int",
      ],
    },
    {
      says: "a breaking change needs another major version",
      apart: "a rule for who changes the document",
    },
    {
      says: "optional fields may be added",
      done: ["EnvelopeV1", "protocol/envelope-schemas"],
      held: ["a field that a later version adds is let pass", "protocol/envelope-v1.unit"],
    },
    {
      says: "profiles are asked for in the handshake, and one that is not whole is refused",
      done: ["hello", "daemon/handlers/hello"],
      held: [
        "shakes hands: what it speaks, its commands and bounds; and refuses a version or a profile that it has not",
        "daemon/connection.int",
      ],
    },
  ],
  "Security invariants": [
    {
      says: "secrets are `***` in error messages",
      done: ["redactError", "protocol/redact"],
      held: ["%s: agent %j tells none", "cli/redaction.e2e"],
    },
    {
      says: "in terminal `data`, of a failure too",
      done: ["redactOutcome", "protocol/redact"],
      held: [
        "the log and what is made from it have none, and the product's own validator takes all that it prints",
        "cli/redaction.e2e",
      ],
    },
    {
      says: "in names, which are refused",
      done: ["isTellable", "protocol/redact"],
      held: ["a name that looks like a secret is refused, before anything is started", "cli/redaction.e2e"],
    },
    {
      says: "in logs, and in data that is streamed, where it is taken in: by form, and by the name before it",
      done: ["redactText", "protocol/redact"],
      held: ["masks %s whatever stands before it, and keeps that", "protocol/redact.unit"],
    },
    {
      says: "and each value that is known",
      done: ["makeRedactor", "protocol/redact"],
      held: ["never lets a known value through, whatever stands around it", "protocol/redact.unit"],
    },
    {
      says: "a secret that is reversed, split, encrypted, or printed in pieces",
      open: "it is not found (docs/reference/secrets.md)",
    },
    {
      says: "in dry runs",
      done: ["redactOutcome", "protocol/redact"],
      held: ["%s: agent %j tells none", "cli/redaction.e2e"],
    },
    {
      says: "in artifacts",
      done: ["keptAnswer", "actors/intake/answer-artifact"],
      held: ["over 32 KB it is an artifact, which its record names and holds", "library/answers.e2e"],
    },
    {
      says: "any envelope that holds what looks like one is told so",
      done: ["SPEC_RULES", "protocol/validate/spec-rules"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "in `meta`: a trace id",
      done: ["metaOf", "protocol/envelope-v1"],
      held: ["masks a trace id that is a secret", "protocol/envelope-v1.unit"],
    },
    {
      says: "and a request id, which is refused, since an answer repeats it",
      done: ["parseRequest", "daemon/request"],
      held: [
        "with an id that looks like a secret is refused, and the id is not repeated",
        "daemon/request.unit",
      ],
    },
    {
      says: "output limits: over 1024 KB is EOUTPUT_TOO_LARGE",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["is refused over 1024 KB of data", "protocol/artifactize.unit"],
    },
    {
      says: "the same, of an agent's final answer",
      done: ["keptAnswer", "actors/intake/answer-artifact"],
      held: [
        "over the capture limit the record says so, and the log still has it whole",
        "library/answers.e2e",
      ],
    },
    {
      says: "both limits may be set",
      done: ["outputLimits", "protocol/artifactize"],
      held: [
        "the limits are the document's, unless the environment says otherwise, and mistakes are told",
        "protocol/artifactize.unit",
      ],
    },
    {
      says: "workspace confinement, for skills",
      done: ["closed", "workspace/sandbox/closed"],
      held: ["gets nowhere by `..`, by links, or by links that it makes", "skills/escapes.e2e"],
    },
    {
      says: "network policies, for skills: none is the default",
      done: ["closed", "workspace/sandbox/closed"],
      held: [
        "reaches no network: no address of this machine, no metadata address, no name, no socket",
        "skills/escapes.e2e",
      ],
    },
    {
      says: "network policies, for skills: the hosts of the manifest",
      done: ["NetworkProxy", "skills/network/proxy"],
      held: [
        "reaches nothing else: no other host or port, no metadata address, no name that leads there",
        "skills/network.e2e",
      ],
    },
    {
      says: "WASI isolation: no network",
      done: ["SkillManifest", "skills/manifest"],
      held: ["may name no hosts, and runs a .wasm file", "skills/wasi.e2e"],
    },
  ],
  "Review rules": [
    {
      says: "`meta` is not changed without the document",
      done: ["metaOf", "protocol/envelope-v1"],
      open: "`meta.request_id` is ours: an optional field, as Versioning allows; it tells the answers on one connection apart",
    },
    {
      says: "help and `--schema` are envelopes too",
      open: "they are text and a bare schema, whatever the output mode",
    },
    {
      says: "stdout of a command has envelopes alone, and stderr what is said beside them",
      done: ["ndjsonRenderer", "cli/render/ndjson"],
      held: ["is one terminal envelope for a one-shot command", "cli/run.int"],
    },
    {
      says: "order is deterministic in golden outputs",
      done: ["canonicalJson", "protocol/canonical-json"],
      held: [
        "is the same text whatever the order of keys, and reads back as the same value",
        "protocol/canonical-json.unit",
      ],
    },
    {
      says: "where documents disagree, the stricter inline size",
      done: ["artifactizer", "protocol/artifactize"],
      held: ["is passed as it is, the same object, up to 32 KB of data", "protocol/artifactize.unit"],
    },
    {
      says: "`data.hint` tells the caller how to go on",
      done: ["errorEnvelope", "protocol/envelope-v1"],
      held: [
        "of a failure has the code of Protocol v1, the catalogue's own in details, and a hint",
        "protocol/envelope-v1.unit",
      ],
    },
  ],
  Validation: [
    {
      says: "every rule of the document, and what the originals accept; each finding with rule, place and remedy",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: [
        "tells of each finding its rule, its place and the remedy, with exit code 3",
        "cli/commands/validate.int",
      ],
    },
    {
      says: "strict: unknown members, but for our own `meta.request_id`, and trailing bytes",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: [
        "reads a file, and the first value of it alone unless it is strict",
        "cli/commands/validate.int",
      ],
    },
    {
      says: "what a command prints can be piped into it",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: ["checks the lines of a stream against each other", "cli/commands/validate.int"],
    },
    {
      says: "golden fixtures are in test/golden: valid envelopes, streams and AgentEvents, and invalid ones with the rules that they break",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: ["all that is called invalid is refused", "protocol/validate/own-golden.unit"],
    },
    {
      says: "what the originals write (test/golden/wire, and their own files where they are at hand): all of it passes at `wire`, and at `spec` breaks what the notes name",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: ["%s passes at wire, and at spec breaks %j", "protocol/validate/golden.unit"],
    },
    {
      says: "a job's progress file is taken at wire, and is no stream at spec",
      done: ["makeStreamValidator", "protocol/validate/stream"],
      held: ["%s is taken at wire, and at spec breaks %j", "protocol/validate/golden.unit"],
    },
  ],
  "Beyond the document": [
    {
      says: "notes 1.3: a digest is verified on each read",
      done: ["openArtifacts", "store/cas/store"],
      held: ["with %s is told and never given, and its file is kept", "store/cas/store.int"],
    },
    {
      says: "the validator and an oracle written from the text agree on any envelope",
      done: ["validateEnvelope", "protocol/validate/envelope"],
      held: ["on envelopes, at both levels, strict and not", "protocol/validate/fuzz.unit"],
    },
    {
      says: "and on any stream",
      done: ["makeStreamValidator", "protocol/validate/stream"],
      held: ["on streams", "protocol/validate/fuzz.unit"],
    },
    {
      says: "every rule is broken by some generated case",
      done: ["ENVELOPE_RULE_TABLE", "protocol/validate/envelope"],
      held: ["every rule is broken by at least one of these cases", "protocol/validate/fuzz.unit"],
    },
    {
      says: "the schemas that are published and the validator agree",
      done: ["EnvelopeV1", "protocol/envelope-schemas"],
      held: [
        "refuse no envelope that the validator takes at spec, and take none that it refuses but by what they cannot say",
        "protocol/validate/fuzz.unit",
      ],
    },
    {
      says: "what we print is judged by the same rules, in tests",
      done: ["checkedInTests", "cli/render/ndjson"],
      held: ["is judged only in test mode", "protocol/validate/envelope-check.unit"],
    },
    {
      says: "and so is what the daemon sends",
      done: ["checkedSocket", "daemon/socket-check"],
      held: [
        "may be of many requests at once on a connection, each numbered by itself",
        "protocol/validate/envelope-check.unit",
      ],
    },
  ],
};

export const PROTOCOL_V1: Contract = {
  title: "Protocol v1",
  intro: "Spoken on the socket and printed by `--output ndjson`.",
  sentences,
  deviations: [
    "**`meta.request_id`** is ours: it tells the answers of many requests on one connection apart. The document allows fields to be added.",
    "**Requests** are not in the document; ours have the members of an envelope that a caller knows (`version`, `command`, `data`, `meta`).",
    "**The inline limit is the reader's** ([0026](../decisions/0026-artifacts.md)): a client of the socket that says so takes more (`meta.inline_max_bytes`), as our own command does. A result that cannot be kept, on a full disk say, is sent whole, and `data.hint` says so: the one place where an envelope of ours breaks a rule of the document.",
    "**`summary.status_code`, `headers` and `pagination`** are for HTTP responses, which are those of `http/openapi`.",
    "**Profiles.** `meta.profiles` is computed from the handlers: core/v1, agent/v1 and plugin/v1. A command that is not built is answered `UNKNOWN_COMMAND`. Progress envelopes leave profiles out.",
    "**`meta.runner`, `workspace` and `skill_version`** are set for the answer of a skill alone. `source` is `run`, but for a manifest whose etag is told: it is `cache`, and `cache_key` is the etag.",
    "**Retries.** An error that we tell after several tries has `attempts` and `backoff`: the start of a daemon, the wait for the next one, the look at a run at boot, and the incarnations of a worker that somebody waits for; `retry_after` is told of a provider's limit whose reset is known.",
    "**Our own code** is in `error.details.code`: the catalogue of the document is coarser than what a caller can act on.",
    "**A record that cannot be kept** as an artifact, or is over the capture limit, is told by its summary and by the command that reads it from the log.",
    "**Open questions** of the document about validity are decided in [0024](../decisions/0024-two-levels-of-validity.md). The JSON Schemas are built with the package.",
    "**Workspace confinement and network policies** are written for skills. An agent CLI has all rights of its user unless its worker has a sandbox.",
  ],
};
