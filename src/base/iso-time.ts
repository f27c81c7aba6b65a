/** Instants as text. */

/** A power of two, so that neighbouring instants have places of their own. */
const KEPT = 16;
const keptMs = new Float64Array(KEPT).fill(Number.NaN);
const keptIso = new Array<string>(KEPT).fill("");
/** RFC 3339 in UTC with milliseconds. Records and answers of one moment share it, so the last ones are kept. */
export const isoTime = (epochMs: number): string => {
  const place = epochMs % KEPT;
  if (keptMs[place] !== epochMs) {
    keptIso[place] = new Date(epochMs).toISOString();
    keptMs[place] = epochMs;
  }
  return keptIso[place] as string;
};
