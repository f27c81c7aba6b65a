/**
 * The records of a worker's stream that its start on another node is to know. Their index costs the database, for each record of a
 * placed worker, what its look costs; so a node says by a column which records are meant.
 */

const TYPES = "worker_spawn_requested|worker_restart_scheduled|session_started|session_abandoned";

/** The type stands near the beginning of a record: the longest ends before character 165, and a payload begins behind 200. */
const WITHIN_CHARS = 192;

const PATTERN = `"type":"(${TYPES})"`;
const BROUGHT = new RegExp(PATTERN);

export const isBrought = (text: string): boolean => BROUGHT.test(text.slice(0, WITHIN_CHARS));

const OF_ITS_RIGHT = "worker is not null and not is_late";
const IN_TEXT = `left(text, ${WITHIN_CHARS}) ~
  '${PATTERN}'`;

/** As migrations have it that are published. */
export const WAS_BROUGHT = `${OF_ITS_RIGHT} and ${IN_TEXT}`;

/** An index is used only where a statement has the very same words. The column is null where a node of before wrote the record. */
export const IS_BROUGHT = `${OF_ITS_RIGHT} and coalesce(is_brought, ${IN_TEXT})`;
