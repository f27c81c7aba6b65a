/** `federation.peers.HUB` of config.yaml has the keys of weblisk.txt, Data Boundary Contracts. */
import { expect, it } from "vitest";
import { parseConfiguration } from "../../src/daemon/configuration.ts";

it("the document's own example is read as it stands", () => {
  const { configuration, problems } = parseConfiguration(`federation:
  peers:
    partner.weblisk.dev:
      trust_tier: verified
      shared_capabilities:
        - content:translate
        - legal:review
      data_boundary:
        allow_fields: [title, description, url, language]
        deny_fields: [email, api_key, internal_id, password]
        max_payload_size: 64KB
        retention: none # Partner must not persist our data
      rate_limit: 100/hour
`);
  expect(problems).toEqual([]);
  expect(configuration.federation.peers).toEqual({
    "partner.weblisk.dev": {
      trust_tier: "verified",
      shared_capabilities: ["content:translate", "legal:review"],
      data_boundary: {
        allow_fields: ["title", "description", "url", "language"],
        deny_fields: ["email", "api_key", "internal_id", "password"],
        max_payload_size: 65_536,
        retention: "none",
      },
      rate_limit: 100,
    },
  });
});

const PEER = "federation.peers.b";
it.each([
  [
    "{ trust_tier: trusted }",
    `${PEER}.trust_tier: trusted is the grant of a person: write verified, and run agent peer trust once the hub is verified`,
  ],
  [
    "{ trust_tier: anonymous }",
    `${PEER}.trust_tier: it is known or verified: the highest tier that the hub gets by its behaviour`,
  ],
  ["{ rate_limit: 100/minute }", `${PEER}.rate_limit: it is N/hour, with N from 1 to 1000`],
  ["{ rate_limit: 1001/hour }", `${PEER}.rate_limit: it is N/hour, with N from 1 to 1000`],
  ["{ rate_limit: 100 }", `${PEER}.rate_limit: it is N/hour, with N from 1 to 1000`],
  ["{ shared_capabilities: [translate] }", `${PEER}.shared_capabilities.0: is written namespace:action`],
  [
    "{ data_boundary: { max_payload_size: 2MB } }",
    `${PEER}.data_boundary.max_payload_size: it is a size from 1 to 1048576 bytes, as 64KB`,
  ],
  ["{ data_boundary: { retention: 721h } }", `${PEER}.data_boundary.retention: is none, or 1h to 720h`],
  ["{ data_boundary: { retention: forever } }", `${PEER}.data_boundary.retention: is none, or 1h to 720h`],
  ["{ rate_limt: 1/hour }", `${PEER}: Unrecognized key: "rate_limt"; did you mean rate_limit?`],
  ["{ data_boundary: { deny: [] } }", `${PEER}.data_boundary: Unrecognized key: "deny"`],
])("%s is told in one sentence", (peer, problem) => {
  const { problems } = parseConfiguration(`federation: { peers: { b: ${peer} } }`);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});

it.each(["24h", "24 h", "none"])("retention %s", (retention) => {
  const { configuration } = parseConfiguration(
    `federation: { peers: { b: { data_boundary: { retention: ${retention} } } } }`,
  );
  expect(configuration.federation.peers.b?.data_boundary.retention).toBe(retention.replace(" ", ""));
});
