/** The labels of a task's worker: by them the daemon's log is the table of tasks. */
export const TASK = "weblisk_task";
export const AGENT = "weblisk_agent";
export const DIGEST = "weblisk_request";
export const SENDER = "weblisk_from";
