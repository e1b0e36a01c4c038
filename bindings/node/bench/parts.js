// Where the time of a record goes: what SQLite takes is measured around the statements, the rest is
// the component with the code that jco generated, and a little glue.
import { Statements } from '../dist/storage/statements.js';

const names = { 'BEGIN IMMEDIATE': 'begin', COMMIT: 'commit' };

/** Measures around every statement from now on; returns the sums in ns, which go on. */
export function measureStatements() {
  const spent = { begin: 0, statements: 0, commit: 0 };
  for (const method of ['run', 'insert', 'row', 'rows', 'control']) {
    const original = Statements.prototype[method];
    Statements.prototype[method] = function measured(name, values) {
      const start = process.hrtime.bigint();
      try {
        return original.call(this, name, values);
      } finally {
        spent[names[name] ?? 'statements'] += Number(process.hrtime.bigint() - start);
      }
    };
  }
  return spent;
}
