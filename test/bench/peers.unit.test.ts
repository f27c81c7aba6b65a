/** The table of `npm run bench -- peers`, and the figures that are kept; how fast anybody is is not asked here. */
import { expect, it } from "vitest";
import { noSamples } from "../../bench/peers/measures.ts";
import { PEERS, tableOf } from "../../bench/peers.ts";
import { recorded } from "../../bench/results.ts";

const of = (name: string) => PEERS.find((peer) => peer.name === name)!;

it("has a row for each peer that is not installed, with the command that installs it", () => {
  const { head, rows } = tableOf(
    new Map([of("bare Node loop"), of("Holdfast")].map((peer) => [peer, noSamples()])),
  );
  const absent = rows.filter(([, text]) => text?.startsWith("not installed"));
  expect(absent.map(([name, text]) => [name, text])).toEqual([
    ["pm2", "not installed: `npm ci --prefix bench/peers`"],
    ["supervisord", "not installed: `apt-get install supervisor`"],
    ["runit", "not installed: `apt-get install runit`"],
  ]);
  for (const row of rows) expect(row).toHaveLength(head.length);
});

it("holds Holdfast to pm2 where pm2 is here, and to fixed bounds everywhere", () => {
  const ours = { ...noSamples(), paced_ms: [10], spawned_per_s: [400], pss_mb: [91] };
  const verdicts = (theirs?: number) => {
    const samples = new Map([[of("Holdfast"), ours]]);
    if (theirs !== undefined) samples.set(of("pm2"), { ...noSamples(), paced_ms: [theirs] });
    const { rows } = tableOf(samples);
    return ["SIGKILL", "starts", "memory"].map((start) =>
      rows.find(([name]) => name?.startsWith(start))?.at(-1),
    );
  };
  expect(verdicts()).toEqual(["–", "ok", "MISSED"]);
  expect(verdicts(11)).toEqual(["ok", "ok", "MISSED"]);
  expect(verdicts(9)).toEqual(["MISSED", "ok", "MISSED"]);
});

it.each(Object.entries(recorded()))(
  "the figures of %s have a cell for each column",
  (_name, { head, rows }) => {
    for (const row of rows) expect(row).toHaveLength(head.length);
  },
);
