/** A server that starts again on its state directory: the ids of requests are known to it. */
import { expect, it } from "vitest";
import { newId, RemoteAgent } from "../support/agent.ts";
import { makeServed } from "../support/served.ts";

it("a channel has its grant again by the id of its request, and another request has 409", async () => {
  const before = await makeServed();
  const agent = new RemoteAgent(before.base, "repeats", { clock: before.seconds });
  const rights = ["llm:chat", "agent:message"];
  await agent.register();
  before.grant("repeats", ...rights);
  const capabilities = rights.map((name) => ({ name }));
  await agent.register(agent.registration(agent.onceOnly({ capabilities })));
  const channel = { from_agent: "repeats", to_agent: "echo", purpose: "talk" };
  const named = { "x-request-id": newId() };
  const first = await agent.send("POST", "/v1/channel", channel, named);
  expect(first.status).toBe(200);
  before.stop();

  const served = await makeServed("Ed25519", before.stateDir);
  try {
    const later = new RemoteAgent(served.base, "repeats");
    later.token = agent.token;
    expect((await later.send("POST", "/v1/channel", channel, named)).text).toBe(first.text);
    expect(await later.send("POST", "/v1/channel", { ...channel, purpose: "other" }, named)).toMatchObject({
      status: 409,
      body: { detail: { reason: "request_id_reused" } },
    });
    served.pass(301);
    expect((await later.send("POST", "/v1/channel", channel, named)).text).not.toBe(first.text);
  } finally {
    served.close();
  }
});
