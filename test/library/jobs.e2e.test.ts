/** `runtime.jobs` and the same of `holdfast/effect`. */
import { expect, test } from "vitest";
import type { JobStep } from "../../src/protocol/jobs.ts";
import { openRuntime, stateDirectory } from "./support.ts";

const script = (text: string) => ({ kind: "command", argv: ["sh", "-c", text] }) as const;

test("a job is submitted, followed to its end, and has an answer", async () => {
  const { jobs } = await openRuntime(stateDirectory());
  const { job_id, effect } = await jobs.submit(script("echo hi"));
  expect(effect).toBe("created");
  const steps: JobStep[] = [];
  for await (const step of jobs.tail(job_id)) steps.push(step);
  expect(steps.map(({ stage }) => stage)).toEqual(["queued", "started", "text", "ok"]);
  expect(steps.at(-1)).toMatchObject({ job_id, final: true, pct: 100 });
  expect(await jobs.wait([job_id])).toMatchObject([{ job_id, state: "ok", exit_code: 0 }]);
  expect(await jobs.result(job_id)).toMatchObject({ job_id, text: "hi\n" });
  expect(await jobs.list({ states: ["ok"] })).toMatchObject({ jobs: [{ job_id }] });
});

test("a restart policy is none of a job", async () => {
  const { jobs } = await openRuntime(stateDirectory());
  const asked = { ...script("exit 1"), restart: "permanent", max_restarts: 9 } as never;
  const { job_id } = await jobs.submit(asked);
  expect(await jobs.wait([job_id])).toMatchObject([{ state: "error" }]);
});

test("a job that goes on is canceled; one step is enough for a reader that leaves", async () => {
  const { jobs } = await openRuntime(stateDirectory());
  const { job_id } = await jobs.submit(script("echo hi; sleep 1000"));
  for await (const { stage } of jobs.tail(job_id)) if (stage === "text") break;
  expect(await jobs.info(job_id)).toMatchObject({ state: "running" });
  expect(await jobs.cancel(job_id, { grace_ms: 0 })).toMatchObject({ effect: "deleted" });
  expect(await jobs.info(job_id)).toMatchObject({ state: "canceled" });
  await expect(jobs.wait([job_id, "NOBODY"])).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
});
