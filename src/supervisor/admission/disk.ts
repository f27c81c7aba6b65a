/** The floor of free disk space (processes.md, Bounds). Below it nothing starts, so that the log can still record how running workers end. */

/** After a low, more than the floor must be free again, because resumed workers use some. */
export const isBelowFloor = (free: number | undefined, floor: number, wasBelow: boolean): boolean =>
  free !== undefined && free < (wasBelow ? floor + floor / 4 : floor);

export interface DiskView {
  /** Free bytes on the disk of the state directory; null if unknown. */
  readonly free_bytes: number | null;
  readonly floor_bytes: number;
  /** Nothing starts until more space is free. */
  readonly low: boolean;
}

export interface Disk {
  /** Called on each tick. */
  look(): void;
  isLow(): boolean;
  view(): DiskView;
}

export const makeDisk = (
  freeBytes: () => number | undefined,
  floor_bytes: number,
  onChange: (view: DiskView) => void,
): Disk => {
  let free: number | undefined;
  let low = false;
  const view = (): DiskView => ({ free_bytes: free ?? null, floor_bytes, low });
  const look = (): void => {
    free = freeBytes();
    const isLow = isBelowFloor(free, floor_bytes, low);
    if (isLow === low) return;
    low = isLow;
    onChange(view());
  };
  look();
  return { look, isLow: () => low, view };
};

const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${Math.floor(bytes / MIB)} MB`;

export const diskSentence = ({ free_bytes, floor_bytes, low }: DiskView): string =>
  low
    ? `Only ${mib(free_bytes ?? 0)} are free on the disk of the state directory: nothing is started below ${mib(floor_bytes)}.`
    : `There is room on the disk of the state directory again: ${mib(free_bytes ?? 0)} are free.`;
