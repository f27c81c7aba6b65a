/**
 * One side of `supervisor.ts` does in its process: N workers begin, then all crash and are begun again, round after
 * round. Prints one line of JSON: restarts a second, microseconds of processor a restart, and bytes a worker while all of them run and nothing happens.
 */
const [workers = 10_000, rounds = 10] = process.argv.slice(2).map(Number);
/** Rounds that only warm the code up. */
const WARM_ROUNDS = 3;

const heap = (): number => {
  const collect = (globalThis as { gc?: () => void }).gc;
  for (let n = 0; n < 3; n += 1) collect?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** `begin` begins N workers, resolves when all run, and gives the function that crashes all and resolves when all run again. */
export const measure = async (begin: (workers: number) => Promise<() => Promise<void>>): Promise<void> => {
  const before = heap();
  const round = await begin(workers);
  for (let n = 0; n < WARM_ROUNDS; n += 1) await round();
  const bytes = (heap() - before) / workers;
  const started = performance.now();
  const processor = process.cpuUsage();
  for (let n = 0; n < rounds; n += 1) await round();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(processor);
  process.stdout.write(
    `${JSON.stringify({
      restarts_per_s: (workers * rounds) / seconds,
      processor_us: (user + system) / (workers * rounds),
      bytes_per_worker: bytes,
    })}\n`,
  );
  process.exit(0);
};
