/** A connection that fails at its n-th call, as SQLite does: preparing, running, reading, beginning and committing all count. */
import SQLite, { type Database, type Statement } from "better-sqlite3";

export interface Faults {
  readonly database: (db: Database) => Database;
  /** Calls since the last `failAt`. */
  calls(): number;
  /** The n-th call from now on fails with this code, once. */
  failAt(n: number, code: string): void;
  /** Every call fails with this code until it is undefined again. */
  failAlways(code: string | undefined): void;
}

export const makeFaults = (): Faults => {
  let calls = 0;
  let at = 0;
  let code = "";
  let always: string | undefined;
  const pass = (): void => {
    calls++;
    if (always !== undefined) throw new SQLite.SqliteError("injected", always);
    if (calls === at) throw new SQLite.SqliteError("injected", code);
  };
  const counting =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      pass();
      return call(...args);
    };
  const statement = (made: Statement): Statement => {
    for (const method of ["run", "get", "all", "iterate"] as const)
      Object.assign(made, {
        [method]: counting((made[method] as (...args: unknown[]) => unknown).bind(made)),
      });
    return made;
  };
  return {
    calls: () => calls,
    failAt: (n, how) => {
      [calls, at, code] = [0, n, how];
    },
    failAlways: (how) => {
      always = how;
    },
    database: (db) => {
      const { prepare, exec, pragma, transaction } = db;
      return Object.assign(db, {
        prepare: counting((sql: string) => statement(prepare.call(db, sql))),
        exec: counting(exec.bind(db)),
        pragma: counting(pragma.bind(db)),
        /** The call at the end of the body is the commit: it rolls back, as a commit that fails does. */
        transaction: (body: (...args: unknown[]) => unknown) =>
          transaction.call(db, (...args: unknown[]) => {
            pass();
            const result = body(...args);
            pass();
            return result;
          }),
      });
    },
  };
};
