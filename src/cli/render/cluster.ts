/** Clusters as text for people. */
import type {
  ClusterChange,
  ClusterMade,
  ClusterNodeView,
  ClusterStatus,
  NodeChange,
  NodeDrained,
} from "../../protocol/replies/cluster.ts";
import { oneLine, type Paint, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { count, duration } from "./units.ts";

const daysText = (keep_days: number): string => (keep_days === 0 ? "all days" : count(keep_days, "day"));

const madeText: TextOf<ClusterMade> = ({ version, keep_days, dropped_days, effect }) => {
  const tables =
    effect === "noop"
      ? `the tables are of version ${version} already`
      : `the tables are ${effect === "created" ? "made" : "up to date"}, version ${version}`;
  const dropped = dropped_days === 0 ? "" : `; ${count(dropped_days, "older day")} dropped`;
  return `${tables}; the copy keeps ${daysText(keep_days)}${dropped}`;
};

const changeText: TextOf<ClusterChange> = ({ name, effect }, { paint }) => {
  const node = paint("bold", oneLine(name));
  return `${node}  ${effect === "noop" ? "is a node already" : "is a node from now on"}`;
};

const leftText: TextOf<NodeChange> = ({ name, effect }, { paint }) =>
  `${paint("bold", oneLine(name))}  ${effect === "noop" ? "had left the cluster" : "has left the cluster"}`;

const STRANDED = {
  nowhere: "no other node has its labels: it ends, and agent inbox asks where it should run",
  full: "the other nodes with its labels are full: it ends, and waits for room",
  once: "its restart policy is temporary: it ends, and is not started again",
  pinned: "it runs nowhere else: it goes on there",
} as const;

const drainText: TextOf<NodeDrained> = ({ name, moves, stranded, workers, effect }, { paint, flags }) => {
  const would = effect === "would_update" ? "would take" : "takes";
  const does =
    flags.undo === true ? `${would} workers` : `${would} no workers, and its own move to other nodes`;
  const first = `${paint("bold", oneLine(name))}  ${does}${effect === "noop" ? " already" : ""}`;
  if (stranded === 0) return first;
  const rest = stranded - workers.length;
  return [
    first,
    paint("bad", `${stranded} of its ${count(moves + stranded, "worker")} cannot move:`),
    ...workers.map((each) => `  ${oneLine(each.name)}: ${STRANDED[each.why]}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join("\n");
};

const selfText = (self: NonNullable<ClusterStatus["self"]>, paint: Paint): string => {
  const { copied_to, behind, failing, drop_failing } = self.copy;
  const lease = self.holds_lease ? "holds its lease" : paint("bad", "holds no lease");
  const copy =
    behind === null
      ? "its copy is not known yet"
      : `its copy is at ${copied_to}, ${count(behind, "record")} behind`;
  const troubles = [self.failing, failing, drop_failing].flatMap((one) =>
    one === null ? [] : [paint("bad", oneLine(one))],
  );
  return [`${paint("bold", oneLine(self.name))}  ${lease}, ${copy}`, ...troubles].join("\n");
};

const nodeRow = (node: ClusterNodeView, hasEndpoints: boolean, paint: Paint): readonly string[] => [
  paint("bold", oneLine(node.name)),
  node.state === "dead" ? paint("bad", node.state) : node.state,
  node.state === "left" ? "–" : duration(node.beat_age_ms),
  `${node.placed}/${node.capacity}`,
  node.copied_to === null ? "–" : String(node.copied_to),
  Object.entries(node.labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(" "),
  ...(hasEndpoints ? [oneLine(node.endpoint ?? "–")] : []),
];

/** Why no node runs a worker, after its name. */
export const WAITS_FOR_NODE = {
  continues: "its node is away, and it may run there still",
  pinned: "its node is away, and it runs nowhere else",
  nowhere: "no node has its labels",
  full: "the nodes with its labels are full",
  soon: "a node starts it soon",
} as const;

const statusText: TextOf<ClusterStatus> = (
  { self, nodes, unplaced, waiting, failed, keep_days },
  { paint, columns },
) => {
  if (self === null) return "";
  const own = selfText(self, paint);
  if (nodes === null) return own;
  const hasEndpoints = nodes.some(({ endpoint }) => endpoint !== null);
  const titles = [
    "NODE",
    "STATE",
    "BEAT",
    "PLACED",
    "COPIED",
    "LABELS",
    ...(hasEndpoints ? ["ENDPOINT"] : []),
  ];
  const head = titles.map((cell) => paint("dim", cell));
  const rows = nodes.map((node) => nodeRow(node, hasEndpoints, paint));
  const lost = unplaced ? [paint("bad", `${count(unplaced, "worker")} placed nowhere`)] : [];
  const why = (waiting ?? []).map(({ name, why: reason }) => `  ${oneLine(name)}: ${WAITS_FOR_NODE[reason]}`);
  const ended = (failed ?? []).map(
    ({ name, node, why: reason, ended_ms_ago }) =>
      `${paint("bad", oneLine(name))} ended on ${oneLine(node)} ${duration(ended_ms_ago)} ago: ${oneLine(reason)}`,
  );
  const kept = keep_days === null ? [] : [paint("dim", `The copy keeps ${daysText(keep_days)}.`)];
  return [own, "", table([head, ...rows], { fit: columns }), ...lost, ...why, ...ended, ...kept].join("\n");
};

/** By command. */
export const CLUSTER_TEXTS = {
  "cluster/init": madeText,
  "cluster/join": changeText,
  "cluster/leave": leftText,
  "agent/drain": drainText,
  "cluster/status": statusText,
};
