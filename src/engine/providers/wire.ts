/** The HTTP of a provider: no redirect, because headers with a key would follow it, and a bound on bytes and on silence. */
import { MODEL_WIRE_MAX_BYTES } from "../../base/limits.ts";

/** The provider sent more than MODEL_WIRE_MAX_BYTES. */
export class TooMuchError extends Error {}
/** The provider sent nothing for too long. */
export class SilenceError extends Error {}

/** Silence is counted in parts, so that a pause of the whole process, however long, counts as one part. */
const PARTS = 10;

/** `silence_ms`: the longest time without a byte, from the request on. */
export const boundedFetch =
  (silence_ms: number): typeof fetch =>
  async (input, init) => {
    const silence = new AbortController();
    let quiet = 0;
    const clock = setInterval(() => {
      quiet += 1;
      if (quiet > PARTS) silence.abort(new SilenceError(`nothing for ${silence_ms} ms`));
    }, silence_ms / PARTS);
    clock.unref();
    const end = (): void => clearInterval(clock);
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    signal.addEventListener("abort", end, { once: true });
    try {
      const response = await fetch(input, { ...init, redirect: "manual", signal });
      quiet = 0;
      if (response.body === null) {
        end();
        return response;
      }
      const heard = () => {
        quiet = 0;
      };
      return new Response(response.body.pipeThrough(bounded(heard, end)), response);
    } catch (cause) {
      end();
      throw silence.signal.aborted ? silence.signal.reason : cause;
    }
  };

const bounded = (heard: () => void, end: () => void): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      heard();
      bytes += chunk.byteLength;
      if (bytes > MODEL_WIRE_MAX_BYTES) {
        end();
        throw new TooMuchError(`over ${MODEL_WIRE_MAX_BYTES} bytes`);
      }
      controller.enqueue(chunk);
    },
    flush: end,
  });
};
