/** Figures for people. */

const trim = (value: number): string => value.toFixed(1).replace(/\.0$/, "");

/** `500ms`, `1.5s`, `45s`, `4m20s`, `10m`, `2h5m`, `3d4h`: at most two units, and exact below ten minutes. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10_000) return `${trim(ms / 1000)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10 && seconds % 60 !== 0) return `${minutes}m${seconds % 60}s`;
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
};

/** A ULID begins with its time; this many characters distinguish workers that people start. */
const ID_MIN_CHARS = 10;
const ID_CHARS = 26;
/** The fewest characters by which all these ids differ, so that the shown beginning can be typed. */
export const uniqueChars = (ids: readonly string[]): number => {
  const distinct = new Set(ids).size;
  for (let chars = ID_MIN_CHARS; chars < ID_CHARS; chars++)
    if (new Set(ids.map((id) => id.slice(0, chars))).size === distinct) return chars;
  return ID_CHARS;
};

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];
/** In powers of 1024: `12 bytes`, `1.5 MB`. */
export const bytes = (count: number): string => {
  let value = count;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return unit === 0 ? `${count} ${count === 1 ? "byte" : "bytes"}` : `${trim(value)} ${UNITS[unit]}`;
};

export const count = (value: number, one: string, many = `${one}s`): string =>
  `${String(value).replace(/\B(?=(\d{3})+$)/g, ",")} ${value === 1 ? one : many}`;

/** Local time of day, `12:00:00.123`, in the time zone of the terminal. */
export const clock = (rfc3339: string): string => {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return "--:--:--.---";
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
};
