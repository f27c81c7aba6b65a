/** Instants as text. */

let lastMs = Number.NaN;
let lastIso = "";
/** RFC 3339 in UTC with milliseconds; records and answers of one moment share it, so the last one is kept. */
export const isoTime = (epochMs: number): string => {
  if (epochMs !== lastMs) {
    lastIso = new Date(epochMs).toISOString();
    lastMs = epochMs;
  }
  return lastIso;
};
