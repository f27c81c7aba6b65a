/** ndjson mode: Protocol v1, `progress` envelopes from seq 0, then exactly one terminal envelope (protocol-v1.txt, Streaming). */
import { PROFILES } from "../../commands/profiles.ts";
import { outputLimits } from "../../protocol/artifactize.ts";
import { envelopeStream } from "../../protocol/envelope-v1.ts";
import type { JobStep } from "../../protocol/jobs.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Renderer } from "./renderer.ts";
import { neutralise } from "./terminal.ts";

export const ndjsonRenderer = (command: string, request_id: string, started: number): Renderer => {
  const stream = envelopeStream({ command, profiles: PROFILES, request_id });
  const time = () => ({ now_ms: Date.now(), duration_ms: performance.now() - started });
  return {
    record: (record, json = JSON.stringify(record)) =>
      "artifact" in record ? stream.moved(record, time()) : stream.progress([json], time(), metaOf(record)),
    end: ({ outcome, meta }) => ({
      stdout: stream.end(
        outcome as Outcome<object>,
        time(),
        meta?.not_modified ? etagOf(outcome) : undefined,
      ),
      // The envelope has no field for warnings.
      stderr: (outcome.warnings ?? []).map((warning) => `warning: ${neutralise(warning)}\n`).join(""),
    }),
  };
};

/** For `meta`, of a step of a job. */
const metaOf = (record: object): { readonly job_id?: string; readonly final?: true } => {
  const { job_id, final } = record as Partial<JobStep>;
  return { ...(job_id !== undefined && { job_id }), ...(final && { final }) };
};

/** The etag that the caller sent, which matches the answer. */
const etagOf = ({ value }: Outcome<unknown>): string | undefined => {
  const { etag } = (value ?? {}) as { readonly etag?: string };
  return etag;
};

/** In test mode, throws if an envelope breaks the contract. */
export const checkedInTests = async (
  renderer: Renderer,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Renderer> => {
  if (env.HOLDFAST_VALIDATE !== "1") return renderer;
  const { makePrintedCheck } = await import("../../protocol/validate/validators.ts");
  const check = makePrintedCheck(outputLimits(env).inline_max_bytes);
  return {
    record(record, json) {
      const lines = renderer.record(record, json);
      check.take(lines);
      return lines;
    },
    end(ended) {
      const printed = renderer.end(ended);
      check.take(printed.stdout);
      check.end();
      return printed;
    },
  };
};
