/** Prometheus' own check of a page of metrics, where it is installed. */
import { spawnSync } from "node:child_process";

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  process.stderr.write(
    "SKIPPED: the check of /metrics by promtool. It is not installed (apt install prometheus)\n",
  );

/** The findings of `promtool check metrics`; empty if there are none. */
export const promtoolFindings = (page: string): string => {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    input: page,
    encoding: "utf8",
  });
  const told = `${stdout}${stderr}`.trim();
  return status === 0 ? told : told || `promtool ended with ${status}`;
};
