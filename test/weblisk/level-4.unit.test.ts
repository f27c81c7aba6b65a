/**
 * The rows of a federation's conformance (L4), which the notes on the document add to its lists L1 to L3. Each names the test
 * that holds it: most of them need two hubs, or a hundred requests.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The row, the title of the test, and its file. */
const ROWS = [
  [
    "unknown members pass through as they came",
    "keeps each member as its sender wrote it, in both directions, so that the agent's signature holds",
    "weblisk/server/forwarding.int",
  ],
  [
    "a null is never sent",
    "is written without a null at any depth, and its values as canonical JSON",
    "weblisk/wire/body.unit",
  ],
  [
    "the tiers and the endpoints, as a matrix",
    "%s is for the tier %s and those above",
    "control/federation/registry.unit",
  ],
  [
    "a denied member is stripped at any depth",
    "a value under a denied name never crosses, at any depth",
    "weblisk/federation/boundary.unit",
  ],
  [
    "it is stripped both ways, and is in no file",
    "leaves denied fields behind at every depth, both ways, and in no file",
    "weblisk/federation/hubs.int",
  ],
  [
    "a payload of the agreed size passes, and one byte more does not",
    "measures what is left",
    "weblisk/federation/boundary.unit",
  ],
  [
    "request 101 of an hour is refused",
    "number 101 in an hour is refused, and one is taken when the hour of the first is over",
    "weblisk/federation/hubs.int",
  ],
  [
    "a token of a peer is good for 72 hours",
    "makes both hubs known to each other, each with the key of the other and a token of 72 hours",
    "weblisk/federation/hubs.int",
  ],
  [
    "a revocation ends what is at work, and voids the token, at once",
    "of a peer that is revoked in its middle has no answer, and its token is void at once",
    "weblisk/federation/hubs.int",
  ],
  [
    "trust is not handed on",
    "over random graphs a hub does the tasks of those that its operator has added, and of nobody else",
    "weblisk/federation/trust.int",
  ],
  [
    "trust is not handed on by real daemons",
    "trust is not handed on: not to a hub that the other one trusts, and not by an agent that works for a peer",
    "chaos/federation.chaos",
  ],
  ["300 seconds from now pass", "%i seconds from now passes", "weblisk/signing/replay.unit"],
  [
    "a handshake is refused that is not of now, or not signed",
    "is refused to a hub that its operator has not added, and from one with another key",
    "weblisk/federation/hubs.int",
  ],
  [
    "each step may be the last one of a hub",
    "the hub %s is killed at each of its steps",
    "weblisk/federation/killed.int",
  ],
  [
    "each step may be the last one of a real process",
    "each task has one worker and one answer, both trails are whole and agree, and no denied field crosses",
    "chaos/federation-steps.chaos",
  ],
  [
    "a fault or a flood in the gateway takes nothing from the agents here",
    "a gateway that hangs, or is flooded, takes nothing from the agents here",
    "cli/weblisk/gateway.e2e",
  ],
] as const;

it.each(ROWS)("L4 %s: %s (%s)", (_row, title, file) => {
  expect(readFileSync(join(root, `${file}.test.ts`), "utf8")).toContain(`"${title}"`);
});
