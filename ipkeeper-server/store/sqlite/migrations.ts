/**
 * Numbered steps of the database layout; PRAGMA user_version says how many were applied. A step is never edited once
 * released: a change of layout is a new step.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE record (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     generation INTEGER NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID`,
]
