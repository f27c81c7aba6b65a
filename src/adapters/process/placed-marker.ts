/**
 * The second marker of a run that a cluster has placed, beside HOLDFAST_RUN. The guard of the node's lease finds by it the runs
 * that must end (docs/decisions/0074).
 */
export const PLACED_MARKER = "HOLDFAST_PLACED";

export interface PlacedRun {
  /** Neither the node nor the worker has a slash. */
  readonly node: string;
  readonly worker: string;
  readonly term: number;
  readonly on_partition: "stop" | "continue";
}

export const placedMarkerOf = ({ node, worker, term, on_partition }: PlacedRun): string =>
  `${node}/${worker}/${term}/${on_partition}`;

const FORM = /^([^/]+)\/([^/]+)\/(0|[1-9]\d{0,14})\/(stop|continue)$/;

/** Undefined for a text that `placedMarkerOf` cannot have made. */
export const parsePlacedMarker = (text: string): PlacedRun | undefined => {
  const [, node, worker, term, on_partition] = FORM.exec(text) ?? [];
  return node === undefined || worker === undefined
    ? undefined
    : { node, worker, term: Number(term), on_partition: on_partition === "stop" ? "stop" : "continue" };
};
