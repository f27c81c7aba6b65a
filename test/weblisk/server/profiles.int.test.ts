/** A server that speaks one signing profile alone, or both: registrations, messages and results over HTTP. */
import { afterEach, expect, it } from "vitest";
import type { AcceptedProfile, AlgorithmName, SigningProfile } from "../../../src/protocol/words.ts";
import { verifierOf } from "../../../src/weblisk/identity/algorithms.ts";
import { profileOfSignature, type SignedOperation } from "../../../src/weblisk/signing/operations.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { RemoteAgent, send, type WireReply } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

let served: Served;
afterEach(() => served.close());

/** The profile of the member `signature` in an answer of the agent `echo`. */
const profileOf = async (
  algorithm: AlgorithmName,
  operation: SignedOperation,
  reply: WireReply,
): Promise<SigningProfile | undefined> => {
  const { body } = await send(served.base, "POST", "/agents/echo/v1/describe", {});
  const verifier = verifierOf({ algorithm, publicKey: String(body.public_key) })!;
  return profileOfSignature(verifier, operation, readBody(Buffer.from(reply.text)), reply.body.signature);
};

const RIGHTS = ["llm:chat", "agent:message"];
const registered = (agent: RemoteAgent): Promise<WireReply> =>
  agent.register(agent.registration(agent.onceOnly({ capabilities: RIGHTS.map((name) => ({ name })) })));

const ROWS = (["Ed25519", "ML-DSA-65"] as const).flatMap((algorithm) =>
  (["auto", "literal", "jcs"] as const).flatMap((signing) =>
    (["literal", "jcs"] as const).map((profile) => ({ algorithm, signing, profile })),
  ),
);

it.each(ROWS)(
  "$algorithm: a server of $signing and a sender of $profile",
  async ({ algorithm, signing, profile }) => {
    served = await makeServed(algorithm, undefined, signing);
    const agent = new RemoteAgent(served.base, "sender", { algorithm, profile, clock: served.seconds });
    if (signing !== "auto" && signing !== profile) {
      expect(await registered(agent)).toMatchObject({
        status: 401,
        body: { code: "INVALID_SIGNATURE", detail: { reason: "manifest_signature" } },
      });
      return;
    }
    expect((await registered(agent)).status).toBe(200);
    served.grant("sender", ...RIGHTS);
    expect((await registered(agent)).status).toBe(200);
    const result = await agent.execute("echo", { inputs: { prompt: "hello" } });
    expect(await profileOf(algorithm, "result", result)).toBe(profile);
    const message = await agent.send("POST", "/agents/echo/v1/message", agent.messageTo("echo"));
    expect(message).toMatchObject({ status: 200 });
    expect(await profileOf(algorithm, "message", message)).toBe(profile);
    const other: SigningProfile = profile === "jcs" ? "literal" : "jcs";
    const changed = new RemoteAgent(served.base, "sender", {
      algorithm,
      profile: other,
      clock: served.seconds,
    });
    Object.assign(changed, { key: agent.key, token: agent.token });
    const inOther = await changed.send("POST", "/agents/echo/v1/message", changed.messageTo("echo"));
    expect(inOther.status).toBe(signing === "auto" ? 200 : 401);
  },
);

it("a sender that registered in another profile before is answered in the one that is spoken now", async () => {
  served = await makeServed("Ed25519", undefined, "auto");
  const agent = new RemoteAgent(served.base, "sender", { profile: "jcs", clock: served.seconds });
  await registered(agent);
  served.grant("sender", ...RIGHTS);
  await registered(agent);
  served.stop();
  const { stateDir } = served;
  served = await makeServed("Ed25519", stateDir, "literal" satisfies AcceptedProfile);
  const later = new RemoteAgent(served.base, "sender", { profile: "jcs", clock: served.seconds });
  Object.assign(later, { key: agent.key, token: agent.token });
  const result = await later.execute("echo", { inputs: { prompt: "hello" } });
  expect(await profileOf("Ed25519", "result", result)).toBe("literal");
});
