/** Figures as people read them. */

const trim = (value: number): string => value.toFixed(1).replace(/\.0$/, "");

/** `500ms`, `1.5s`, `10m`, `2h5m`, `3d4h`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10_000) return `${trim(ms / 1000)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60 || (seconds < 300 && seconds % 60 !== 0)) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
};

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];
/** Powers of 1024: `12 bytes`, `1.5 MB`. */
export const bytes = (count: number): string => {
  let value = count;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return unit === 0 ? `${count} ${count === 1 ? "byte" : "bytes"}` : `${trim(value)} ${UNITS[unit]}`;
};

export const count = (value: number, one: string, many = `${one}s`): string =>
  `${String(value).replace(/\B(?=(\d{3})+$)/g, ",")} ${value === 1 ? one : many}`;

/** Local time of day, `12:00:00.123`: what `date` on the same terminal would say. */
export const clock = (rfc3339: string): string => {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return "--:--:--.---";
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
};

const SAFE_WORD = /^[A-Za-z0-9_./:=@%+,-]+$/;
/** An argument as a POSIX shell would need it. */
const shellWord = (word: string): string =>
  SAFE_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
export const commandLine = (argv: readonly string[]): string => argv.map(shellWord).join(" ");
