/** Artifacts as text for people. */
import type { CollectReport } from "../../store/cas/collect.ts";
import type { ArtifactRow, StoredArtifact } from "../../store/cas/store.ts";
import { age } from "./pairs.ts";
import { table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { bytes, count } from "./units.ts";

/** Only the digest, for use in scripts. */
export const putText: TextOf<StoredArtifact> = ({ digest }) => digest;

/** The bytes are already printed. */
export const gotText: TextOf<{ readonly out?: string; readonly size_bytes: number }> = ({
  out,
  size_bytes,
}) => (out === undefined ? "" : `Wrote ${bytes(size_bytes)} to ${out}.`);

export const pinnedText: TextOf<{ readonly effect: string }> = ({ effect }, { paint }) =>
  paint("dim", effect === "noop" ? "It was pinned already." : "Pinned: it is never collected.");

export const unpinnedText: TextOf<{ readonly effect: string }> = ({ effect }, { paint }) =>
  paint("dim", effect === "noop" ? "It was not pinned." : "No longer pinned.");

export const artifactsText: TextOf<{ readonly artifacts: readonly ArtifactRow[] }> = (
  { artifacts },
  { paint, now, columns },
) => {
  if (artifacts.length === 0) return "";
  const head = ["DIGEST", "SIZE", "AGE", ""].map((cell) => paint("dim", cell));
  const rows = artifacts.map(({ digest, size_bytes, put_at, pinned }) => [
    digest,
    bytes(size_bytes),
    age(put_at, now),
    pinned ? "pinned" : "",
  ]);
  return table([head, ...rows], { fit: columns });
};

export const artifactsCollectedText: TextOf<CollectReport & { readonly effect: string }> = (report) => {
  const kept = [
    ...(report.pinned > 0 ? [`${count(report.pinned, "is", "are")} pinned`] : []),
    ...(report.referenced > 0 ? [`${count(report.referenced, "is", "are")} named by records`] : []),
  ];
  const stays = kept.length === 0 ? "" : ` Among artifacts of that age, ${kept.join(", and ")}.`;
  if (report.objects === 0) return `Nothing to remove.${stays}`;
  const what = `${count(report.objects, "artifact")} of ${bytes(report.bytes)}`;
  return `${report.effect === "would_delete" ? `Would remove ${what}.` : `Removed ${what}.`}${stays}`;
};
