/** HTTP to a server of others: no redirect, because headers with a key would follow it, and a bound on bytes and on silence. */

/** The server sent more bytes than its bound. */
export class TooMuchError extends Error {}
/** The server sent nothing for too long. */
export class SilenceError extends Error {}

/** Silence is counted in parts, so that a pause of the whole process, however long, counts as one part. */
const PARTS = 10;

export interface WireBounds {
  /** The longest time without a byte, from the request on. */
  readonly silence_ms: number;
  /** Bytes of one answer. */
  readonly max_bytes: number;
}

export const boundedFetch =
  ({ silence_ms, max_bytes }: WireBounds): typeof fetch =>
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
      return new Response(response.body.pipeThrough(bounded(max_bytes, heard, end)), response);
    } catch (cause) {
      end();
      throw silence.signal.aborted ? silence.signal.reason : cause;
    }
  };

const bounded = (
  max_bytes: number,
  heard: () => void,
  end: () => void,
): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      heard();
      bytes += chunk.byteLength;
      if (bytes > max_bytes) {
        end();
        throw new TooMuchError(`over ${max_bytes} bytes`);
      }
      controller.enqueue(chunk);
    },
    flush: end,
  });
};
