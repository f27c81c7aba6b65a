/** Jobs as a person and a program use them: submitted, followed, awaited and canceled, over the end of a daemon. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EnvelopeV1 } from "../../../src/protocol/envelope-schemas.ts";
import { isUlid } from "../../../src/protocol/forms.ts";
import type { JobStep } from "../../../src/protocol/jobs.ts";
import type { JobView } from "../../../src/protocol/replies/jobs.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const submitted = async (...argv: string[]): Promise<string> => {
  const { stdout } = await commands.text("jobs", "submit", ...argv);
  expect(isUlid(stdout.trim())).toBe(true);
  return stdout.trim();
};

it("its steps are progress envelopes, the last one final, and then comes the job", async () => {
  const job = await submitted("--name", "talks", "--", "sh", "-c", "echo one; echo two");
  const { stdout, exit } = await commands.start(["jobs", "tail", job, "-o", "ndjson"]).ended;
  expect(exit).toBe(0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as EnvelopeV1 & { data: JobStep });
  const end = lines.pop()!;
  const steps = lines.map(({ data }) => [data.stage, data.message, data.pct]);
  expect(steps[0]).toEqual(["queued", "accepted", undefined]);
  expect(steps.filter(([stage]) => stage === "text")).toEqual([
    ["text", "one", undefined],
    ["text", "two", undefined],
  ]);
  expect(steps.at(-1)).toEqual(["ok", "completed", 100]);
  expect(lines.map(({ meta }) => (meta as { final?: true }).final)).toEqual([
    ...lines.slice(1).map(() => undefined),
    true,
  ]);
  expect(lines.map(({ meta }) => meta)).toEqual(
    lines.map((_, seq) => expect.objectContaining({ seq, job_id: job })),
  );
  expect(end).toMatchObject({ status: "ok", data: { job_id: job, state: "ok" }, meta: { job_id: job } });
});

it("a step that was seen is not told again", async () => {
  const job = await submitted("--", "true");
  await commands.agent("jobs", "wait", job);
  const all = (await commands.start(["jobs", "tail", job, "-o", "json"]).ended).stdout.trimEnd().split("\n");
  const second = JSON.parse(all[1]!) as JobStep;
  const rest = (await commands.agent("jobs", "tail", job, "--from", String(second.seq))).stdout
    .trimEnd()
    .split("\n");
  expect(rest.slice(0, -1)).toEqual(all.slice(2, -1));
});

it("its answer, its state and its exit code are those of its worker", async () => {
  const job = await submitted("--", "sh", "-c", "echo why; exit 3");
  const waited = await commands.agent("jobs", "wait", job);
  expect(waited.exit).toBe(2);
  expect(waited.error?.code).toBe("AGENT_FAILED");
  expect((await commands.agent("jobs", "info", job)).data).toMatchObject({
    job_id: job,
    state: "error",
    exit_code: 3,
  });
  expect((await commands.text("jobs", "result", job)).stdout).toBe("why\n");
});

it("a job that is canceled is over, and is not started again", async () => {
  const job = await submitted("--", "sleep", "1000");
  const { data } = await commands.agent("jobs", "cancel", job, "--reason", "not needed", "--grace", "0s");
  expect(data.results).toMatchObject([{ id: job, ok: true, effect: "deleted" }]);
  expect((await commands.agent("jobs", "wait", job)).error?.code).toBe("WORKER_CANCELLED");
  const { stdout } = await commands.start(["jobs", "tail", job, "-o", "text"]).ended;
  expect(stdout).toContain("not needed");
  expect(stdout.trimEnd().split("\n").at(-1)).toContain("canceled");
  expect((await commands.agent("jobs", "cancel", job)).data.results).toMatchObject([{ effect: "noop" }]);
});

it("the same key submits one job", async () => {
  const asked = ["jobs", "submit", "--idempotency-key", "once", "--", "true"];
  const first = await commands.agent(...asked);
  const second = await commands.agent(...asked);
  expect(first.data.effect).toBe("created");
  expect(second.data).toMatchObject({ effect: "noop", job_id: first.data.job_id });
});

it("a list has jobs alone, in their order, by state and by page", async () => {
  await commands.agent("spawn", "--name", "server", "--restart", "permanent", "--", "sleep", "1000");
  const job = await submitted("--", "sleep", "1000");
  const listed = async (...argv: string[]) =>
    (await commands.agent("jobs", "list", ...argv)).data as unknown as JobView[];
  const all = await listed();
  expect(all.map(({ job_id }) => job_id)).toEqual(all.map(({ job_id }) => job_id).sort());
  expect(all.map(({ name }) => name)).not.toContain("server");
  expect((await listed("--state", "queued,running")).map(({ job_id }) => job_id)).toEqual([job]);
  const page = await commands.agent("jobs", "list", "--limit", "2");
  expect(page.meta).toMatchObject({ truncated: true, cursor: all[1]!.job_id });
  const next = await listed("--limit", "2", "--cursor", all[1]!.job_id);
  expect(next.map(({ job_id }) => job_id)).toEqual(all.slice(2, 4).map(({ job_id }) => job_id));
  await commands.agent("jobs", "cancel", job, "--grace", "0s");
});

it("a tail goes on over the end of its daemon", async () => {
  const job = await submitted("--", "sh", "-c", "echo begun; read -r line </dev/null; sleep 2; echo done");
  const tail = commands.start(["jobs", "tail", job, "-o", "text"]);
  await until(() => tail.out().includes("begun"));
  await commands.killDaemon();
  await commands.agent("daemon", "start");
  const { stdout, exit } = await tail.ended;
  expect(exit).toBe(0);
  expect(stdout.match(/begun/g)).toHaveLength(1);
  expect(stdout.trimEnd().split("\n").at(-1)).toContain("ok");
});

it("a cursor that no page has given is refused, and a wait that is too short says so", async () => {
  const page = await commands.agent("jobs", "list", "--cursor", "nonsense");
  expect(page.error?.message).toContain("it is no cursor of agent jobs list");
  const job = await submitted("--", "sleep", "1000");
  const waited = await commands.agent("jobs", "wait", job, "--timeout", "1ms");
  expect(waited.error).toMatchObject({
    code: "TIMEOUT",
    message: `${job} has not ended within 1ms, and goes on.`,
  });
  await commands.agent("jobs", "cancel", job, "--grace", "0s");
});

it.each([
  [["submit"], "agent jobs submit needs a KIND (claude, codex, gemini …), or a program after --."],
  [["submit", "--restart", "permanent", "--", "true"], "agent jobs submit has no flag --restart."],
  [["list", "--state", "done"], '--state knows no "done": it is queued, running, ok, error, canceled.'],
])("%j is refused with one sentence", async (argv, sentence) => {
  const refused = await commands.agent("jobs", ...argv);
  expect(refused.exit).toBe(3);
  expect(refused.error?.message).toBe(sentence);
});
