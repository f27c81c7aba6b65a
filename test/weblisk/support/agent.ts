/** An agent elsewhere on Weblisk's wire: it signs its manifest and sends requests, as the document tells. */
import { randomBytes } from "node:crypto";
import { canonicalJson } from "../../../src/protocol/canonical-json.ts";
import type { AlgorithmName, SigningProfile } from "../../../src/protocol/words.ts";
import {
  ALGORITHMS,
  type IdentityKey,
  newKey,
  publicTextOf,
  signText,
} from "../../../src/weblisk/identity/algorithms.ts";

export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export const newId = (): string => randomBytes(16).toString("hex");
export const seconds = (): number => Math.floor(Date.now() / 1_000);

export interface RemoteAgentOptions {
  readonly algorithm?: AlgorithmName;
  readonly profile?: SigningProfile;
  /** In epoch seconds; that of the machine where it is not said. */
  readonly clock?: () => number;
}

export class RemoteAgent {
  readonly name: string;
  key: IdentityKey;
  token = "";
  private readonly base: string;
  private readonly profile: SigningProfile;
  private readonly clock: () => number;

  constructor(
    base: string,
    name: string,
    { algorithm = "Ed25519", profile = "literal", clock = seconds }: RemoteAgentOptions = {},
  ) {
    this.base = base;
    this.name = name;
    this.key = newKey(ALGORITHMS[algorithm]);
    this.profile = profile;
    this.clock = clock;
  }

  manifest(more: object = {}): Record<string, unknown> {
    return {
      name: this.name,
      version: "1.0.0",
      description: "",
      url: "http://127.0.0.1:1",
      public_key: publicTextOf(this.key),
      capabilities: ["file:read", "file:write", "llm:chat"].map((name) => ({ name })),
      ...more,
    };
  }

  /** A manifest that registers once. */
  onceOnly(more: object = {}): Record<string, unknown> {
    return this.manifest({ nonce: newId(), signed_at: this.clock(), ...more });
  }

  registration(manifest = this.manifest(), timestamp = this.clock()): Record<string, unknown> {
    const text = this.profile === "jcs" ? canonicalJson(manifest) : JSON.stringify(manifest);
    return { manifest, signature: signText(this.key, text), timestamp };
  }

  async register(body: object = this.registration(this.onceOnly())): Promise<WireReply> {
    const reply = await send(this.base, "POST", "/v1/register", body);
    if (reply.status === 200) this.token = String(reply.body.token);
    return reply;
  }

  /** A message to another agent, signed in its profile. */
  messageTo(to: string, more: object = {}): Record<string, unknown> {
    const covered = { from: this.name, to, action: "get_capabilities", payload: {} };
    const text = this.profile === "jcs" ? canonicalJson(covered) : JSON.stringify(covered);
    return { id: newId(), type: "request", ...covered, signature: signText(this.key, text), ...more };
  }

  /** With its token. */
  send(
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<WireReply> {
    return send(this.base, method, path, body, { authorization: `Bearer ${this.token}`, ...headers });
  }

  execute(agent: string, task: object, headers?: Record<string, string>): Promise<WireReply> {
    return this.send(
      "POST",
      `/agents/${agent}/v1/execute`,
      { id: newId(), token: this.token, context: {}, ...task },
      headers,
    );
  }
}

export const send = async (
  base: string,
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<WireReply> => {
  const reply = await fetch(`${base}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text) };
};
