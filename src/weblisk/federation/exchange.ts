/** Sends a request to another hub, and reads its answer within bounds. No redirect is followed: a peer's address is its operator's word. */
import type { JsonObject } from "../../base/json.ts";
import { FEDERATION_ANSWER_MAX_BYTES, FEDERATION_POST_MAX_MS } from "../../base/limits.ts";
import { readBody, type WireBody, wireJson } from "../wire/body.ts";

export interface HubReply {
  readonly status: number;
  readonly body: WireBody;
}

/** `silent`: nobody answers there. `slow`: no answer within FEDERATION_POST_MAX_MS. */
export type HubPost = (
  url: string,
  body: JsonObject,
  token?: string,
) => Promise<HubReply | "silent" | "slow">;

/** Throws a WebliskRefusal if the answer is no JSON that can be read in one way only, or is too large. */
export const postToHub: HubPost = async (url, body, token) => {
  let answer: RawReply;
  try {
    answer = await rawReply(url, body, token);
  } catch (cause) {
    return (cause as Error).name === "TimeoutError" ? "slow" : "silent";
  }
  return { status: answer.status, body: readBody(answer.bytes, FEDERATION_ANSWER_MAX_BYTES) };
};

interface RawReply {
  readonly status: number;
  readonly bytes: Buffer;
}

const rawReply = async (url: string, body: JsonObject, token: string | undefined): Promise<RawReply> => {
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: wireJson(body),
    signal: AbortSignal.timeout(FEDERATION_POST_MAX_MS),
  });
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    parts.push(part);
    // One byte too many is enough to refuse it.
    if (length > FEDERATION_ANSWER_MAX_BYTES) break;
  }
  return { status: response.status, bytes: Buffer.concat(parts) };
};
